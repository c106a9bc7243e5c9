import type { PlaneCommand } from '@rushhour/protocol';
import type { Commandable, PreparedEngine } from '../../engine.ts';
import { aborted } from '../../net/loop/aborted.ts';

const reportMs = 1000;

/** Interfaces that speak a protocol of their links, with nothing above them. */
export interface EmulatedLinks {
  /** What they are together, for messages. */
  readonly noun: string;
  readonly interfaces: readonly string[];
  start(): void;
  /** Takes an interface down on purpose, or up again. */
  setLink(name: string, isUp: boolean): void;
  report(): void;
  close(): void;
}

/** Runs links until the job ends; commands take them down and up. */
export class LinksRun implements PreparedEngine, Commandable {
  readonly #links: EmulatedLinks;
  readonly #signal: AbortSignal;

  constructor(links: EmulatedLinks, signal: AbortSignal) {
    this.#links = links;
    this.#signal = signal;
  }

  async start(): Promise<void> {
    const timer = setInterval(() => this.#links.report(), reportMs);
    this.#links.start();
    try {
      await aborted(this.#signal);
    } finally {
      clearInterval(timer);
      this.#links.report();
    }
  }

  command({ action, values = [] }: PlaneCommand): { readonly rejected?: string } {
    const { noun, interfaces } = this.#links;
    if (action !== 'linkDown' && action !== 'linkUp') return { rejected: `${noun} has nothing to ${action}` };
    const unknown = values.find((name) => !interfaces.includes(name));
    if (unknown !== undefined) return { rejected: `${unknown} is not an interface of this entry` };
    for (const name of values.length === 0 ? interfaces : values) this.#links.setLink(name, action === 'linkUp');
    return {};
  }

  async close(): Promise<void> {
    this.#links.close();
  }
}
