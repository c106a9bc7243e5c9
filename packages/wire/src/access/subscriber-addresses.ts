import { NumberPool } from './address-pool.ts';

/** Consecutive addresses that are handed out. */
export interface AddressRange {
  /** Asked for by this name; empty: it has none. */
  readonly name: string;
  readonly start: number;
  readonly size: number;
}

/** What a session asks for; 0 and the empty name leave the choice. */
interface AddressRequest {
  readonly address: number;
  readonly pool: string;
}

/** One range and who has its addresses. */
class OwnedRange {
  readonly range: AddressRange;
  readonly #free: NumberPool;
  /** By offset; -1: nobody. */
  readonly #owners: Int32Array;

  constructor(range: AddressRange) {
    this.range = range;
    this.#free = new NumberPool(range.size);
    this.#owners = new Int32Array(range.size).fill(-1);
  }

  /** Offset of an address, or -1. */
  offsetOf(address: number): number {
    const offset = (address - this.range.start) | 0;
    return offset >= 0 && offset < this.range.size ? offset : -1;
  }

  ownerAt(offset: number): number {
    return this.#owners[offset] as number;
  }

  /** An address, or 0 if there is none. */
  take(owner: number): number {
    return this.#give(owner, this.#free.take());
  }

  takeAt(owner: number, offset: number): number {
    return this.#free.takeAt(offset) ? this.#give(owner, offset) : 0;
  }

  release(offset: number): void {
    this.#free.release(offset);
    this.#owners[offset] = -1;
  }

  #give(owner: number, offset: number): number {
    if (offset < 0) return 0;
    this.#owners[offset] = owner;
    return (this.range.start + offset) | 0;
  }
}

/** The IPv4 addresses of a gateway's sessions: from its pools, or any that a RADIUS server names. */
export class SubscriberAddresses {
  readonly #ranges: readonly OwnedRange[];
  readonly #addressOf = new Map<number, number>();
  /** Owners of addresses outside the pools. */
  readonly #others = new Map<number, number>();

  constructor(ranges: readonly AddressRange[]) {
    this.#ranges = ranges.map((range) => new OwnedRange(range));
  }

  /** The address of a session; 0: none. */
  addressOf(session: number): number {
    return this.#addressOf.get(session) ?? 0;
  }

  /** The session that has an address, or -1. */
  ownerOf(address: number): number {
    const range = this.#rangeOf(address);
    return range === undefined ? (this.#others.get(address) ?? -1) : range.ownerAt(range.offsetOf(address));
  }

  /** The address that a session has or gets now; 0 if what it may have is in use. */
  take(session: number, request: AddressRequest = { address: 0, pool: '' }): number {
    const known = this.#addressOf.get(session);
    if (known !== undefined) return known;
    const address =
      request.address === 0 ? this.#takeAny(session, request.pool) : this.#takeCertain(session, request.address);
    if (address !== 0) this.#addressOf.set(session, address);
    return address;
  }

  release(session: number): void {
    const address = this.#addressOf.get(session);
    if (address === undefined) return;
    this.#addressOf.delete(session);
    const range = this.#rangeOf(address);
    if (range === undefined) this.#others.delete(address);
    else range.release(range.offsetOf(address));
  }

  #rangeOf(address: number): OwnedRange | undefined {
    return this.#ranges.find((range) => range.offsetOf(address) >= 0);
  }

  /** A pool that is not known does not count (RFC 2869, 5.18). */
  #takeAny(session: number, pool: string): number {
    const named = pool === '' ? undefined : this.#ranges.find(({ range }) => range.name === pool);
    return (named ?? this.#ranges[0])?.take(session) ?? 0;
  }

  #takeCertain(session: number, address: number): number {
    const range = this.#rangeOf(address);
    if (range !== undefined) return range.takeAt(session, range.offsetOf(address));
    if (this.#others.has(address)) return 0;
    this.#others.set(address, session);
    return address;
  }
}
