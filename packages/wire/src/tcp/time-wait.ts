import { KeyTable } from '../bytes/key-table.ts';

const none = -1;

/** What a connection in TIME-WAIT still has to know. */
export interface TimeWaitRecord {
  sndNxt: number;
  rcvNxt: number;
  hasTimestamps: boolean;
  tsOffset: number;
  tsRecent: number;
  tsRecentAt: number;
  path: number;
  pseudoSum: number;
}

export const createTimeWaitRecord = (): TimeWaitRecord => ({
  sndNxt: 0,
  rcvNxt: 0,
  hasTimestamps: false,
  tsOffset: 0,
  tsRecent: 0,
  tsRecentAt: 0,
  path: 0,
  pseudoSum: 0,
});

const fields = 9;

/**
 * Connections in TIME-WAIT, about 100 bytes each in typed arrays. Records expire in the order of their last renewal;
 * at the limit the oldest one goes early.
 */
export class TimeWaitTable {
  readonly keys: KeyTable;
  readonly #max: number;
  #records: Int32Array;
  /** Doubly linked list by age. */
  #older: Int32Array;
  #newer: Int32Array;
  #oldest = none;
  #newest = none;

  constructor({ width, seed, max }: { width: number; seed: number; max: number }) {
    this.keys = new KeyTable({ width, seed });
    this.#max = max;
    this.#records = new Int32Array(16 * fields);
    this.#older = new Int32Array(16);
    this.#newer = new Int32Array(16);
  }

  get count(): number {
    return this.keys.count;
  }

  find(key: Int32Array, at: number): number {
    return this.keys.find(key, at);
  }

  /** `expires`: tick. All records of a table wait equally long, or expire late behind a longer one. */
  add(key: Int32Array, at: number, record: TimeWaitRecord, expires: number): void {
    if (this.#max === 0) return;
    if (this.keys.count >= this.#max) this.remove(this.#oldest);
    const slot = this.keys.add(key, at);
    if (slot >= this.#older.length) this.#grow();
    const records = this.#records;
    const base = slot * fields;
    records[base] = record.sndNxt;
    records[base + 1] = record.rcvNxt;
    records[base + 2] = record.hasTimestamps ? 1 : 0;
    records[base + 3] = record.tsOffset;
    records[base + 4] = record.tsRecent;
    records[base + 5] = record.tsRecentAt;
    records[base + 6] = record.path;
    records[base + 7] = record.pseudoSum;
    records[base + 8] = expires;
    this.#append(slot);
  }

  read(slot: number, record: TimeWaitRecord): void {
    const records = this.#records;
    const base = slot * fields;
    record.sndNxt = records[base] as number;
    record.rcvNxt = records[base + 1] as number;
    record.hasTimestamps = records[base + 2] === 1;
    record.tsOffset = records[base + 3] as number;
    record.tsRecent = records[base + 4] as number;
    record.tsRecentAt = records[base + 5] as number;
    record.path = records[base + 6] as number;
    record.pseudoSum = records[base + 7] as number;
  }

  /** Restarts the wait. */
  renew(slot: number, expires: number): void {
    this.#unlink(slot);
    this.#append(slot);
    this.#records[slot * fields + 8] = expires;
  }

  remove(slot: number): void {
    this.#unlink(slot);
    this.keys.remove(slot);
  }

  expire(tick: number): void {
    while (this.#oldest !== none && (this.#records[this.#oldest * fields + 8] as number) <= tick)
      this.remove(this.#oldest);
  }

  #append(slot: number): void {
    this.#older[slot] = this.#newest;
    this.#newer[slot] = none;
    if (this.#newest === none) this.#oldest = slot;
    else this.#newer[this.#newest] = slot;
    this.#newest = slot;
  }

  #unlink(slot: number): void {
    const older = this.#older[slot] as number;
    const newer = this.#newer[slot] as number;
    if (older === none) this.#oldest = newer;
    else this.#newer[older] = newer;
    if (newer === none) this.#newest = older;
    else this.#older[newer] = older;
  }

  #grow(): void {
    const capacity = this.#older.length * 2;
    const grown = (old: Int32Array, length: number) => {
      const array = new Int32Array(length);
      array.set(old);
      return array;
    };
    this.#records = grown(this.#records, capacity * fields);
    this.#older = grown(this.#older, capacity);
    this.#newer = grown(this.#newer, capacity);
  }
}
