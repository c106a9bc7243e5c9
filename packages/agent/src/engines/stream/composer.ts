import { type FieldPlace, FrameTemplate, swap16 } from '../../net/packet/frame/frame-template.ts';
import type { Layer } from '../../net/packet/frame/layer.ts';
import { signatureBytes } from '../../net/packet/frame/signature.ts';
import type { ClockedPlaces, FramePlaces } from '../../net/packet/outlet.ts';
import type { WallClock } from '../../net/packet/wall-clock.ts';
import type { Chooser } from '../../net/rotation.ts';
import type { ChangingField } from './fields.ts';
import type { SizePlan } from './sizes.ts';

export interface ComposerParts {
  readonly places: FramePlaces;
  /** The same places, where they write the time of leaving into signatures themselves. */
  readonly clocked?: ClockedPlaces | undefined;
  /** Of each target, from the outermost header on. */
  readonly targets: readonly (readonly Layer[])[];
  /** Which target a stream goes to. */
  readonly targetOf: Chooser<number>;
  readonly fields: readonly ChangingField[];
  readonly sizes: SizePlan;
  readonly streams: number;
  readonly fill: Uint8Array;
  readonly sender: number;
  readonly hasWrongChecksums: boolean;
}

const none = -1;
const swapped = (sum: number): number => {
  const folded = (sum % 65_536) + Math.floor(sum / 65_536);
  return (folded % 256) * 256 + Math.floor(folded / 256);
};

/** Writes frame after frame of all streams in turn into the places of a batch. */
export class Composer {
  readonly #parts: ComposerParts;
  readonly #fields: readonly ChangingField[];
  readonly #halves: Uint16Array;
  readonly #templates: FrameTemplate[] = [];
  /** Which template each place of the batch holds already. */
  readonly #held: Int32Array;
  readonly #sequences: Uint32Array;
  readonly #targetOfStream: Uint16Array;
  readonly #changed = { ip: 0, transport: 0 };
  #stream = 0;

  constructor(parts: ComposerParts) {
    const { places, streams, targetOf } = parts;
    this.#parts = parts;
    this.#fields = parts.fields;
    this.#halves = new Uint16Array(places.bytes.buffer, places.bytes.byteOffset, places.bytes.length >> 1);
    this.#held = new Int32Array(places.count).fill(none);
    this.#sequences = new Uint32Array(streams);
    this.#targetOfStream = Uint16Array.from({ length: streams }, (_, stream) => targetOf(stream));
  }

  /** Writes the next frame; says which target it goes to. Places begin at even addresses. */
  compose(place: number, clock: WallClock): number {
    const { places, streams, sizes, hasWrongChecksums } = this.#parts;
    const stream = this.#stream;
    this.#stream = stream + 1 === streams ? 0 : stream + 1;
    const target = this.#targetOfStream[stream] as number;
    const key = target * sizes.sizes.length + sizes.next();
    const template = this.#templates[key] ?? this.#make(key);
    const start = places.offsetOf(place);
    if (this.#held[place] !== key) this.#hold(place, key, template);
    this.#change(template, start, stream);
    this.#changed.transport += this.#sign(start, template.bytes.length, stream, clock);
    template.finish(this.#halves, start, this.#changed);
    if (hasWrongChecksums) template.spoil(places.bytes, start);
    return target;
  }

  lengthAt(place: number): number {
    return (this.#templates[this.#held[place] as number] as FrameTemplate).bytes.length;
  }

  #hold(place: number, key: number, template: FrameTemplate): void {
    const { places, clocked } = this.#parts;
    places.bytes.set(template.bytes, places.offsetOf(place));
    places.setLength(place, template.bytes.length);
    clocked?.setStamp(place, template.covering);
    this.#held[place] = key;
  }

  /** Writes all fields that change, and sums them up. */
  #change({ fields: spots }: FrameTemplate, start: number, stream: number): void {
    const halves = this.#halves;
    const fields = this.#fields;
    let ip = 0;
    let transport = 0;
    for (let index = 0; index < fields.length; index++) {
      const spot = spots[index] as FieldPlace;
      const whole = (fields[index] as ChangingField).next(stream) | 0;
      const low = whole & 0xffff;
      let at = (start + spot.at) >> 1;
      let sum = low;
      if (spot.words === 2) {
        const high = whole >>> 16;
        halves[at++] = swap16(high);
        sum += high;
      }
      halves[at] = swap16(low);
      if (spot.isInIpSum) ip += sum;
      if (spot.isInTransportSum) transport += sum;
    }
    this.#changed.ip = ip;
    this.#changed.transport = transport;
  }

  /** Writes what changes in a signature; says the sum of it. */
  #sign(start: number, length: number, stream: number, clock: WallClock): number {
    const sequence = this.#sequences[stream] as number;
    this.#sequences[stream] = sequence + 1;
    const isStamped = this.#parts.clocked !== undefined;
    const seconds = isStamped ? 0 : clock.seconds & 0xffff;
    const fine = isStamped ? 0 : clock.nanoseconds | 0;
    const high = (stream >>> 16) + (sequence >>> 16) + (fine >>> 16);
    const sum = high + (stream & 0xffff) + (sequence & 0xffff) + (fine & 0xffff) + seconds;
    const at = start + length - signatureBytes;
    const { bytes } = this.#parts.places;
    bytes[at + 5] = stream >>> 16;
    if (length % 2 !== 0) {
      bytes.writeUInt16BE(stream & 0xffff, at + 6);
      bytes.writeUInt32BE(sequence, at + 8);
      bytes.writeUInt16BE(seconds, at + 12);
      bytes.writeUInt32BE(fine, at + 14);
      // Here each byte of the signature lies in the other half of a word.
      return swapped(sum);
    }
    const halves = this.#halves;
    const half = at >> 1;
    halves[half + 3] = swap16(stream & 0xffff);
    halves[half + 4] = swap16(sequence >>> 16);
    halves[half + 5] = swap16(sequence & 0xffff);
    if (isStamped) return sum;
    halves[half + 6] = swap16(seconds);
    halves[half + 7] = swap16(fine >>> 16);
    halves[half + 8] = swap16(fine & 0xffff);
    return sum;
  }

  #make(key: number): FrameTemplate {
    const { targets, sizes, fields, fill, sender } = this.#parts;
    const template = new FrameTemplate({
      layers: targets[Math.floor(key / sizes.sizes.length)] as readonly Layer[],
      bytes: sizes.sizes[key % sizes.sizes.length] as number,
      fill,
      sender,
      fieldsOf: (placed) =>
        fields.map((field) => {
          const found = field.placeIn(placed);
          if (found === undefined) throw new RangeError('a field that is to change is in none of the headers');
          return found;
        }),
    });
    this.#templates[key] = template;
    return template;
  }
}
