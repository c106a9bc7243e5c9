import { type Memory, mapMemory, writeAddress } from '../kernel/memory.ts';
import { requireOpenssl } from '../openssl/library.ts';

/** Events of `SSL_poll`. */
export const pollEvent = {
  closed: 4,
  readFailed: 16,
  writeFailed: 32,
  readable: 64,
  writable: 128,
  connection: 256,
  stream: 512,
  uniStream: 1024,
  canOpen: 2048,
  canOpenUni: 4096,
} as const;

/** A connection, stream or listener whose events are awaited. Only the set writes its index. */
export interface Polled {
  readonly ssl: number;
  pollIndex: number;
  onReady(events: number, now: number): void;
}

const itemBytes = 32;
const itemWords = itemBytes / 4;
const [typeWord, addressWord, eventsWord, readyWord] = [0, 2, 4, 6] as const;
const sslType = 2;
const doesNotHandleEvents = 1;
const tailBytes = 32;

/** Everything of an endpoint that can become ready: one call asks for all. */
export class PollSet {
  readonly #openssl = requireOpenssl();
  readonly #members: Polled[] = [];
  readonly #ready: Polled[] = [];
  #memory: Memory;
  #words: Int32Array;
  #capacity: number;

  constructor(capacity = 126) {
    this.#capacity = capacity;
    this.#memory = mapMemory({ length: tailBytes + capacity * itemBytes });
    this.#words = this.#memory.int32;
  }

  add(member: Polled, events: number): void {
    const index = this.#members.push(member) - 1;
    if (index >= this.#capacity) this.#grow();
    member.pollIndex = index;
    const at = this.#wordOf(index);
    this.#words[at + typeWord] = sslType;
    this.#words[at + typeWord + 1] = 0;
    writeAddress(this.#words, at + addressWord, member.ssl);
    this.#words[at + eventsWord + 1] = 0;
    this.#words[at + readyWord] = 0;
    this.#words[at + readyWord + 1] = 0;
    this.await(member, events);
  }

  /** Changes the events that a member waits for. */
  await(member: Polled, events: number): void {
    this.#words[this.#wordOf(member.pollIndex) + eventsWord] = events;
  }

  /** The last member moves to the freed index. */
  remove(member: Polled): void {
    const { pollIndex: index } = member;
    if (index < 0) return;
    member.pollIndex = -1;
    const last = this.#members.pop() as Polled;
    if (last === member) return;
    this.#members[index] = last;
    last.pollIndex = index;
    const from = this.#wordOf(this.#members.length);
    this.#words.copyWithin(this.#wordOf(index), from, from + itemWords);
  }

  /** Tells the members that are ready. Members may be added and removed meanwhile. */
  dispatch(now: number): void {
    const count = this.#members.length;
    if (count === 0) return;
    const items = this.#memory.addressOf(tailBytes, count * itemBytes);
    const [time, ready] = [this.#memory.addressOf(0, 16), this.#memory.addressOf(16, 8)];
    if (this.#openssl.SSL_poll(items, count, itemBytes, time, doesNotHandleEvents, ready) !== 1) {
      this.#openssl.ERR_clear_error();
      return;
    }
    if (this.#words[4] === 0) return;
    const owners = this.#ready;
    for (let index = 0; index < count; index++) {
      if (this.#words[this.#wordOf(index) + readyWord] !== 0) owners.push(this.#members[index] as Polled);
    }
    const batch = owners.splice(0);
    const events = batch.map((owner) => this.#words[this.#wordOf(owner.pollIndex) + readyWord] as number);
    for (const [index, owner] of batch.entries()) {
      if (owner.pollIndex >= 0) owner.onReady(events[index] as number, now);
    }
  }

  release(): void {
    for (const member of this.#members) member.pollIndex = -1;
    this.#members.length = 0;
    this.#memory.release();
  }

  #wordOf(index: number): number {
    return (tailBytes + index * itemBytes) / 4;
  }

  #grow(): void {
    const capacity = this.#capacity * 2;
    const larger = mapMemory({ length: tailBytes + capacity * itemBytes });
    larger.bytes.set(this.#memory.bytes.subarray(0, tailBytes + this.#capacity * itemBytes));
    this.#memory.release();
    this.#memory = larger;
    this.#words = larger.int32;
    this.#capacity = capacity;
  }
}
