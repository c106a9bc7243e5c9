import { isMappedAddress, parseAddress } from '../ip/address.ts';

/** Prefixes that follow a first one without a gap, computed from their index. */
export class PrefixSequence {
  /** Length of each prefix. */
  readonly bits: number;
  readonly isV4: boolean;
  readonly #words: Int32Array;
  readonly #firstWord: number;
  readonly #wordOfStep: number;
  readonly #shift: number;
  readonly #address = new Int32Array(4);

  /** `10.0.0.0/24`, `2001:db8::/64`: the first prefix. */
  constructor(first: string) {
    const [text = '', length] = first.split('/');
    this.isV4 = !text.includes(':');
    this.bits = Number(length);
    this.#words = parseAddress(text);
    this.#firstWord = this.isV4 ? 3 : 0;
    this.#wordOfStep = this.bits === 0 ? -1 : this.#firstWord + ((this.bits - 1) >> 5);
    this.#shift = 31 - ((this.bits - 1) & 31);
  }

  /** Words of the address of prefix `index` (see ip/address.ts); valid until the next call. */
  at(index: number): Int32Array {
    const address = this.#address;
    address.set(this.#words);
    let word = this.#wordOfStep;
    if (word < 0) return address;
    const step = index * 2 ** this.#shift;
    let carry = Math.floor(step / 2 ** 32);
    let sum = ((address[word] as number) >>> 0) + (step % 2 ** 32);
    for (;;) {
      address[word] = sum % 2 ** 32;
      carry += Math.floor(sum / 2 ** 32);
      if (carry === 0 || word === this.#firstWord) return address;
      word--;
      sum = ((address[word] as number) >>> 0) + (carry % 2 ** 32);
      carry = Math.floor(carry / 2 ** 32);
    }
  }

  /** Which prefix of the sequence has an address; negative or no whole number: none. */
  indexOf(address: Int32Array): number {
    if (isMappedAddress(address, 0) !== this.isV4) return -1;
    let index = 0;
    for (let word = this.#firstWord; word < 4; word++)
      index = index * 2 ** 32 + (((address[word] as number) >>> 0) - ((this.#words[word] as number) >>> 0));
    return index / 2 ** ((this.isV4 ? 32 : 128) - this.bits);
  }
}
