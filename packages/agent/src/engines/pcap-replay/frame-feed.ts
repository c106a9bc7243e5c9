import { replaceAddress } from '@rushhour/pcap';
import type { FrameSender, SendResult } from '../../net/packet/frame-sender.ts';
import type { AddressPool } from './address-pool.ts';
import type { FrameStock } from './frame-stock.ts';

/** Maximum memory for preloaded frames; longer captures are copied in windows. */
const maxSlotBytes = 268_435_456;
const windowSlots = 1024;
// Clocked TX paths have a high cost per call and a low cost per frame.
const [defaultBatch, longBatch] = [256, 4096];

/** Number of slots: one per frame, or a window when that would take too much memory. */
export const slotsFor = ({ count, longest }: FrameStock): number =>
  count * (longest + 256) <= maxSlotBytes ? count : windowSlots;

/** Sends frames from its slots. */
type Sender = Pick<FrameSender, 'slots' | 'timedSlots' | 'send' | 'close'>;

/** Periodic renewal of client addresses. */
export interface Renewal {
  readonly pool: AddressPool;
  /** Number of client addresses in one loop. */
  readonly clients: number;
}

/** Copies the frames of a stock into the slots of a sender and sends them. */
export class FrameFeed {
  readonly batch: number;
  readonly #stock: FrameStock;
  readonly #sender: Sender;
  readonly #renewal: Renewal;
  /** Every frame has its own slot. */
  readonly #isWhole: boolean;
  #generation = 0;
  #addresses: (Buffer | undefined)[] = [];
  /** Number of frames that already have the current addresses. */
  #renewed = 0;
  /** Range of frames currently in the slots, when not every frame has its own. */
  #copiedFrom = 0;
  #copiedTo = 0;

  constructor(stock: FrameStock, sender: Sender, renewal: Renewal) {
    this.#stock = stock;
    this.#sender = sender;
    this.#renewal = renewal;
    this.#isWhole = sender.slots.count >= stock.count;
    this.batch = Math.min(sender.timedSlots === undefined ? defaultBatch : longBatch, sender.slots.count);
  }

  /** Call when the stock is complete. */
  load(): void {
    if (!this.#isWhole) return;
    for (let index = 0; index < this.#stock.count; index++) this.#copy(index, index);
  }

  get stock(): FrameStock {
    return this.#stock;
  }

  /** Switches all frames to the addresses of this generation; 0: the addresses in the stock. */
  setGeneration(generation: number): void {
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#addresses = [];
    this.#renewed = 0;
  }

  send(first: number, end: number): SendResult {
    if (this.#generation > 0) this.#renew(end);
    if (this.#isWhole) return this.#sender.send(first, end);
    if (first < this.#copiedFrom || first >= this.#copiedTo) this.#copyFrom(first);
    return this.#sender.send(first - this.#copiedFrom, Math.min(end, this.#copiedTo) - this.#copiedFrom);
  }

  close(): void {
    this.#sender.close();
  }

  /** Starts the next loop: the slots may hold frames of the previous one. */
  rewind(): void {
    this.#copiedTo = 0;
    this.#copiedFrom = 0;
  }

  #copyFrom(first: number): void {
    const { slots } = this.#sender;
    const end = Math.min(this.#stock.count, first + slots.count);
    if (this.#generation > 0) this.#renew(end);
    for (let index = first; index < end; index++) this.#copy(index, index - first);
    this.#copiedFrom = first;
    this.#copiedTo = end;
  }

  #copy(index: number, slot: number): void {
    const { starts, lengths, bytes } = this.#stock;
    const { slots } = this.#sender;
    const [start, length] = [starts[index] as number, lengths[index] as number];
    bytes.copy(slots.bytes, slots.offsetOf(slot), start, start + length);
    slots.setLength(slot, length);
  }

  #renew(end: number): void {
    const { slots } = this.#sender;
    for (; this.#renewed < end; this.#renewed++) {
      const index = this.#renewed;
      const [bytes, start] = this.#isWhole
        ? [slots.bytes, slots.offsetOf(index)]
        : [this.#stock.bytes, this.#stock.starts[index] as number];
      for (const slot of this.#stock.addresses[index] ?? []) {
        const address = this.#address(slot.index, slot.size);
        if (address !== undefined) replaceAddress(bytes, start, slot, address);
      }
    }
  }

  #address(index: number, size: 4 | 16): Buffer | undefined {
    const at = index * 2 + (size === 4 ? 0 : 1);
    if (at in this.#addresses) return this.#addresses[at];
    const { pool, clients } = this.#renewal;
    const address = pool.find(BigInt(index) + BigInt(this.#generation) * BigInt(clients), size);
    this.#addresses[at] = address;
    return address;
  }
}
