import { copyOf } from '../../bytes/memory.ts';
import type { LsaReference, OspfFormat } from './format.ts';
import { compareLsa, type LsaHeader, lsaHeaderBytes, lsaKey, maxAge } from './lsa.ts';

export interface StoredLsa {
  /** Without the age of its stay in the database. */
  readonly bytes: Uint8Array;
  readonly header: LsaHeader;
  /** When it was installed, in milliseconds. */
  readonly at: number;
}

/** The link-state database of an area. */
export class Lsdb {
  readonly #entries = new Map<string, StoredLsa>();
  readonly #read: OspfFormat['readLsaHeader'];

  constructor({ readLsaHeader }: Pick<OspfFormat, 'readLsaHeader'>) {
    this.#read = readLsaHeader;
  }

  get size(): number {
    return this.#entries.size;
  }

  find(reference: LsaReference): StoredLsa | undefined {
    return this.#entries.get(lsaKey(reference));
  }

  values(): Iterable<StoredLsa> {
    return this.#entries.values();
  }

  install(bytes: Uint8Array, now: number): StoredLsa {
    const header = this.#read(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0);
    const stored = { bytes, header, at: now };
    this.#entries.set(lsaKey(header), stored);
    return stored;
  }

  remove(header: LsaReference): void {
    this.#entries.delete(lsaKey(header));
  }

  /** Positive if a received instance is newer than the one in the database, or there is none. */
  compare(header: LsaHeader, now: number): number {
    const own = this.find(header);
    return own === undefined ? 1 : compareLsa(header, { ...own.header, age: ageOf(own, now) });
  }

  /** Removes and returns what has reached the end of its life. */
  expire(now: number): StoredLsa[] {
    const old = [...this.#entries.values()].filter((entry) => ageOf(entry, now) >= maxAge);
    for (const { header } of old) this.remove(header);
    return old;
  }
}

/** Age in seconds, at most `maxAge`. */
export const ageOf = ({ header, at }: StoredLsa, now: number): number =>
  Math.min(header.age + Math.floor((now - at) / 1000), maxAge);

/** The LSA with its present age, one second more for the way to the neighbour. */
export const agedLsa = (entry: StoredLsa, now: number): Uint8Array => {
  const bytes = copyOf(entry.bytes);
  const age = Math.min(ageOf(entry, now) + 1, maxAge);
  bytes[0] = age >>> 8;
  bytes[1] = age & 255;
  return bytes;
};

export const agedHeader = (entry: StoredLsa, now: number): Uint8Array => copyOf(agedLsa(entry, now), 0, lsaHeaderBytes);

/** The LSA at the end of its life: flooding it removes it everywhere. */
export const expiredLsa = (entry: StoredLsa, now: number): StoredLsa => {
  const bytes = copyOf(entry.bytes);
  bytes[0] = maxAge >>> 8;
  bytes[1] = maxAge & 255;
  return { bytes, header: { ...entry.header, age: maxAge }, at: now };
};
