import type { ClientAddress, ReplayFrame } from '@rushhour/pcap';

const firstCapacity = 1_048_576;
const arpType = 0x0806;

/** Placeholder for the MAC of the next hop. */
export const unknownMac = Buffer.from('025248000001', 'hex');

/** The frames one side sends in one loop, in order and ready to send. */
export class FrameStock {
  readonly starts: number[] = [];
  readonly lengths: number[] = [];
  /** Position of each frame among the frames of both sides. */
  readonly order: number[] = [];
  /** Cumulative bytes up to and including each frame. */
  readonly totalBytes: number[] = [];
  /** Number of open flows after each frame. */
  readonly openFlows: number[] = [];
  readonly addresses: (readonly ClientAddress[])[] = [];
  longest = 0;
  bytes = Buffer.alloc(firstCapacity);
  readonly #flows: number[] = [];
  #used = 0;

  get count(): number {
    return this.starts.length;
  }

  add({ bytes, start, length, flow, clientAddresses }: ReplayFrame, order: number): void {
    this.#reserve(length);
    this.bytes.set(bytes.subarray(start, start + length), this.#used);
    this.starts.push(this.#used);
    this.lengths.push(length);
    this.order.push(order);
    this.totalBytes.push((this.totalBytes.at(-1) ?? 0) + length);
    this.addresses.push(clientAddresses);
    this.#flows.push(flow);
    this.#used += length;
    this.longest = Math.max(this.longest, length);
  }

  /** Call after the last frame was added. */
  finish(): void {
    const [first, last] = [new Map<number, number>(), new Map<number, number>()];
    for (const [index, flow] of this.#flows.entries()) {
      if (!first.has(flow)) first.set(flow, index);
      last.set(flow, index);
    }
    let open = 0;
    for (const [index, flow] of this.#flows.entries()) {
      if (flow >= 0 && first.get(flow) === index) open++;
      this.openFlows.push(open);
      if (flow >= 0 && last.get(flow) === index) open--;
    }
  }

  /** Repeats the loop within the stock for larger batches; `frames`: frames of both sides in one loop. */
  repeat(times: number, frames: number): void {
    const { count } = this;
    for (let index = count; index < count * times; index++) {
      const same = index % count;
      this.starts.push(this.starts[same] as number);
      this.lengths.push(this.lengths[same] as number);
      this.order.push((this.order[index - count] as number) + frames);
      this.totalBytes.push((this.totalBytes[index - 1] as number) + (this.lengths[same] as number));
      this.openFlows.push(this.openFlows[same] as number);
      this.addresses.push([]);
    }
  }

  /** Replaces the placeholder MAC in all frames. */
  setNextHop(mac: Uint8Array): void {
    for (const start of this.starts) {
      this.#replace(start, mac);
      for (const type of [start + 12, start + 16]) {
        if (this.bytes.readUInt16BE(type) !== arpType) continue;
        this.#replace(type + 20, mac);
        break;
      }
    }
  }

  #replace(at: number, mac: Uint8Array): void {
    if (unknownMac.compare(this.bytes, at, at + 6) === 0) this.bytes.set(mac, at);
  }

  #reserve(length: number): void {
    // Spare bytes, because `setNextHop` reads beyond short frames.
    if (this.#used + length + 64 <= this.bytes.length) return;
    const larger = Buffer.alloc((this.#used + length + 64) * 2);
    larger.set(this.bytes.subarray(0, this.#used));
    this.bytes = larger;
  }
}
