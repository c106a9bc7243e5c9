import { FrameTemplate, put16 } from '../../net/packet/frame/frame-template.ts';
import type { Layer } from '../../net/packet/frame/layer.ts';
import { signatureBytes } from '../../net/packet/frame/signature.ts';
import type { FrameBatch } from '../../net/packet/frame-batch.ts';
import type { WallClock } from '../../net/packet/wall-clock.ts';
import type { Chooser } from '../../net/rotation.ts';
import type { ChangingField } from './fields.ts';
import type { SizePlan } from './sizes.ts';

export interface ComposerParts {
  readonly batch: FrameBatch;
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
  #index = 0;

  constructor(parts: ComposerParts) {
    this.#parts = parts;
    this.#held = new Int32Array(parts.batch.count).fill(none);
    this.#sequences = new Uint32Array(parts.streams);
    this.#targetOfStream = Uint16Array.from({ length: parts.streams }, (_, stream) => parts.targetOf(stream));
  }

  /** Writes the next frame; says which target it goes to. */
  compose(place: number, clock: WallClock): number {
    const { batch, fields, streams, sizes, hasWrongChecksums } = this.#parts;
    const stream = this.#index % streams;
    const target = this.#targetOfStream[stream] as number;
    const key = target * sizes.sizes.length + sizes.next(0).place;
    const template = this.#templates[key] ?? this.#make(key);
    const start = batch.offsetOf(place);
    if (this.#held[place] !== key) {
      batch.bytes.set(template.bytes, start);
      batch.setLength(place, template.bytes.length);
      this.#held[place] = key;
    }
    this.#changed.ip = 0;
    this.#changed.transport = 0;
    for (let index = 0; index < fields.length; index++) {
      const value = (fields[index] as ChangingField).valueOf(stream, this.#index);
      this.#put(template, { field: index, start, value });
    }
    this.#sign(start, { length: template.bytes.length, stream, clock });
    template.finish(batch.bytes, start, this.#changed);
    if (hasWrongChecksums) template.spoil(batch.bytes, start);
    this.#index++;
    return target;
  }

  lengthAt(place: number): number {
    return (this.#templates[this.#held[place] as number] as FrameTemplate).bytes.length;
  }

  #put(template: FrameTemplate, { field, start, value }: { field: number; start: number; value: number }): void {
    const { bytes } = this.#parts.batch;
    const spot = template.fields[field] as FrameTemplate['fields'][number];
    const [high, low] = [(value / 65_536) & 0xffff, value & 0xffff];
    if (spot.words === 2) put16(bytes, start + spot.at, high);
    put16(bytes, start + spot.at + spot.words * 2 - 2, low);
    const sum = spot.words === 2 ? high + low : low;
    if (spot.isInIpSum) this.#changed.ip += sum;
    if (spot.isInTransportSum) this.#changed.transport += sum;
  }

  #sign(start: number, { length, stream, clock }: { length: number; stream: number; clock: WallClock }): void {
    const { bytes } = this.#parts.batch;
    const at = start + length - signatureBytes;
    const sequence = this.#sequences[stream] as number;
    this.#sequences[stream] = sequence + 1;
    const seconds = clock.seconds & 0xffff;
    const [fineHigh, fineLow] = [(clock.nanoseconds / 65_536) & 0xffff, clock.nanoseconds & 0xffff];
    bytes[at + 5] = stream >>> 16;
    put16(bytes, at + 6, stream & 0xffff);
    put16(bytes, at + 8, sequence >>> 16);
    put16(bytes, at + 10, sequence & 0xffff);
    put16(bytes, at + 12, seconds);
    put16(bytes, at + 14, fineHigh);
    put16(bytes, at + 16, fineLow);
    const words = (stream & 0xffff) + (sequence >>> 16) + (sequence & 0xffff) + seconds + fineHigh + fineLow;
    const sum = (stream >>> 16) + words;
    // In a frame of odd length each byte lies in the other half of a word.
    this.#changed.transport += length % 2 === 0 ? sum : swapped(sum);
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
