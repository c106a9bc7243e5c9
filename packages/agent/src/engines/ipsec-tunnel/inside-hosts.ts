import type { AddressRange } from '@rushhour/protocol';
import { copyAddress, type HostDirectory, isMappedAddress, parseAddress } from '@rushhour/wire';

const addressWords = 4;
const lastWord = 3;

/** Consecutive addresses inside tunnels, which need neither MACs nor neighbours. Only their last word differs. */
export class InsideHosts implements HostDirectory {
  readonly count: number;
  readonly version: 4 | 6;
  readonly #first: Int32Array;

  /** `offset`: hosts of the range that others have; `max`: how many are used at most. */
  constructor({ start, end }: AddressRange, { offset = 0, max = Number.POSITIVE_INFINITY } = {}) {
    this.#first = parseAddress(start);
    const last = parseAddress(end);
    for (let i = 0; i < lastWord; i++) {
      if (this.#first[i] !== last[i]) throw new RangeError(`${start} to ${end} has more than 2³² addresses`);
    }
    this.version = isMappedAddress(this.#first, 0) ? 4 : 6;
    const size = ((last[lastWord] as number) >>> 0) - ((this.#first[lastWord] as number) >>> 0) + 1;
    this.#first[lastWord] = (this.#first[lastWord] as number) + offset;
    this.count = Math.min(size - offset, max);
  }

  indexOf(address: Int32Array, at: number): number {
    for (let i = 0; i < lastWord; i++) if (address[at + i] !== this.#first[i]) return -1;
    const offset = ((address[at + lastWord] as number) - (this.#first[lastWord] as number)) >>> 0;
    return offset < this.count ? offset : -1;
  }

  writeAddress(index: number, to: Int32Array, at: number): void {
    copyAddress(this.#first, 0, to, at);
    to[at + lastWord] = (this.#first[lastWord] as number) + index;
  }

  sourceFor(index: number, _like: Int32Array, _likeAt: number, to: Int32Array, toAt: number): void {
    this.writeAddress(index, to, toAt);
  }

  writeMac(_index: number, bytes: Uint8Array, at: number): void {
    bytes.fill(0, at, at + 6);
  }

  tagsOf(): number {
    return 0;
  }

  nextHop(_index: number, destination: Int32Array, at: number, to: Int32Array): boolean {
    for (let i = 0; i < addressWords; i++) to[i] = destination[at + i] as number;
    return true;
  }
}
