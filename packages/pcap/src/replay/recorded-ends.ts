import { latin1 } from '../bytes.ts';

/** Numbers addresses and ports of one side as they first come; those of each size by themselves. */
export class RecordedEnds {
  readonly #addresses = new Map<string, number>();
  readonly #ports = new Map<number, number>();
  readonly #counts = { 4: 0, 16: 0 };

  /** How many addresses of this size there are. */
  countOf(size: 4 | 16): number {
    return this.#counts[size];
  }

  addressAt(bytes: Uint8Array, at: number, size: 4 | 16): number {
    const key = latin1(bytes, at, at + size);
    const known = this.#addresses.get(key);
    if (known !== undefined) return known;
    const index = this.#counts[size]++;
    this.#addresses.set(key, index);
    return index;
  }

  /** Undefined for an address that this side has not shown. */
  findAddress(bytes: Uint8Array, at: number, size: 4 | 16): number | undefined {
    return this.#addresses.get(latin1(bytes, at, at + size));
  }

  port(port: number): number {
    const known = this.#ports.get(port) ?? this.#ports.size;
    this.#ports.set(port, known);
    return known;
  }
}
