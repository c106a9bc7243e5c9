import type { FragmentCutter } from '../../net/packet/frame/fragment-cutter.ts';
import type { FrameSender, SendRefusal, SendResult } from '../../net/packet/frame-sender.ts';
import type { FrameSlots } from '../../net/packet/tx-path.ts';

/** What streams send frames by. */
export type FrameOutput = Pick<FrameSender, 'slots' | 'timedSlots' | 'send' | 'close'>;

/** Frames that are cut before they are sent. */
class PlainSlots implements FrameSlots {
  readonly count: number;
  readonly bytes: Buffer;
  readonly lengths: Int32Array;
  readonly #stride: number;

  constructor(count: number, maxBytes: number) {
    this.count = count;
    this.#stride = maxBytes + (maxBytes & 1);
    this.bytes = Buffer.alloc(count * this.#stride);
    this.lengths = new Int32Array(count);
  }

  offsetOf(slot: number): number {
    return slot * this.#stride;
  }

  setLength(slot: number, bytes: number): void {
    if (!(bytes >= 0 && bytes <= this.#stride)) throw new RangeError(`a frame of ${bytes} bytes does not fit its slot`);
    this.lengths[slot] = bytes;
  }
}

/** Sends frames in fragments. Fragments that the interface has no room for leave before the frames that follow. */
export class FragmentSender implements FrameOutput {
  readonly timedSlots = undefined;
  readonly slots: PlainSlots;
  readonly #inner: FrameOutput;
  readonly #cutter: FragmentCutter;
  /** Fragments that are written and not sent. */
  #first = 0;
  #filled = 0;

  constructor(inner: FrameOutput, cutter: FragmentCutter, frames: { readonly count: number; readonly bytes: number }) {
    this.#inner = inner;
    this.#cutter = cutter;
    this.slots = new PlainSlots(frames.count, frames.bytes);
    if (cutter.partsOf(frames.bytes).length > inner.slots.count)
      throw new RangeError(`frames of ${frames.bytes} bytes have too many fragments`);
  }

  send(first: number, end: number): SendResult {
    let slot = first;
    let lost = 0;
    let refused: SendRefusal | undefined;
    do {
      while (slot < end && this.#write(slot)) slot++;
      const result = this.#flush();
      lost += result.lost;
      refused = result.refused;
    } while (refused === undefined && slot < end);
    const taken = slot - first;
    return { taken, lost: Math.min(lost, taken), ...(refused !== undefined && { refused }) };
  }

  close(): void {
    this.#inner.close();
  }

  /** Writes a frame behind those that wait; false where there is no room. */
  #write(slot: number): boolean {
    const { slots, lengths } = { slots: this.#inner.slots, lengths: this.slots.lengths };
    const length = lengths[slot] as number;
    const parts = this.#cutter.partsOf(length);
    if (this.#filled + Math.max(parts.length, 1) > slots.count) return false;
    const start = this.slots.offsetOf(slot);
    if (parts.length === 0) {
      this.slots.bytes.copy(slots.bytes, slots.offsetOf(this.#filled), start, start + length);
      slots.setLength(this.#filled++, length);
      return true;
    }
    this.#cutter.next();
    for (const [index, part] of parts.entries()) {
      const into = { bytes: slots.bytes, at: slots.offsetOf(this.#filled) };
      const isLast = index === parts.length - 1;
      slots.setLength(this.#filled++, this.#cutter.write(this.slots.bytes, start, part, into, isLast));
    }
    return true;
  }

  #flush(): Pick<SendResult, 'lost' | 'refused'> {
    const { taken, lost, refused } = this.#inner.send(this.#first, this.#filled);
    this.#first += taken;
    // What is left is sent first, unless there is no link.
    if (this.#first < this.#filled && refused !== 'down') return { lost, refused: refused ?? 'full' };
    this.#first = 0;
    this.#filled = 0;
    return { lost, ...(refused !== undefined && { refused }) };
  }
}
