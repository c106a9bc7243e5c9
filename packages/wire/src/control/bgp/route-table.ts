import { KeyTable } from '../../bytes/key-table.ts';
import { copyOf } from '../../bytes/memory.ts';
import { evpnIdentity } from './evpn/route.ts';
import type { BgpFamily } from './families.ts';
import { blockIdentityBytes } from './layer2/label-block.ts';
import { formatNlri, identityStart, type NlriRange } from './nlri.ts';

const free = -1;

/** Attribute sets that routes share, each stored once. */
export class AttributeSets {
  readonly #ids = new Map<string, number>();
  readonly #keys: string[] = [];
  readonly #sets: { readonly attributes: Uint8Array; readonly nextHop: Uint8Array | undefined }[] = [];
  readonly #users: number[] = [];
  readonly #free: number[] = [];

  get count(): number {
    return this.#ids.size;
  }

  get(id: number): { readonly attributes: Uint8Array; readonly nextHop: Uint8Array | undefined } {
    return this.#sets[id] as { attributes: Uint8Array; nextHop: Uint8Array | undefined };
  }

  /** The id of a set; it exists until as many `release` calls as users have been added. */
  intern(attributes: NlriRange, nextHop: NlriRange | undefined): number {
    const own = attributes.bytes.subarray(attributes.start, attributes.end);
    const hop = nextHop?.bytes.subarray(nextHop.start, nextHop.end);
    const key = `${String.fromCharCode(...own)}\n${hop === undefined ? '' : String.fromCharCode(...hop)}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#free.pop() ?? this.#sets.length;
    this.#ids.set(key, id);
    this.#keys[id] = key;
    this.#sets[id] = { attributes: copyOf(own), nextHop: hop && copyOf(hop) };
    this.#users[id] = 0;
    return id;
  }

  retain(id: number): void {
    this.#users[id] = (this.#users[id] as number) + 1;
  }

  release(id: number): void {
    const users = (this.#users[id] as number) - 1;
    this.#users[id] = users;
    if (users > 0) return;
    this.#ids.delete(this.#keys[id] as string);
    this.#free.push(id);
  }
}

interface RouteBytes {
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly last: number;
  readonly pathId: number;
}

/** Finds the slot of a route. */
interface RouteIndex {
  find(route: RouteBytes): number;
  add(route: RouteBytes): number;
  remove(slot: number): void;
  /** A route has come again: what does not identify it may have changed. */
  replace?(slot: number, route: RouteBytes): void;
  /** The route as it was announced; only of routes that are not prefixes. */
  bytesOf?(slot: number): Uint8Array;
  format(slot: number): { readonly route: string; readonly pathId: number };
}

/** Prefixes: address words, length and path id in typed arrays. */
class PrefixIndex implements RouteIndex {
  readonly #family: BgpFamily;
  readonly #words: number;
  readonly #table: KeyTable;
  readonly #key: Int32Array;

  constructor(family: BgpFamily) {
    this.#family = family;
    this.#words = family.addressBits / 32;
    this.#table = new KeyTable({ width: this.#words + 2, seed: 0x2545f491 });
    this.#key = new Int32Array(this.#words + 2);
  }

  find(route: RouteBytes): number {
    this.#write(route);
    return this.#table.find(this.#key, 0);
  }

  add(route: RouteBytes): number {
    this.#write(route);
    return this.#table.add(this.#key, 0);
  }

  remove(slot: number): void {
    this.#table.remove(slot);
  }

  format(slot: number): { readonly route: string; readonly pathId: number } {
    const { keys, width } = this.#table;
    const from = slot * width;
    const bits = keys[from + this.#words] as number;
    const bytes = new Uint8Array(17);
    const view = new DataView(bytes.buffer);
    bytes[0] = bits;
    for (let word = 0; word < this.#words; word++) view.setInt32(1 + word * 4, keys[from + word] as number);
    return { route: formatNlri(this.#family, bytes, 0, 17), pathId: (keys[from + this.#words + 1] as number) >>> 0 };
  }

  /** Bits behind the length of a prefix do not count (RFC 4271, section 4.3). */
  #write({ bytes, at, pathId }: RouteBytes): void {
    const bits = bytes[at] as number;
    const key = this.#key;
    for (let word = 0; word < this.#words; word++) {
      const left = bits - word * 32;
      let value = 0;
      for (let i = 0; i < 4; i++) value = (value << 8) | (left > i * 8 ? (bytes[at + 1 + word * 4 + i] as number) : 0);
      key[word] = left >= 32 ? value : left <= 0 ? 0 : value & ~(0xffffffff >>> left);
    }
    key[this.#words] = bits;
    key[this.#words + 1] = pathId | 0;
  }
}

/** Routes of other forms, by the bytes that identify them. */
class OpaqueIndex implements RouteIndex {
  readonly #family: BgpFamily;
  readonly #slots = new Map<string, number>();
  readonly #routes: { readonly key: string; readonly bytes: Uint8Array; readonly pathId: number }[] = [];
  readonly #free: number[] = [];

  constructor(family: BgpFamily) {
    this.#family = family;
  }

  find(route: RouteBytes): number {
    return this.#slots.get(this.#keyOf(route)) ?? free;
  }

  add(route: RouteBytes): number {
    const key = this.#keyOf(route);
    const slot = this.#free.pop() ?? this.#routes.length;
    this.#slots.set(key, slot);
    this.#routes[slot] = { key, bytes: copyOf(route.bytes, route.at, route.last), pathId: route.pathId };
    return slot;
  }

  remove(slot: number): void {
    this.#slots.delete((this.#routes[slot] as { key: string }).key);
    this.#free.push(slot);
  }

  replace(slot: number, { bytes, at, last }: RouteBytes): void {
    const known = this.#routes[slot] as { key: string; bytes: Uint8Array; pathId: number };
    this.#routes[slot] = { ...known, bytes: copyOf(bytes, at, last) };
  }

  bytesOf(slot: number): Uint8Array {
    return (this.#routes[slot] as { bytes: Uint8Array }).bytes;
  }

  format(slot: number): { readonly route: string; readonly pathId: number } {
    const { bytes, pathId } = this.#routes[slot] as { bytes: Uint8Array; pathId: number };
    return { route: formatNlri(this.#family, bytes, 0, bytes.length), pathId };
  }

  #keyOf({ bytes, at, last, pathId }: RouteBytes): string {
    if (this.#family.form === 'evpn') return `${pathId} ${evpnIdentity(bytes, at, last)}`;
    if (this.#family.form === 'vpls')
      return `${pathId} ${String.fromCharCode(...bytes.subarray(at + 2, Math.min(at + 2 + blockIdentityBytes, last)))}`;
    const start = identityStart(this.#family, bytes, at, last);
    // The length counts labels, which do not identify the route.
    const bits = (bytes[at] as number) - (start - at) * 8;
    return `${pathId} ${start === at ? '' : bits} ${String.fromCharCode(...bytes.subarray(start, last))}`;
  }
}

export interface ListedRoute {
  readonly route: string;
  readonly pathId: number;
  readonly attributes: Uint8Array;
  readonly nextHop: Uint8Array | undefined;
  /** Of a neighbour that restarts, and not announced again yet. */
  readonly isStale: boolean;
}

/** The routes of one family that a neighbour has announced. */
export class RouteTable {
  readonly family: BgpFamily;
  count = 0;
  readonly #index: RouteIndex;
  readonly #sets: AttributeSets;
  /** Attribute set of each slot; -1: the slot is free. */
  #attributes = new Int32Array(64).fill(free);
  /** Generation in which each slot was last announced. */
  #generations = new Uint8Array(64);
  #generation = 0;
  #used = 0;

  constructor(family: BgpFamily, sets: AttributeSets) {
    this.family = family;
    this.#sets = sets;
    this.#index = family.form === 'prefix' ? new PrefixIndex(family) : new OpaqueIndex(family);
  }

  /** Returns true if the route is new. */
  announce(route: RouteBytes, attributes: number): boolean {
    let slot = this.#index.find(route);
    const isNew = slot < 0;
    if (isNew) {
      slot = this.#index.add(route);
      if (slot >= this.#attributes.length) this.#grow(slot);
      this.#used = Math.max(this.#used, slot + 1);
      this.count++;
    } else this.#index.replace?.(slot, route);
    const before = this.#attributes[slot] as number;
    this.#generations[slot] = this.#generation;
    if (before === attributes) return false;
    this.#sets.retain(attributes);
    this.#attributes[slot] = attributes;
    if (!isNew) this.#sets.release(before);
    return isNew;
  }

  /** Returns true if the route was there. */
  withdraw(route: RouteBytes): boolean {
    const slot = this.#index.find(route);
    if (slot < 0) return false;
    this.#remove(slot);
    return true;
  }

  clear(): void {
    for (let slot = 0; slot < this.#used; slot++) if (this.#attributes[slot] !== free) this.#remove(slot);
  }

  /** Starts a generation: routes that are not announced again are stale (RFC 4724). */
  markStale(): void {
    this.#generation = (this.#generation + 1) & 0xff;
  }

  /** Returns how many were removed. */
  removeStale(): number {
    const before = this.count;
    for (let slot = 0; slot < this.#used; slot++)
      if (this.#attributes[slot] !== free && this.#generations[slot] !== this.#generation) this.#remove(slot);
    return before - this.count;
  }

  /** Up to `limit` routes after skipping `offset` of them. */
  list(offset: number, limit: number): ListedRoute[] {
    const routes: ListedRoute[] = [];
    let skipped = 0;
    for (let slot = 0; slot < this.#used && routes.length < limit; slot++) {
      const attributes = this.#attributes[slot] as number;
      if (attributes === free || skipped++ < offset) continue;
      const isStale = this.#generations[slot] !== this.#generation;
      routes.push({ ...this.#index.format(slot), ...this.#sets.get(attributes), isStale });
    }
    return routes;
  }

  /** All routes that are not prefixes, as they were announced. */
  each(visit: (bytes: Uint8Array, attributes: Uint8Array) => void): void {
    for (let slot = 0; slot < this.#used; slot++) {
      const attributes = this.#attributes[slot] as number;
      const bytes = attributes === free ? undefined : this.#index.bytesOf?.(slot);
      if (bytes !== undefined) visit(bytes, this.#sets.get(attributes).attributes);
    }
  }

  #remove(slot: number): void {
    this.#sets.release(this.#attributes[slot] as number);
    this.#attributes[slot] = free;
    this.#index.remove(slot);
    this.count--;
  }

  #grow(slot: number): void {
    let size = this.#attributes.length;
    while (size <= slot) size *= 2;
    const attributes = new Int32Array(size).fill(free);
    attributes.set(this.#attributes);
    this.#attributes = attributes;
    const generations = new Uint8Array(size);
    generations.set(this.#generations);
    this.#generations = generations;
  }
}
