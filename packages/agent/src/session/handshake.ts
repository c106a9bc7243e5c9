import {
  type AgentFacts,
  acceptIdentity,
  ChannelError,
  createEphemeral,
  type Ephemeral,
  type Greeting,
  type Hail,
  type HeldRun,
  type Proof,
  parseJoinToken,
  protocolVersion,
  type SecureChannel,
  type ToAgent,
} from '@rushhour/protocol';
import type { AgentConfig } from '../config.ts';
import type { Log } from '../log/log.ts';
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
  readonly log: Log;
  facts(localAddress: string): Promise<AgentFacts>;
  heldRuns(): HeldRun[];
}

/** The controller refuses this agent, or the agent this controller. A retry is pointless. */
export class Refusal extends Error {}

/** Mutual authentication of agent and controller. */
export class Handshake {
  readonly #deps: HandshakeDeps;
  readonly #introduction: Introduction;
  #offer: { readonly nonce: string; readonly own: Ephemeral } | undefined;
  #controllerKey = '';

  constructor(deps: HandshakeDeps) {
    this.#deps = deps;
    this.#introduction = new Introduction(deps.identity, deps.config.token !== undefined);
  }

  /** Answers the challenge of a new connection. */
  hail(nonce: string): Hail {
    const own = createEphemeral();
    this.#offer = { nonce, own };
    return { type: 'hail', protocol: protocolVersion, ephemeral: own.publicKey };
  }

  /** Checks the key of the controller; nothing about this agent is sent before. Throws `ChannelError`. */
  prove(identity: Extract<ToAgent, { type: 'identity' }>): { channel: SecureChannel; proof: Proof } {
    if (this.#offer === undefined) throw new ChannelError('the controller proved itself without being asked');
    this.#checkKey(identity.key);
    const { channel, digest } = acceptIdentity({ protocol: protocolVersion, ...this.#offer, identity });
    this.#offer = undefined;
    this.#controllerKey = identity.key;
    const { config } = this.#deps;
    const token = this.#introduction.next === 'enrol' ? { token: parseJoinToken(config.token ?? '').secret } : {};
    return { channel, proof: { type: 'proof', ...this.#deps.identity.prove(digest), ...token } };
  }

  async greetingFor(localAddress: string): Promise<Greeting> {
    const { bootId, config, heldRuns, facts } = this.#deps;
    const common = { bootId, facts: await facts(localAddress) };
    return this.#introduction.next === 'hello'
      ? { type: 'hello', ...common, runs: heldRuns() }
      : { type: 'enrol', ...common, name: config.name };
  }

  #checkKey(shown: string): void {
    const { config, identity, log } = this.#deps;
    const pinned = identity.controllerKey ?? parseJoinToken(config.token ?? '').controllerKey;
    if (pinned === shown) return;
    if (pinned !== undefined)
      throw new ChannelError(
        `${config.endpoint.host} shows the key ${shown}, but this agent trusts ${pinned}: another program answers ` +
          'in place of the controller, or the controller was installed anew; in that case enrol with another data folder',
      );
    log.warn(
      `this agent was enrolled without a key of its controller and trusts ${shown} from now on; ` +
        'compare it with the part after the dot of a join token of the controller',
    );
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
    await identity.remember({ controllerId, agentId, packageKeys, controllerKey: this.#controllerKey });
    this.#introduction.welcomed();
  }

  /** Throws `Refusal` if there is nothing left to try. */
  refused(refused: Extract<ToAgent, { type: 'refused' }>): void {
    const final = this.#introduction.refused(refused);
    if (final === undefined) return;
    throw new Refusal(`the controller refuses this agent: ${final.reason} (${final.code})`);
  }
}
