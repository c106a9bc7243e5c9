import { isSameAddress, parseAddress } from '../../ip/address.ts';
import type { MessageWriter } from '../message-writer.ts';
import { PrefixSequence } from '../prefix-sequence.ts';
import { type LdpPrefix, writePrefixFec } from './fec.ts';
import { ldpTlv, writeTlv } from './pdu.ts';

export interface LdpBinding extends LdpPrefix {
  readonly label: number;
}

export interface LdpBindingOptions {
  /** The own address, which has the first label. */
  readonly address: string;
  /** The neighbour removes the label for the own address (label 3), or sends the label of none. */
  readonly isImplicitNull: boolean;
  readonly count: number;
  /** `10.0.0.0/24`: the first prefix; the others follow it. */
  readonly start: string;
  /** Prefixes between the first one and that of the first label. */
  readonly offset: number;
  readonly firstLabel: number;
}

export const writeMapping = (writer: MessageWriter, binding: LdpBinding): void => {
  writePrefixFec(writer, binding);
  writeTlv(writer, ldpTlv.label, () => writer.u32(binding.label));
};

const nullLabel = { ipv4: 0, ipv6: 2, implicit: 3 } as const;
const lastLabel = 0xfffff;

/** Labels that a router gives out: for its own address, then for generated prefixes. */
export class LdpBindings {
  readonly count: number;
  readonly #options: LdpBindingOptions;
  readonly #prefixes: PrefixSequence;
  readonly #own: LdpBinding;

  constructor(options: LdpBindingOptions) {
    const { address, isImplicitNull, start, firstLabel, count } = options;
    if (firstLabel + count - 1 > lastLabel) throw new RangeError('there are too few labels');
    const isV4 = !address.includes(':');
    const label = isImplicitNull ? nullLabel.implicit : isV4 ? nullLabel.ipv4 : nullLabel.ipv6;
    this.count = count + 1;
    this.#options = options;
    this.#prefixes = new PrefixSequence(start);
    this.#own = { words: parseAddress(address), isV4, length: isV4 ? 32 : 128, label };
  }

  /** Its words are valid until the next call. */
  at(index: number): LdpBinding {
    if (index === 0) return this.#own;
    const { isV4, bits: length } = this.#prefixes;
    const { offset, firstLabel } = this.#options;
    return { words: this.#prefixes.at(offset + index - 1), isV4, length, label: firstLabel + index - 1 };
  }

  /** Whether a label was given out. */
  has(label: number): boolean {
    const { isImplicitNull, firstLabel } = this.#options;
    return (
      (label >= firstLabel && label < firstLabel + this.count - 1) || (label === this.#own.label && !isImplicitNull)
    );
  }

  /** The label of a prefix such as `10.0.0.0/24`. */
  find(prefix: string): LdpBinding | undefined {
    const [text = '', bits] = prefix.split('/');
    const [words, length] = [parseAddress(text), Number(bits)];
    if (length === this.#own.length && isSameAddress(words, 0, this.#own.words, 0)) return this.#own;
    if (length !== this.#prefixes.bits) return undefined;
    const index = 1 + this.#prefixes.indexOf(words) - this.#options.offset;
    return Number.isInteger(index) && index > 0 && index < this.count ? this.at(index) : undefined;
  }
}
