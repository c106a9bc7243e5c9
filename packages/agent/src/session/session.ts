import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentHealth, AgentLimits, ToAgent, ToController } from '@rushhour/protocol';
import type { Log } from '../log/log.ts';
import { backOffMs } from './back-off.ts';
import { ClockSync } from './clock-sync.ts';
import { Connection, type ConnectionEvents } from './connection.ts';
import { Handshake, type HandshakeDeps, Refusal } from './handshake.ts';
import { Heartbeat } from './heartbeat.ts';
import type { BadMessage } from './parse-message.ts';

/** Messages passed on by an open session; the session handles the others. */
export type SessionMessage = Exclude<ToAgent, { type: HandshakeMessage['type'] | 'beat' | 'limits' }>;

type HandshakeMessage = Extract<ToAgent, { type: 'challenge' | 'identity' | 'proven' | 'welcome' | 'refused' }>;
type OpenMessage = Exclude<ToAgent, HandshakeMessage>;

export interface SessionDeps extends HandshakeDeps {
  readonly log: Log;
  health(): Promise<AgentHealth>;
  onOpen(): void;
  onClose(): void;
  onLimits(limits: AgentLimits): void;
  onMessage(message: SessionMessage): void;
  onFile: ConnectionEvents['file'];
  /** An invalid message; the controller may wait for an answer. */
  onBadMessage(problem: BadMessage): void;
}

const welcomeTimeoutMs = 15_000;
const settledAfterMs = 5000;
const maxBacklogBytes = 8 * 1024 * 1024;

/** The agent's session with its controller, over consecutive connections. */
export class Session {
  readonly clock = new ClockSync();
  readonly #deps: SessionDeps;
  readonly #handshake: Handshake;
  readonly #heartbeat: Heartbeat;
  readonly #closing = new AbortController();
  #connection: Connection | undefined;
  #state: 'closed' | 'greeting' | 'welcoming' | 'open' = 'closed';
  #welcoming: Promise<void> = Promise.resolve();
  #contactAt = performance.now();
  #refusal: Refusal | undefined;
  #peer: Connection['peer'];

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#handshake = new Handshake(deps);
    this.#heartbeat = new Heartbeat({
      clock: this.clock,
      health: () => deps.health(),
      send: (message) => this.send(message),
      onSilence: () => this.#connection?.drop('the controller is silent'),
    });
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Time since the last message of the controller in a session. */
  get silentMs(): number {
    return performance.now() - this.#contactAt;
  }

  /** Local address of the connection to the controller. */
  get localAddress(): string {
    return this.#connection?.localAddress ?? '';
  }

  /** Endpoint of the controller at the last connection. */
  get peer(): Connection['peer'] {
    return this.#peer;
  }

  /** False if the send buffer is full: messages that can wait should. */
  get hasRoom(): boolean {
    return this.isOpen && (this.#connection?.backlogBytes ?? 0) < maxBacklogBytes;
  }

  /** False without a session. Messages may still be lost with the connection. */
  send(message: ToController): boolean {
    return this.isOpen && (this.#connection?.send(message) ?? false);
  }

  /** Pauses or resumes reading. */
  hold(isHeld: boolean): void {
    this.#connection?.hold(isHeld);
  }

  /** Keeps the session up until `close`; throws `Refusal`. */
  async run(): Promise<void> {
    const { signal } = this.#closing;
    for (let attempt = 0; !signal.aborted; attempt++) {
      const beganAt = performance.now();
      const reason = await this.#connect();
      if (signal.aborted) return;
      if (this.#refusal !== undefined) throw this.#refusal;
      if (performance.now() - beganAt > settledAfterMs) attempt = 0;
      const waitMs = backOffMs(attempt);
      this.#deps.log.warn(`no connection to the controller: ${reason}; next attempt in ${Math.round(waitMs)} ms`);
      await sleep(waitMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Closes after everything was sent. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#connection?.close();
  }

  /** Runs one connection; resolves with the reason why it ended. */
  async #connect(): Promise<string> {
    const { promise: ended, resolve } = Promise.withResolvers<string>();
    const connection = new Connection(this.#deps.config, {
      message: (message) => this.#handle(connection, message),
      file: this.#deps.onFile,
      bad: (problem) => this.#handleBad(problem),
      tooLarge: ({ type }) => this.#deps.log.error(`a message of type ${type} is too large and was not sent`),
      closed: resolve,
    });
    this.#connection = connection;
    this.#state = 'greeting';
    const timer = setTimeout(() => {
      if (!this.isOpen) connection.drop('the controller sent no welcome');
    }, welcomeTimeoutMs);
    const reason = await ended;
    clearTimeout(timer);
    this.#heartbeat.stop();
    this.#connection = undefined;
    const wasOpen = this.isOpen;
    this.#state = 'closed';
    if (wasOpen) this.#deps.onClose();
    return reason;
  }

  #handle(connection: Connection, message: ToAgent): void {
    // The first welcome is stored on disk; messages right after it wait.
    if (this.#state === 'welcoming') void this.#welcoming.then(() => this.#handleNow(connection, message));
    else this.#handleNow(connection, message);
  }

  #handleNow(connection: Connection, message: ToAgent): void {
    if (this.#connection !== connection) return;
    if (!connection.isSecure) this.#handleInsecure(connection, message);
    else if (message.type === 'challenge' || message.type === 'identity') connection.drop(`unexpected ${message.type}`);
    else if (message.type === 'proven') this.#greet(connection);
    else if (message.type === 'welcome') this.#welcome(connection, message);
    else if (message.type === 'refused') this.#refuse(connection, message);
    else if (!this.isOpen) this.#deps.log.warn(`${message.type} came before the welcome`);
    else this.#handleOpen(message);
  }

  /** Before the controller has proven itself. A refusal may come from anyone: it never ends the agent. */
  #handleInsecure(connection: Connection, message: ToAgent): void {
    if (message.type === 'challenge') connection.send(this.#handshake.hail(message.nonce));
    else if (message.type === 'identity') this.#prove(connection, message);
    else if (message.type === 'refused') connection.drop(`refused: ${message.reason} (${message.code})`);
    else connection.drop(`${message.type} came before the controller proved its identity`);
  }

  #prove(connection: Connection, identity: Extract<ToAgent, { type: 'identity' }>): void {
    try {
      const { channel, proof } = this.#handshake.prove(identity);
      connection.secure(channel);
      connection.send(proof);
    } catch (error) {
      connection.drop((error as Error).message);
    }
  }

  #handleOpen(message: OpenMessage): void {
    this.#contactAt = performance.now();
    this.#heartbeat.heard(message);
    if (message.type === 'limits') this.#applyLimits(message.limits);
    else if (message.type !== 'beat') this.#deps.onMessage(message);
  }

  #applyLimits(limits: AgentLimits): void {
    this.#heartbeat.start(limits);
    this.#deps.onLimits(limits);
  }

  #handleBad(problem: BadMessage): void {
    this.#deps.log.warn(problem.message);
    if (this.isOpen) this.#deps.onBadMessage(problem);
  }

  #greet(connection: Connection): void {
    this.#handshake.greetingFor(connection.localAddress).then(
      (greeting) => connection.send(greeting),
      (error: Error) => connection.drop(error.message),
    );
  }

  #welcome(connection: Connection, welcome: Extract<ToAgent, { type: 'welcome' }>): void {
    this.#state = 'welcoming';
    this.#welcoming = this.#handshake.accept(welcome).then(
      () => {
        if (this.#connection !== connection) return;
        this.#state = 'open';
        this.#peer = connection.peer;
        this.#contactAt = performance.now();
        this.#deps.log.info(`connected to ${this.#deps.config.endpoint.host} as agent ${welcome.agentId}`);
        this.#applyLimits(welcome.limits);
        this.#deps.onOpen();
      },
      (error: Error) => this.#giveUp(connection, error),
    );
  }

  #refuse(connection: Connection, refused: Extract<ToAgent, { type: 'refused' }>): void {
    try {
      this.#handshake.refused(refused);
      connection.drop(`refused: ${refused.reason} (${refused.code})`);
    } catch (error) {
      this.#giveUp(connection, error as Error);
    }
  }

  #giveUp(connection: Connection, error: Error): void {
    if (error instanceof Refusal) this.#refusal = error;
    connection.drop(error.message);
  }
}
