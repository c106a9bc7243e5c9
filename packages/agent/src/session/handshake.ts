import type { AgentFacts, Greeting, HeldRun, ToAgent } from '@rushhour/protocol';
import { protocolVersion } from '@rushhour/protocol';
import type { AgentConfig } from '../config.ts';
import type { Identity } from './identity.ts';
import { Introduction } from './introduction.ts';

export interface HandshakeDeps {
  readonly config: AgentConfig;
  readonly identity: Identity;
  /** New with every start of the process. */
  readonly bootId: string;
  facts(localAddress: string): Promise<AgentFacts>;
  heldRuns(): HeldRun[];
}

/** The controller does not want this agent, or the agent not this controller. Trying again makes no sense. */
export class Refusal extends Error {}

/** How agent and controller make sure that they belong together. */
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

  /** Remembers the controller at the first welcome and throws `Refusal` when it is another one later. */
  async accept({ controllerId, agentId }: Extract<ToAgent, { type: 'welcome' }>): Promise<void> {
    const { identity, config } = this.#deps;
    if (identity.controllerId !== undefined && identity.controllerId !== controllerId) {
      throw new Refusal(
        `this agent belongs to controller ${identity.controllerId}, but ${config.endpoint.host} is ${controllerId}; ` +
          'to move it, start it with another data folder',
      );
    }
    await identity.remember(controllerId, agentId);
    this.#introduction.welcomed();
  }

  /** Throws `Refusal` when there is nothing left to try. */
  refused(refused: Extract<ToAgent, { type: 'refused' }>): void {
    const final = this.#introduction.refused(refused);
    if (final === undefined) return;
    throw new Refusal(`the controller refuses this agent: ${final.reason} (${final.code})`);
  }
}
