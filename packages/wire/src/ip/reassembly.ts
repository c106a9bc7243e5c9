import { createMemory, type Memory } from '../bytes/memory.ts';

const maxPacketBytes = 65_535;
const unitBytes = 8;
const keyWords = 10;

/** A packet that is being put together from fragments. */
class PartialPacket {
  readonly key = new Int32Array(keyWords);
  readonly memory: Memory = createMemory(maxPacketBytes + 1);
  /** One bit for each unit of 8 bytes that has arrived. */
  readonly arrived = new Int32Array(maxPacketBytes / (unitBytes * 32) + 1);
  unitCount = 0;
  /** Bytes of the whole payload; 0 until the last fragment has arrived. */
  length = 0;
  /** End of the farthest fragment. */
  farthest = 0;
  deadlineMs = 0;
  isUsed = false;

  start(key: Int32Array, deadlineMs: number): void {
    this.key.set(key);
    this.arrived.fill(0);
    this.unitCount = 0;
    this.length = 0;
    this.farthest = 0;
    this.deadlineMs = deadlineMs;
    this.isUsed = true;
  }

  hasKey(key: Int32Array): boolean {
    for (let i = keyWords - 1; i >= 0; i--) if (this.key[i] !== key[i]) return false;
    return true;
  }
}

export interface Fragment {
  /** Source and destination (8 words), identification, protocol. */
  readonly key: Int32Array;
  /** Bytes before this fragment. */
  readonly offset: number;
  readonly isMore: boolean;
}

/**
 * Puts packets together from fragments. At most `maxPackets` are open at once; a further one takes the place of the
 * oldest. Fragments that overlap end their packet (RFC 5722).
 */
export class ReassemblyStore {
  readonly #packets: PartialPacket[] = [];
  readonly #maxPackets: number;
  readonly #timeoutMs: number;
  readonly counters = { completed: 0, timedOut: 0, evicted: 0, invalid: 0 };

  constructor({ maxPackets = 64, timeoutMs = 30_000 }: { maxPackets?: number; timeoutMs?: number } = {}) {
    this.#maxPackets = maxPackets;
    this.#timeoutMs = timeoutMs;
  }

  get openPackets(): number {
    return this.#packets.filter(({ isUsed }) => isUsed).length;
  }

  /** Takes a fragment. Returns the whole payload, valid until the next call, once everything has arrived. */
  add(
    fragment: Fragment,
    memory: Memory,
    start: number,
    end: number,
    nowMs: number,
  ): { memory: Memory; length: number } | undefined {
    const packet = this.#find(fragment.key, nowMs);
    if (!this.#store(packet, fragment, memory.bytes.subarray(start, end))) {
      this.counters.invalid++;
      packet.isUsed = false;
      return undefined;
    }
    if (packet.length === 0 || packet.unitCount * unitBytes < packet.length) return undefined;
    packet.isUsed = false;
    this.counters.completed++;
    return { memory: packet.memory, length: packet.length };
  }

  expire(nowMs: number): void {
    for (const packet of this.#packets) {
      if (!packet.isUsed || packet.deadlineMs > nowMs) continue;
      packet.isUsed = false;
      this.counters.timedOut++;
    }
  }

  #store(packet: PartialPacket, { offset, isMore }: Fragment, bytes: Uint8Array): boolean {
    const end = offset + bytes.length;
    if (bytes.length === 0 || end > maxPacketBytes || (isMore && bytes.length % unitBytes !== 0)) return false;
    if (packet.length > 0 && (end > packet.length || !isMore)) return false;
    if (!isMore) {
      if (packet.farthest > end) return false;
      packet.length = end;
    }
    if (end > packet.farthest) packet.farthest = end;
    for (let unit = offset / unitBytes; unit * unitBytes < end; unit++) {
      const word = unit >> 5;
      const bit = 1 << (unit & 31);
      const before = packet.arrived[word] as number;
      if ((before & bit) !== 0) return false;
      packet.arrived[word] = before | bit;
      packet.unitCount++;
    }
    packet.memory.bytes.set(bytes, offset);
    return true;
  }

  #find(key: Int32Array, nowMs: number): PartialPacket {
    let free: PartialPacket | undefined;
    let oldest: PartialPacket | undefined;
    for (const packet of this.#packets) {
      if (!packet.isUsed) free = packet;
      else if (packet.hasKey(key)) return packet;
      else if (oldest === undefined || packet.deadlineMs < oldest.deadlineMs) oldest = packet;
    }
    if (free === undefined && this.#packets.length < this.#maxPackets) {
      free = new PartialPacket();
      this.#packets.push(free);
    }
    if (free === undefined) this.counters.evicted++;
    const packet = (free ?? oldest) as PartialPacket;
    packet.start(key, nowMs + this.#timeoutMs);
    return packet;
  }
}
