import { KeyTable } from '../bytes/key-table.ts';

/** Sessions by their address of one or four words; a session has one address at most. */
export class AddressIndex {
  readonly #table: KeyTable;
  #sessions = new Int32Array(16);
  readonly #slots: Int32Array;

  constructor(capacity: number, width: 1 | 4) {
    this.#table = new KeyTable({ width, seed: 0x6a09e667 });
    this.#slots = new Int32Array(capacity).fill(-1);
  }

  /** The session that has an address, or -1. */
  find(words: Int32Array, at: number): number {
    const slot = this.#table.find(words, at);
    return slot < 0 ? -1 : (this.#sessions[slot] as number);
  }

  /** Gives a session an address that no other has. */
  set(session: number, words: Int32Array, at: number): void {
    this.clear(session);
    const slot = this.#table.add(words, at);
    if (slot >= this.#sessions.length) {
      const grown = new Int32Array(this.#sessions.length * 2);
      grown.set(this.#sessions);
      this.#sessions = grown;
    }
    this.#sessions[slot] = session;
    this.#slots[session] = slot;
  }

  clear(session: number): void {
    const slot = this.#slots[session] as number;
    if (slot >= 0) this.#table.remove(slot);
    this.#slots[session] = -1;
  }
}
