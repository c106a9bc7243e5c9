import { KeyTable } from '../bytes/key-table.ts';
import { copyMac, isSameMac, macBytes, vlanIds } from '../ethernet/ethernet.ts';
import { copyAddress } from '../ip/address.ts';

const state = { incomplete: 0, reachable: 1, probing: 2, failed: 3, fixed: 4 } as const;
/** VLAN identifiers and address. */
const keyWords = 5;
const none = -1;

export interface NeighbourOptions {
  readonly seed: number;
  /** Time between requests. */
  readonly retryMs?: number;
  /** Requests before a neighbour counts as unreachable. */
  readonly maxRequests?: number;
  /** A confirmed neighbour is asked again after this time; it is used meanwhile. */
  readonly reachableMs?: number;
  /** Neighbours that may be known at once. */
  readonly maxEntries?: number;
  /** Sends a request for the address at `at` of `keys`, from the host that needs it. */
  solicit(keys: Int32Array, at: number, tags: number, path: number): void;
  /** A neighbour has become reachable, or all requests were in vain. */
  onSettled(isReachable: boolean): void;
}

/** MAC addresses of neighbours by VLAN and IP address, in typed arrays. */
export class NeighbourCache {
  readonly counters = { resolved: 0, failed: 0, requests: 0, evicted: 0, moved: 0 };
  readonly #table: KeyTable;
  readonly #options: Required<NeighbourOptions>;
  readonly #key = new Int32Array(keyWords);
  #macs = new Uint8Array(16 * macBytes);
  #states = new Uint8Array(16);
  /** Requests sent since the last answer. */
  #requests = new Uint8Array(16);
  /** Milliseconds: next request, or when the entry is to be confirmed again. */
  #due = new Int32Array(16);
  #paths = new Int32Array(16);
  #tags = new Int32Array(16);
  /** Slots that wait for an answer. */
  #pending: number[] = [];
  #nowMs = 0;

  constructor(options: NeighbourOptions) {
    this.#options = { retryMs: 1000, maxRequests: 3, reachableMs: 300_000, maxEntries: 1 << 20, ...options };
    this.#table = new KeyTable({ width: keyWords, seed: options.seed });
  }

  get count(): number {
    return this.#table.count;
  }

  get pendingCount(): number {
    return this.#pending.length;
  }

  /** MAC addresses; that of slot i stands at i × 6. */
  get macs(): Uint8Array {
    return this.#macs;
  }

  /** Slot of a neighbour whose MAC is known, or -1; it is asked for then, unless that has failed a moment ago. */
  resolve(address: Int32Array, at: number, tags: number, path: number): number {
    const slot = this.#find(address, at, tags);
    if (slot === none) {
      this.#ask(this.#add(tags), tags, path);
      return none;
    }
    const current = this.#states[slot] as number;
    if (current === state.fixed) return slot;
    if (current === state.failed || current === state.incomplete) {
      if (current === state.failed && this.#nowMs >= (this.#due[slot] as number)) this.#ask(slot, tags, path);
      return none;
    }
    if (current === state.reachable && this.#nowMs >= (this.#due[slot] as number)) {
      this.#ask(slot, tags, path);
      this.#states[slot] = state.probing;
    }
    return slot;
  }

  /** True if requests for the neighbour were in vain. */
  hasFailed(address: Int32Array, at: number, tags: number): boolean {
    const slot = this.#find(address, at, tags);
    return slot !== none && this.#states[slot] === state.failed;
  }

  /** Takes a MAC from a message. `isAnswer` false: only entries that exist are changed. */
  learn(address: Int32Array, at: number, tags: number, mac: Uint8Array, macAt: number, isAnswer: boolean): void {
    let slot = this.#find(address, at, tags);
    if (slot === none) {
      if (!isAnswer) return;
      slot = this.#add(tags);
      this.#states[slot] = state.reachable;
    }
    const before = this.#states[slot] as number;
    if (before === state.fixed) return;
    if (before === state.reachable && !isSameMac(this.#macs, slot * macBytes, mac, macAt)) this.counters.moved++;
    copyMac(mac, macAt, this.#macs, slot * macBytes);
    this.#states[slot] = state.reachable;
    this.#requests[slot] = 0;
    this.#due[slot] = this.#nowMs + this.#options.reachableMs;
    this.#leavePending(slot);
    if (before === state.reachable || before === state.probing) return;
    this.counters.resolved++;
    this.#options.onSettled(true);
  }

  /** An entry that is never asked for: a gateway with a MAC of the task. */
  setFixed(address: Int32Array, at: number, tags: number, mac: Uint8Array): void {
    let slot = this.#find(address, at, tags);
    if (slot === none) slot = this.#add(tags);
    copyMac(mac, 0, this.#macs, slot * macBytes);
    this.#states[slot] = state.fixed;
    this.#leavePending(slot);
  }

  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    if (this.#pending.length === 0) return;
    const pending = this.#pending;
    this.#pending = [];
    let hasFailed = false;
    for (const slot of pending) {
      if (nowMs < (this.#due[slot] as number)) this.#pending.push(slot);
      else if ((this.#requests[slot] as number) < this.#options.maxRequests) {
        this.#pending.push(slot);
        this.#request(slot);
      } else {
        this.#states[slot] = state.failed;
        this.#requests[slot] = 0;
        this.#due[slot] = nowMs + this.#options.retryMs;
        this.counters.failed++;
        hasFailed = true;
      }
    }
    if (hasFailed) this.#options.onSettled(false);
  }

  #find(address: Int32Array, at: number, tags: number): number {
    const key = this.#key;
    key[0] = vlanIds(tags);
    copyAddress(address, at, key, 1);
    return this.#table.find(key, 0);
  }

  /** Adds an entry for the key that `#find` has just prepared. */
  #add(tags: number): number {
    if (this.#table.count >= this.#options.maxEntries) this.#evict();
    const slot = this.#table.add(this.#key, 0);
    if (slot >= this.#states.length) this.#grow();
    this.#states[slot] = state.incomplete;
    this.#requests[slot] = 0;
    this.#tags[slot] = tags;
    return slot;
  }

  /** Gives up an arbitrary entry that is neither fixed nor waited for. */
  #evict(): void {
    const { slots } = this.#table;
    for (let tries = 0; tries < slots; tries++) {
      const slot = (this.counters.evicted + tries) % slots;
      const current = this.#states[slot] as number;
      if (current === state.fixed || current === state.incomplete || current === state.probing) continue;
      this.#table.remove(slot);
      this.#states[slot] = state.incomplete;
      this.counters.evicted++;
      return;
    }
  }

  #ask(slot: number, tags: number, path: number): void {
    this.#states[slot] = state.incomplete;
    this.#paths[slot] = path;
    this.#tags[slot] = tags;
    this.#requests[slot] = 0;
    this.#pending.push(slot);
    this.#request(slot);
  }

  #request(slot: number): void {
    this.#requests[slot] = (this.#requests[slot] as number) + 1;
    this.#due[slot] = this.#nowMs + this.#options.retryMs;
    this.counters.requests++;
    this.#options.solicit(
      this.#table.keys,
      slot * keyWords + 1,
      this.#tags[slot] as number,
      this.#paths[slot] as number,
    );
  }

  #leavePending(slot: number): void {
    const index = this.#pending.indexOf(slot);
    if (index >= 0) this.#pending.splice(index, 1);
  }

  #grow(): void {
    const capacity = this.#states.length * 2;
    const bytes = (old: Uint8Array, length: number) => {
      const array = new Uint8Array(length);
      array.set(old);
      return array;
    };
    const words = (old: Int32Array) => {
      const array = new Int32Array(capacity);
      array.set(old);
      return array;
    };
    this.#macs = bytes(this.#macs, capacity * macBytes);
    this.#states = bytes(this.#states, capacity);
    this.#requests = bytes(this.#requests, capacity);
    this.#due = words(this.#due);
    this.#paths = words(this.#paths);
    this.#tags = words(this.#tags);
  }
}
