import { compareAddresses, textOfAddress } from '../address-bytes.ts';
import type { BootstrapMessage, CandidateMessage, RendezvousRange } from './bootstrap-message.ts';
import type { EncodedGroup } from './encoding.ts';

// Periods of RFC 5059, section 5.
const periodMs = 60_000;
const timeoutMs = 130_000;

/** Bits of groups that share a rendezvous point where there are several (RFC 7761, section 4.7.2). */
const hashBits = { 4: 30, 16: 126 } as const;

export interface BootstrapOptions {
  readonly address: Uint8Array;
  /** 0: the router only listens. */
  readonly priority: number;
  /** What it announces when it is elected, besides the candidates it hears of. */
  readonly own: { readonly group: EncodedGroup; readonly point: Uint8Array; readonly holdSec: number } | undefined;
  readonly random: () => number;
}

/** States of a candidate, and `listening` for other routers (RFC 5059, section 3.1). */
export type BootstrapState = 'listening' | 'candidate' | 'pending' | 'elected';

interface Elected {
  readonly router: Uint8Array;
  readonly priority: number;
}

/** A rendezvous point of a range of groups. */
export interface KnownPoint {
  readonly group: EncodedGroup;
  readonly address: Uint8Array;
  readonly priority: number;
  readonly holdSec: number;
  readonly expiresAt: number;
}

const never = Number.POSITIVE_INFINITY;
const maxPoints = 10_000;

const isInRange = ({ address, bits }: EncodedGroup, group: Uint8Array): boolean => {
  for (let i = 0, left = bits; left > 0; i++, left -= 8) {
    const mask = left >= 8 ? 255 : (0xff00 >> left) & 255;
    if ((((address[i] as number) ^ (group[i] as number)) & mask) !== 0) return false;
  }
  return true;
};

/** The 32-bit words of an address, combined, after all but the first `bits` bits are cleared. */
const digestOf = (address: Uint8Array, bits: number): number => {
  let digest = 0;
  for (let i = 0; i < address.length; i++) {
    const left = Math.min(Math.max(bits - i * 8, 0), 8);
    digest ^= ((address[i] as number) & (0xff00 >> left) & 255) << (24 - (i & 3) * 8);
  }
  return digest;
};

/** The hash that shares groups out among rendezvous points (RFC 7761, section 4.7.2). */
export const pointHash = (group: Uint8Array, bits: number, point: Uint8Array): number => {
  const mixed = (Math.imul(1_103_515_245, digestOf(group, bits)) + 12_345) ^ digestOf(point, point.length * 8);
  return (Math.imul(1_103_515_245, mixed) + 12_345) & 0x7fffffff;
};

/** Election of a bootstrap router, and the rendezvous points it announces (RFC 5059). */
export class Bootstrap {
  state: BootstrapState = 'listening';
  /** Who announces the rendezvous points. */
  elected: Elected | undefined;
  readonly #options: BootstrapOptions;
  readonly #points = new Map<string, KnownPoint>();
  #hashBits: number;
  #timerAt = never;
  #tag = 0;

  constructor(options: BootstrapOptions) {
    this.#options = options;
    this.#hashBits = hashBits[options.address.length as 4 | 16];
  }

  start(now: number): void {
    const { priority, random } = this.#options;
    this.state = priority > 0 ? 'pending' : 'listening';
    this.elected = undefined;
    this.#points.clear();
    this.#timerAt = priority > 0 ? now + timeoutMs : never;
    this.#tag = Math.floor(random() * 65_536);
  }

  get points(): IterableIterator<KnownPoint> {
    return this.#points.values();
  }

  /** Takes a message of another router. Returns true if it is to be answered at once with an own one. */
  receive(message: BootstrapMessage, now: number): boolean {
    // Its own messages may come back from routers that pass them on.
    if (compareAddresses(message.router, this.#options.address) === 0) return false;
    if (this.#isPreferred(message)) {
      if (this.state !== 'listening') this.state = 'candidate';
      this.elected = { router: message.router, priority: message.priority };
      this.#timerAt = now + timeoutMs;
      this.#hashBits = message.hashBits;
      this.#store(message.ranges, now);
      return false;
    }
    const isOfElected = this.elected !== undefined && compareAddresses(message.router, this.elected.router) === 0;
    // The router in office has become less than this one.
    if (this.state === 'candidate' && isOfElected) this.#wait(now);
    return this.state === 'elected';
  }

  /** A candidate for rendezvous point has told this router. */
  takeCandidate({ point, priority, holdSec, groups }: CandidateMessage, now: number): void {
    if (this.state !== 'elected') return;
    for (const group of groups) this.#keep({ group, address: point, priority, holdSec }, now);
  }

  /** The message that is due, if one is. */
  advance(now: number): BootstrapMessage | undefined {
    for (const [key, { expiresAt }] of this.#points) if (now >= expiresAt) this.#points.delete(key);
    if (now < this.#timerAt) return undefined;
    if (this.state === 'listening') {
      this.elected = undefined;
      this.#timerAt = never;
    } else if (this.state === 'candidate') this.#wait(now);
    else return this.originate(now);
    return undefined;
  }

  /** Says what this router, elected, knows. */
  originate(now: number): BootstrapMessage {
    const { address, priority, own } = this.#options;
    if (this.state !== 'elected') this.#points.clear();
    this.state = 'elected';
    this.elected = { router: address, priority };
    this.#timerAt = now + periodMs;
    this.#hashBits = hashBits[address.length as 4 | 16];
    this.#tag = (this.#tag + 1) & 0xffff;
    if (own !== undefined) this.#keep({ group: own.group, address: own.point, priority: 0, holdSec: own.holdSec }, now);
    const base = { kind: 'bootstrap', isNoForward: false, fragmentTag: this.#tag } as const;
    return { ...base, hashBits: this.#hashBits, priority, router: address, ranges: this.#ranges() };
  }

  /** The rendezvous point of a group: the longest range, the lowest priority, the highest hash, the highest address. */
  findPoint(group: Uint8Array): Uint8Array | undefined {
    const fitting = [...this.#points.values()].filter((point) => isInRange(point.group, group));
    const rank = (point: KnownPoint) => pointHash(group, this.#hashBits, point.address);
    return fitting.toSorted(
      (a, b) =>
        b.group.bits - a.group.bits ||
        a.priority - b.priority ||
        rank(b) - rank(a) ||
        compareAddresses(b.address, a.address),
    )[0]?.address;
  }

  /** A router is at least as good as the one in office, or as this one where it is a candidate without one. */
  #isPreferred({ router, priority }: BootstrapMessage): boolean {
    const { address, priority: own } = this.#options;
    const rival =
      this.state === 'pending' || this.state === 'elected' ? { router: address, priority: own } : this.elected;
    if (rival === undefined) return true;
    return (priority - rival.priority || compareAddresses(router, rival.router)) >= 0;
  }

  /** Better candidates are given the time to come forward first (RFC 5059, section 3.1.1). */
  #wait(now: number): void {
    const { address, priority } = this.#options;
    const best = Math.max(this.elected?.priority ?? 0, priority);
    const own = digestOf(address.subarray(0, 4), 32) >>> 0;
    const other = this.elected === undefined ? own : digestOf(this.elected.router.subarray(0, 4), 32) >>> 0;
    const byAddress = best === priority ? Math.log2(1 + Math.max(other - own, 0)) / 16 : 2 - own / 2 ** 31;
    this.state = 'pending';
    this.#timerAt = now + 1000 * (5 + 2 * Math.log2(1 + best - priority) + byAddress);
  }

  /** Points that a range no longer has are forgotten, unless others of it are in another fragment. */
  #store(ranges: readonly RendezvousRange[], now: number): void {
    for (const { group, count, points } of ranges) {
      const range = this.#rangeOf(group);
      const named = new Set(points.map(({ address }) => this.#keyOf(group, address)));
      for (const [key, point] of points.length < count ? [] : this.#points)
        if (this.#rangeOf(point.group) === range && !named.has(key)) this.#points.delete(key);
      for (const { address, priority, holdSec } of points) this.#keep({ group, address, priority, holdSec }, now);
    }
  }

  #keep(point: Omit<KnownPoint, 'expiresAt'>, now: number): void {
    const key = this.#keyOf(point.group, point.address);
    if (point.holdSec === 0) this.#points.delete(key);
    else if (this.#points.has(key) || this.#points.size < maxPoints)
      this.#points.set(key, { ...point, expiresAt: now + point.holdSec * 1000 });
  }

  #rangeOf({ address, bits }: EncodedGroup): string {
    return `${textOfAddress(address)}/${bits}`;
  }

  #keyOf(group: EncodedGroup, point: Uint8Array): string {
    return `${this.#rangeOf(group)} ${textOfAddress(point)}`;
  }

  #ranges(): RendezvousRange[] {
    const ranges = new Map<string, { group: EncodedGroup; points: KnownPoint[] }>();
    for (const point of this.#points.values()) {
      const key = this.#rangeOf(point.group);
      const range = ranges.get(key) ?? { group: point.group, points: [] };
      ranges.set(key, range);
      range.points.push(point);
    }
    return [...ranges.values()].map(({ group, points }) => ({ group, count: points.length, points }));
  }
}
