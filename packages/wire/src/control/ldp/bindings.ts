import { parseAddress } from '../../ip/address.ts';
import type { LdpPrefix } from './fec.ts';

export interface LdpBinding extends LdpPrefix {
  readonly label: number;
}

export interface LdpBindingOptions {
  /** The own address, which has the first label. */
  readonly address: number;
  /** The neighbour removes the label for the own address (label 3), or sends label 0. */
  readonly isImplicitNull: boolean;
  readonly count: number;
  readonly first: number;
  readonly length: number;
  readonly firstLabel: number;
}

const nullLabel = { explicit: 0, implicit: 3 } as const;
const lastLabel = 0xfffff;

/** Labels that a router gives out: for its own address, then for generated prefixes. */
export class LdpBindings {
  readonly count: number;
  readonly #options: LdpBindingOptions;

  constructor(options: LdpBindingOptions) {
    if (options.firstLabel + options.count - 1 > lastLabel) throw new RangeError('there are too few labels');
    this.count = options.count + 1;
    this.#options = options;
  }

  at(index: number): LdpBinding {
    const { address, isImplicitNull, first, length, firstLabel } = this.#options;
    if (index === 0) return { address, length: 32, label: nullLabel[isImplicitNull ? 'implicit' : 'explicit'] };
    const step = 2 ** (32 - length);
    return { address: (first + (index - 1) * step) >>> 0, length, label: firstLabel + index - 1 };
  }

  /** Whether a label was given out. */
  has(label: number): boolean {
    const { isImplicitNull, firstLabel } = this.#options;
    return (
      (label >= firstLabel && label < firstLabel + this.count - 1) || (label === nullLabel.explicit && !isImplicitNull)
    );
  }

  /** The label of a prefix such as `10.0.0.0/24`. */
  find(prefix: string): LdpBinding | undefined {
    const [text = '', bits] = prefix.split('/');
    if (text.includes(':')) return undefined;
    const address = (parseAddress(text)[3] as number) >>> 0;
    const index = 1 + (address - this.#options.first) / 2 ** (32 - this.#options.length);
    const candidates = [0, ...(Number.isInteger(index) && index > 0 && index < this.count ? [index] : [])];
    return candidates.map((one) => this.at(one)).find((one) => one.address === address && one.length === Number(bits));
  }
}
