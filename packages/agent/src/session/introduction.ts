import type { Greeting, ToAgent } from '@rushhour/protocol';
import type { Identity } from './identity.ts';

type Kind = Greeting['type'];
type Refused = Extract<ToAgent, { type: 'refused' }>;

/**
 * Which greeting to use. An enrolled agent says hello; if the controller no longer knows it, a token lets it enrol
 * again. An agent without a welcome enrols; if the token is used up, its welcome may have been lost and hello succeeds.
 */
export class Introduction {
  readonly #identity: Identity;
  readonly #hasToken: boolean;
  #tried = new Set<Kind>();
  #refusal: Refused | undefined;

  constructor(identity: Identity, hasToken: boolean) {
    this.#identity = identity;
    this.#hasToken = hasToken;
  }

  get next(): Kind {
    const [first, second]: [Kind, Kind] = this.#identity.isEnrolled ? ['hello', 'enrol'] : ['enrol', 'hello'];
    return this.#tried.has(first) ? second : first;
  }

  welcomed(): void {
    this.#tried.clear();
    this.#refusal = undefined;
  }

  /** The refusal that ends all attempts, if this one does. */
  refused(refusal: Refused): Refused | undefined {
    if (refusal.retry) return undefined;
    const kind = this.next;
    this.#tried.add(kind);
    this.#refusal ??= refusal;
    const mayEnrol = kind === 'hello' && refusal.code === 'UNKNOWN_AGENT' && this.#hasToken;
    const mayBeKnown = kind === 'enrol' && refusal.code.startsWith('TOKEN_');
    return this.#tried.size < 2 && (mayEnrol || mayBeKnown) ? undefined : this.#refusal;
  }
}
