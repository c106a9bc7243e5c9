import { PcapError } from '../pcap-error.ts';
import type { Packet } from '../read/packet.ts';
import { createPacket } from '../read/packet.ts';

const FIRST_CAPACITY = 65_536;

/** Packets kept in memory in the order they came. */
export class PacketStore {
  readonly #maxBytes: number;
  readonly #starts: number[] = [];
  readonly #lengths: number[] = [];
  readonly #wireLengths: number[] = [];
  readonly #linkTypes: number[] = [];
  readonly #timesMs: number[] = [];
  readonly #packet = createPacket();
  #bytes = new Uint8Array(FIRST_CAPACITY);
  #used = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get count(): number {
    return this.#starts.length;
  }

  timeOf(index: number): number {
    return this.#timesMs[index] as number;
  }

  add(packet: Packet, timeMs: number): void {
    this.#reserve(packet.length);
    this.#starts.push(this.#used);
    this.#lengths.push(packet.length);
    this.#wireLengths.push(packet.wireLength);
    this.#linkTypes.push(packet.linkType);
    this.#timesMs.push(timeMs);
    this.#bytes.set(packet.bytes.subarray(packet.start, packet.start + packet.length), this.#used);
    this.#used += packet.length;
  }

  /** The packet of this index; one object is reused for all calls. */
  at(index: number): Packet {
    const packet = this.#packet;
    packet.number = index + 1;
    packet.linkType = this.#linkTypes[index] as number;
    packet.bytes = this.#bytes;
    packet.start = this.#starts[index] as number;
    packet.length = this.#lengths[index] as number;
    packet.wireLength = this.#wireLengths[index] as number;
    return packet;
  }

  #reserve(count: number): void {
    const needed = this.#used + count;
    if (needed > this.#maxBytes) {
      const maxMib = Math.floor(this.#maxBytes / 1_048_576);
      throw new PcapError('CAPTURE_TOO_LARGE', `More than ${maxMib} MiB of packets to play: narrow them by a filter.`);
    }
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.min(this.#maxBytes, needed * 2));
    larger.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = larger;
  }
}
