import { type AgentFacts, type Greeting, type HeldRun, protocolVersion, type ToAgent } from '@rushhour/protocol';
import type { AgentConfig } from '../config.ts';
import type { Identity } from './identity.ts';

type Kind = Greeting['type'];
type Refused = Extract<ToAgent, { type: 'refused' }>;

/**
 * Selects the greeting. An enrolled agent sends `hello`; if the controller does not know it, it enrols again if it has
 * a token. Other agents send `enrol`; if the token was used, the welcome may have been lost and `hello` succeeds.
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

  /** Returns the refusal if there is nothing else to try. */
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

export interface HandshakeDeps {
  readonly config: AgentConfig;
  readonly identity: Identity;
  /** New at each start of the process. */
  readonly bootId: string;
  facts(localAddress: string): Promise<AgentFacts>;
  heldRuns(): HeldRun[];
}

/** The controller refuses this agent, or the agent this controller. A retry is pointless. */
export class Refusal extends Error {}

/** Mutual authentication of agent and controller. */
export class Handshake {
  readonly #deps: HandshakeDeps;
  readonly #introduction: Introduction;

  constructor(deps: HandshakeDeps) {
    this.#deps = deps;
    this.#introduction = new Introduction(deps.identity, deps.config.token !== undefined);
  }

  async greetingFor(nonce: string, localAddress: string): Promise<Greeting> {
    const { identity, bootId, config, heldRuns, facts } = this.#deps;
    const common = { protocol: protocolVersion, bootId, facts: await facts(localAddress), uuid: identity.uuid };
    const proof = identity.answer(nonce);
    return this.#introduction.next === 'hello'
      ? { type: 'hello', ...common, ...proof, runs: heldRuns() }
      : { type: 'enrol', ...common, ...proof, token: config.token ?? '', name: config.name };
  }

  /** Stores the controller at the first welcome; throws `Refusal` if it is a different one later. */
  async accept({ controllerId, agentId, packageKeys }: Extract<ToAgent, { type: 'welcome' }>): Promise<void> {
    const { identity, config } = this.#deps;
    if (identity.controllerId !== undefined && identity.controllerId !== controllerId) {
      throw new Refusal(
        `this agent belongs to controller ${identity.controllerId}, but ${config.endpoint.host} is ${controllerId}; ` +
          'to move it, start it with another data folder',
      );
    }
    await identity.remember({ controllerId, agentId, packageKeys });
    this.#introduction.welcomed();
  }

  /** Throws `Refusal` if there is nothing left to try. */
  refused(refused: Extract<ToAgent, { type: 'refused' }>): void {
    const final = this.#introduction.refused(refused);
    if (final === undefined) return;
    throw new Refusal(`the controller refuses this agent: ${final.reason} (${final.code})`);
  }
}
