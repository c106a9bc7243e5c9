import { textOfAddress } from '../address-bytes.ts';
import { PrefixSequence } from '../prefix-sequence.ts';

/** Groups that follow a first one, by their number. */
export class GroupSequence {
  readonly #groups: PrefixSequence;
  readonly #size: number;

  constructor(first: Uint8Array) {
    this.#size = first.length;
    this.#groups = new PrefixSequence(`${textOfAddress(first)}/${first.length * 8}`);
  }

  at(index: number): Uint8Array {
    const words = this.#groups.at(index);
    const bytes = new Uint8Array(this.#size);
    const view = new DataView(bytes.buffer);
    const first = 4 - this.#size / 4;
    for (let word = first; word < 4; word++) view.setInt32((word - first) * 4, words[word] as number);
    return bytes;
  }

  /** Negative or no whole number: none of them. */
  indexOf(address: Uint8Array): number {
    const words = Int32Array.of(0, 0, 0xffff, 0);
    const view = new DataView(address.buffer, address.byteOffset, address.byteLength);
    const first = 4 - this.#size / 4;
    for (let word = first; word < 4; word++) words[word] = view.getInt32((word - first) * 4);
    return this.#groups.indexOf(words);
  }
}
