import { replaceAddress } from '@rushhour/pcap';
import type { FrameSender, SendResult } from '../../net/packet/frame-sender.ts';
import type { AddressPool } from './address-pool.ts';
import type { FrameStock } from './frame-stock.ts';

/** Most memory for frames that wait in their places; a longer capture is copied there piece by piece. */
const maxSlotBytes = 268_435_456;
const windowSlots = 1024;
// A way that sends by itself costs much to begin with and little for each frame.
const [defaultBatch, longBatch] = [256, 4096];

/** How many places a stock needs so that each frame has its own, or fewer when they would take too much room. */
export const slotsFor = ({ count, longest }: FrameStock): number =>
  count * (longest + 256) <= maxSlotBytes ? count : windowSlots;

/** What sends frames from their places. */
type Sender = Pick<FrameSender, 'slots' | 'timedSlots' | 'send' | 'close'>;

/** New addresses of clients from time to time. */
export interface Renewal {
  readonly pool: AddressPool;
  /** Addresses of clients in one playing. */
  readonly clients: number;
}

/** Brings the frames of a stock into the places of a sender and sends them from there. */
export class FrameFeed {
  readonly batch: number;
  readonly #stock: FrameStock;
  readonly #sender: Sender;
  readonly #renewal: Renewal;
  /** Frames stay where they are written. */
  readonly #isWhole: boolean;
  #generation = 0;
  #addresses: (Buffer | undefined)[] = [];
  /** Up to which frame the present addresses are in. */
  #renewed = 0;
  /** Frames that lie in the first places, when they do not stay. */
  #copiedFrom = 0;
  #copiedTo = 0;

  constructor(stock: FrameStock, sender: Sender, renewal: Renewal) {
    this.#stock = stock;
    this.#sender = sender;
    this.#renewal = renewal;
    this.#isWhole = sender.slots.count >= stock.count;
    this.batch = Math.min(sender.timedSlots === undefined ? defaultBatch : longBatch, sender.slots.count);
  }

  /** To be called when the stock is as it shall leave. */
  load(): void {
    if (!this.#isWhole) return;
    for (let index = 0; index < this.#stock.count; index++) this.#copy(index, index);
  }

  get stock(): FrameStock {
    return this.#stock;
  }

  /** From now on every frame has the addresses of this generation; 0 is what the stock holds at first. */
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

  /** The next playing begins: what lies in the places may be from the one before. */
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
      for (const slot of this.#stock.places[index] ?? []) {
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
