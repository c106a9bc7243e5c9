import { type FieldPlace, FrameTemplate, put16 } from '../../net/packet/frame/frame-template.ts';
import type { Layer } from '../../net/packet/frame/layer.ts';
import { signatureBytes } from '../../net/packet/frame/signature.ts';
import type { FramePlaces } from '../../net/packet/outlet.ts';
import type { WallClock } from '../../net/packet/wall-clock.ts';
import type { Chooser } from '../../net/rotation.ts';
import type { ChangingField } from './fields.ts';
import type { SizePlan } from './sizes.ts';

export interface ComposerParts {
  readonly places: FramePlaces;
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
  readonly #templates: FrameTemplate[] = [];
  /** Which template each place of the batch holds already. */
  readonly #held: Int32Array;
  readonly #sequences: Uint32Array;
  readonly #targetOfStream: Uint16Array;
  readonly #changed = { ip: 0, transport: 0 };
  #stream = 0;
  #signed = 0;

  constructor(parts: ComposerParts) {
    this.#parts = parts;
    this.#held = new Int32Array(parts.places.count).fill(none);
    this.#sequences = new Uint32Array(parts.streams);
    this.#targetOfStream = Uint16Array.from({ length: parts.streams }, (_, stream) => parts.targetOf(stream));
  }

  /** Writes the next frame; says which target it goes to. */
  compose(place: number, clock: WallClock): number {
    const { places, fields, streams, sizes, hasWrongChecksums } = this.#parts;
    const stream = this.#stream;
    this.#stream = stream + 1 === streams ? 0 : stream + 1;
    const target = this.#targetOfStream[stream] as number;
    const key = target * sizes.sizes.length + sizes.next();
    const template = this.#templates[key] ?? this.#make(key);
    const start = places.offsetOf(place);
    if (this.#held[place] !== key) {
      places.bytes.set(template.bytes, start);
      places.setLength(place, template.bytes.length);
      this.#held[place] = key;
    }
    this.#changed.ip = 0;
    this.#changed.transport = 0;
    for (let index = 0; index < fields.length; index++) {
      const spot = template.fields[index] as FieldPlace;
      this.#put(spot, start, (fields[index] as ChangingField).next(stream));
    }
    this.#sign(start + template.bytes.length - signatureBytes, stream, clock);
    // In a frame of odd length each byte of the signature lies in the other half of a word.
    this.#changed.transport += template.bytes.length % 2 === 0 ? this.#signed : swapped(this.#signed);
    template.finish(places.bytes, start, this.#changed);
    if (hasWrongChecksums) template.spoil(places.bytes, start);
    return target;
  }

  lengthAt(place: number): number {
    return (this.#templates[this.#held[place] as number] as FrameTemplate).bytes.length;
  }

  #put(spot: FieldPlace, start: number, value: number): void {
    const { bytes } = this.#parts.places;
    const whole = value | 0;
    const high = whole >>> 16;
    const low = whole & 0xffff;
    let at = start + spot.at;
    let sum = low;
    if (spot.words === 2) {
      put16(bytes, at, high);
      at += 2;
      sum += high;
    }
    put16(bytes, at, low);
    if (spot.isInIpSum) this.#changed.ip += sum;
    if (spot.isInTransportSum) this.#changed.transport += sum;
  }

  /** Writes what changes in a signature and keeps the sum of it. */
  #sign(at: number, stream: number, clock: WallClock): void {
    const { bytes } = this.#parts.places;
    const sequence = this.#sequences[stream] as number;
    this.#sequences[stream] = sequence + 1;
    const seconds = clock.seconds & 0xffff;
    const fine = clock.nanoseconds | 0;
    bytes[at + 5] = stream >>> 16;
    put16(bytes, at + 6, stream & 0xffff);
    put16(bytes, at + 8, sequence >>> 16);
    put16(bytes, at + 10, sequence & 0xffff);
    put16(bytes, at + 12, seconds);
    put16(bytes, at + 14, fine >>> 16);
    put16(bytes, at + 16, fine & 0xffff);
    const high = (stream >>> 16) + (sequence >>> 16) + (fine >>> 16);
    this.#signed = high + (stream & 0xffff) + (sequence & 0xffff) + (fine & 0xffff) + seconds;
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
