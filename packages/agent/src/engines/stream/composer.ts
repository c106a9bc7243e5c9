import { checksumOf } from '@rushhour/pcap/checksum';
import type { Chooser } from '../../net/load/rotation.ts';
import { FrameTemplate, type HeaderField, swap16 } from '../../net/packet/frame/frame-template.ts';
import type { Layer } from '../../net/packet/frame/layer.ts';
import { signatureBytes } from '../../net/packet/frame/signature.ts';
import type { FrameSlots, TimedFrameSlots } from '../../net/packet/tx-path.ts';
import type { WallClock } from '../../net/packet/wall-clock.ts';
import type { ChangingField, FrameRow } from './changing-field.ts';
import type { SizePlan } from './sizes.ts';

export interface ComposerParts {
  /** Slots start at even addresses. */
  readonly slots: FrameSlots;
  /** The same slots, when the TX path writes timestamps into signatures itself. */
  readonly clocked?: TimedFrameSlots | undefined;
  /** Headers of each target, outermost first. All have the same structure, so fields have the same offsets. */
  readonly targets: readonly (readonly Layer[])[];
  /** Target of a stream. */
  readonly targetOf: Chooser<number>;
  readonly fields: readonly ChangingField[];
  readonly sizes: SizePlan;
  readonly streams: number;
  readonly fill: Uint8Array;
  readonly sender: number;
  readonly hasWrongChecksums: boolean;
}

const none = -1;
// Small enough for a batch to stay in the L1 cache during all passes.
const maxBatch = 128;
const swapped = (sum: number): number => {
  const folded = (sum & 0xffff) + (sum >>> 16);
  return swap16((folded & 0xffff) + (folded >>> 16));
};

/**
 * Writes frames of all streams in rotation into slots. Works in passes over a batch instead of frame by frame, so that
 * each pass is a tight loop.
 */
export class Composer {
  readonly #parts: ComposerParts;
  readonly #templates: FrameTemplate[] = [];
  /** Template and frame length currently in each slot. */
  readonly #held: Int32Array;
  readonly #lengths: Int32Array;
  readonly #sequences: Uint32Array;
  readonly #targetOfStream: Uint16Array;
  readonly #row: FrameRow;
  #stream = 0;

  constructor(parts: ComposerParts) {
    const { slots, streams, targetOf } = parts;
    this.#parts = parts;
    this.#row = {
      halves: new Uint16Array(slots.bytes.buffer, slots.bytes.byteOffset, slots.bytes.length >> 1),
      starts: Int32Array.from({ length: slots.count }, (_, slot) => slots.offsetOf(slot) >> 1),
      first: 0,
      count: 0,
      streams: new Int32Array(maxBatch),
      ipSums: new Int32Array(maxBatch),
      transportSums: new Int32Array(maxBatch),
    };
    this.#held = new Int32Array(slots.count).fill(none);
    this.#lengths = new Int32Array(slots.count);
    this.#sequences = new Uint32Array(streams);
    this.#targetOfStream = Uint16Array.from({ length: streams }, (_, stream) => targetOf(stream));
  }

  /** Writes the next frames into the slots from `first` up to `end`. */
  compose(first: number, end: number, clock: WallClock): void {
    for (let at = first; at < end; at += maxBatch) {
      const count = Math.min(maxBatch, end - at);
      this.#choose(at, count);
      this.#change(at, count);
      this.#sign(at, count, clock);
      this.#finish(at, count);
    }
  }

  lengthAt(slot: number): number {
    return this.#lengths[slot] as number;
  }

  /** Target of the frame in a slot. */
  targetAt(slot: number): number {
    return Math.floor((this.#held[slot] as number) / this.#parts.sizes.sizes.length);
  }

  /** Chooses stream, target and size of each frame. */
  #choose(first: number, count: number): void {
    const { sizes, streams: end } = this.#parts;
    const { length } = sizes.sizes;
    if (end === 1 && length === 1) {
      // Nothing to choose: there is one stream and one template, both with index 0.
      for (let slot = first; slot < first + count; slot++) if (this.#held[slot] !== 0) this.#hold(slot, 0);
      return;
    }
    const { streams } = this.#row;
    const targets = this.#targetOfStream;
    const held = this.#held;
    let stream = this.#stream;
    for (let index = 0; index < count; index++) {
      streams[index] = stream;
      const key = (targets[stream] as number) * length + (length === 1 ? 0 : sizes.next());
      if (held[first + index] !== key) this.#hold(first + index, key);
      stream = stream + 1 === end ? 0 : stream + 1;
    }
    this.#stream = stream;
  }

  #hold(slot: number, key: number): void {
    const { slots, clocked } = this.#parts;
    const template = this.#templates[key] ?? this.#make(key);
    slots.bytes.set(template.bytes, slots.offsetOf(slot));
    slots.setLength(slot, template.bytes.length);
    clocked?.setStamp(slot, template.transport);
    this.#held[slot] = key;
    this.#lengths[slot] = template.bytes.length;
  }

  /** Writes all changing fields and accumulates their checksums. */
  #change(first: number, count: number): void {
    const { fields } = this.#parts;
    const row = this.#row;
    const spots = (this.#templates[this.#held[first] as number] as FrameTemplate).fields;
    row.first = first;
    row.count = count;
    row.ipSums.fill(0, 0, count);
    row.transportSums.fill(0, 0, count);
    for (let index = 0; index < fields.length; index++)
      (fields[index] as ChangingField).write(spots[index] as HeaderField, row);
  }

  /** Writes the changing parts of signatures and accumulates their checksums. */
  #sign(first: number, count: number, clock: WallClock): void {
    const isStamped = this.#parts.clocked !== undefined;
    const seconds = isStamped ? 0 : clock.seconds & 0xffff;
    const fine = isStamped ? 0 : clock.nanoseconds | 0;
    const time = seconds + (fine >>> 16) + (fine & 0xffff);
    const { halves, starts, streams, transportSums: sums } = this.#row;
    const lengths = this.#lengths;
    const sequences = this.#sequences;
    for (let index = 0; index < count; index++) {
      const stream = streams[index] as number;
      const sequence = (sequences[stream] as number) | 0;
      sequences[stream] = sequence + 1;
      const sum = (stream >>> 16) + (stream & 0xffff) + (sequence >>> 16) + (sequence & 0xffff) + time;
      const length = lengths[first + index] as number;
      const at = (starts[first + index] as number) * 2 + length - signatureBytes;
      if ((length & 1) !== 0) {
        // At odd offsets the bytes of the signature are swapped within 16-bit words.
        sums[index] = (sums[index] as number) + swapped(sum);
        this.#signOdd(at, stream, sequence, { seconds, fine });
        continue;
      }
      sums[index] = (sums[index] as number) + sum;
      const half = at >> 1;
      if (stream > 0xffff) halves[half + 2] = ((halves[half + 2] as number) & 0xff) | ((stream >>> 16) << 8);
      halves[half + 3] = swap16(stream & 0xffff);
      halves[half + 4] = swap16(sequence >>> 16);
      halves[half + 5] = swap16(sequence & 0xffff);
      if (isStamped) continue;
      halves[half + 6] = swap16(seconds);
      halves[half + 7] = swap16(fine >>> 16);
      halves[half + 8] = swap16(fine & 0xffff);
    }
  }

  #signOdd(at: number, stream: number, sequence: number, time: { seconds: number; fine: number }): void {
    const { bytes } = this.#parts.slots;
    bytes.writeUIntBE(stream, at + 5, 3);
    bytes.writeUInt32BE(sequence >>> 0, at + 8);
    bytes.writeUInt16BE(time.seconds, at + 12);
    bytes.writeUInt32BE(time.fine, at + 14);
  }

  /** Writes checksums: the checksum of the template plus the sums of the changed fields. */
  #finish(first: number, count: number): void {
    // Any value that yields neither 0 (no checksum) nor the equivalent checksum 0xffff.
    const spoil = this.#parts.hasWrongChecksums ? 0x55 : 0;
    const { halves, starts, ipSums, transportSums } = this.#row;
    const held = this.#held;
    const templates = this.#templates;
    let key = held[first] as number;
    let { ipChecksumAt, ipSum, transport } = templates[key] as FrameTemplate;
    for (let index = 0; index < count; index++) {
      if (held[first + index] !== key) {
        key = held[first + index] as number;
        ({ ipChecksumAt, ipSum, transport } = templates[key] as FrameTemplate);
      }
      const start = starts[first + index] as number;
      if (ipChecksumAt >= 0) {
        const checksum = swap16(checksumOf(ipSum + (ipSums[index] as number)));
        halves[start + (ipChecksumAt >> 1)] = transport === undefined ? checksum ^ spoil : checksum;
      }
      if (transport === undefined) continue;
      const checksum = checksumOf(transport.sum + (transportSums[index] as number));
      const whole = transport.isUdp && checksum === 0 ? 0xffff : swap16(checksum);
      halves[start + (transport.at >> 1)] = whole ^ spoil;
    }
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
          const found = field.locate(placed);
          if (found === undefined) throw new RangeError('a modified field is not part of the headers');
          return found;
        }),
    });
    this.#templates[key] = template;
    return template;
  }
}
