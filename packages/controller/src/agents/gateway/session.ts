import { randomBytes } from 'node:crypto';
import { type Greeting, protocolVersion, ToController } from '@rushhour/protocol';
import type { Logger } from 'pino';
import type { TSchema } from 'typebox';
import type { WebSocket } from 'ws';
import { clockNow } from '../../clock.ts';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';
import type { createAdmission } from './admission.ts';
import { Connection, closeCode } from './connection.ts';
import type { FileSender } from './file-sender.ts';
import type { LogBook } from './log-book.ts';
import type { Presence } from './presence.ts';
import { Refusal } from './refusal.ts';
import type { Registry } from './registry.ts';

/** The agent said something it must not say; its session ends with this sentence. */
export class BadMessage extends Error {
  override readonly name = 'BadMessage';
}

const membersOf = (schema: TSchema): TSchema[] =>
  'anyOf' in schema ? (schema.anyOf as TSchema[]).flatMap(membersOf) : [schema];

/** By the `type` of a message, so that a message is checked against one schema and not against all. */
const checks = new Map<unknown, SchemaCheck>(
  membersOf(ToController).map((schema) => [
    (schema as unknown as { properties: { type: { const: string } } }).properties.type.const,
    createSchemaCheck(schema, 'first'),
  ]),
);

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new BadMessage('not JSON', { cause });
  }
};

/** Throws `BadMessage` unless the text is a message of the protocol. */
export const parseMessage = (text: string): ToController => {
  const value = parseJson(text);
  const type = (value as { type?: unknown } | null)?.type;
  const check = checks.get(type);
  if (check === undefined) throw new BadMessage(`no message of type ${String(type).slice(0, 32)} is known`);
  const [issue] = check(value);
  if (issue) throw new BadMessage(`${String(type)}${issue.path} ${issue.message}`);
  return value as ToController;
};

/** The version an agent speaks, told before anything else is looked at: what follows may be of another form. */
export const protocolOf = (text: string) => {
  const { protocol } = (parseJson(text) ?? {}) as { protocol?: unknown };
  return typeof protocol === 'number' ? protocol : undefined;
};

export interface SessionDeps {
  admission: ReturnType<typeof createAdmission>;
  registry: Registry;
  controllerId: string;
  /** Keys that may sign upgrade packages, for agents that enrol. */
  packageKeys: string[];
  files: FileSender;
  logs: LogBook;
  keepFacts(agentId: number, facts: Extract<ToController, { type: 'facts' }>['facts']): void;
  log: Logger;
}

const greetingMs = 10_000;

/** Speaks with one agent from the challenge to the end of the connection. Nothing an agent sends can throw out of it. */
class Session {
  readonly #deps: SessionDeps;
  readonly #connection: Connection;
  readonly #nonce = randomBytes(32).toString('base64url');
  readonly #decided = Promise.withResolvers<void>();
  readonly #late: NodeJS.Timeout;
  #state: 'challenged' | 'judged' | Presence = 'challenged';

  constructor(socket: WebSocket, address: string, deps: SessionDeps) {
    this.#deps = deps;
    this.#connection = new Connection(socket, address);
    this.#late = setTimeout(() => this.#connection.close(closeCode.violation, 'no greeting in time'), greetingMs);
    socket.on('message', (data: Buffer, isBinary) => this.#take(data, isBinary));
    // Broken frames and those beyond the limit: the socket closes by itself.
    socket.on('error', (error) => deps.log.info({ address, err: error }, 'the connection of an agent broke'));
    socket.on('close', (code) => this.#finish(code));
    this.#connection.send({ type: 'challenge', nonce: this.#nonce });
  }

  get decided() {
    return this.#decided.promise;
  }

  #take(data: Buffer, isBinary: boolean) {
    if (!this.#connection.isOpen) return;
    try {
      if (isBinary) throw new BadMessage('agents send no bytes');
      this.#read(data.toString());
    } catch (error) {
      this.#fail(error);
    }
  }

  #read(text: string) {
    const state = this.#state;
    if (state === 'judged') throw new BadMessage('nothing may be said before the welcome');
    if (state === 'challenged') return this.#greet(parseGreeting(text));
    const message = parseMessage(text);
    // What a connection still says after another took its place concerns nobody.
    if (this.#deps.registry.find(state.agentId) === state) hear(state, this.#connection, message, this.#deps);
  }

  #greet(greeting: Greeting) {
    clearTimeout(this.#late);
    this.#state = 'judged';
    letIn(greeting, this.#nonce, this.#connection, this.#deps).then(
      (presence) => {
        this.#state = presence;
        this.#decided.resolve();
      },
      (error) => refuse(this.#connection, error, this.#deps.log),
    );
  }

  #fail(error: unknown) {
    const { log } = this.#deps;
    const { address } = this.#connection;
    if (error instanceof Refusal) return refuse(this.#connection, error, log);
    const who = typeof this.#state === 'object' ? { agentId: this.#state.agentId, address } : { address };
    const isBad = error instanceof BadMessage;
    if (isBad) log.warn({ ...who, reason: error.message }, 'bad message of an agent');
    else log.error({ ...who, err: error }, 'a message of an agent could not be handled');
    this.#connection.close(isBad ? closeCode.violation : closeCode.failure, isBad ? error.message : 'internal error');
  }

  #finish(code: number) {
    clearTimeout(this.#late);
    this.#decided.resolve();
    this.#deps.files.stop(this.#connection);
    if (typeof this.#state === 'object') this.#deps.registry.leave(this.#state, this.#connection, code);
  }
}

/** Resolves when the agent is in, or the connection over. */
export const openSession = (socket: WebSocket, address: string, deps: SessionDeps): Promise<void> =>
  new Session(socket, address, deps).decided;

const parseGreeting = (text: string): Greeting => {
  try {
    const message = parseMessage(text);
    if (message.type === 'enrol' || message.type === 'hello') return message;
  } catch (error) {
    const protocol = protocolOf(text);
    if (protocol === undefined || protocol === protocolVersion) throw error;
    throw new Refusal('INCOMPATIBLE', `it speaks protocol ${protocol}, the controller ${protocolVersion}`, true);
  }
  throw new BadMessage('the first message must be a greeting');
};

const letIn = async (greeting: Greeting, nonce: string, connection: Connection, deps: SessionDeps) => {
  const { admission, registry, controllerId, packageKeys, log } = deps;
  const presence = await admission.admit(greeting, nonce, connection);
  const { agentId, bootId } = presence;
  connection.send({ type: 'welcome', agentId, controllerId, limits: registry.limits(), packageKeys });
  registry.enter(presence, { bootId, runs: greeting.type === 'hello' ? greeting.runs : [] });
  log.info({ agentId, address: connection.address }, 'agent connected');
  return presence;
};

const refuse = (connection: Connection, error: unknown, log: Logger) => {
  const refusal =
    error instanceof Refusal ? error : new Refusal('UNAVAILABLE', 'the controller could not look it up', true);
  if (refusal !== error) log.error({ err: error }, 'an agent could not be let in');
  const { code, message: reason, retry } = refusal;
  log.info({ address: connection.address, code, reason }, 'agent refused');
  connection.send({ type: 'refused', code, reason, retry });
  connection.close(closeCode.refused, code);
};

/** One message of an agent that is in. */
const hear = (presence: Presence, connection: Connection, message: ToController, deps: SessionDeps) => {
  const { registry, logs, files } = deps;
  switch (message.type) {
    case 'enrol':
    case 'hello':
      throw new BadMessage('a session has one greeting');
    case 'heartbeat':
      connection.send({ type: 'beat', sentAt: message.sentAt, at: clockNow() });
      return registry.heard(presence, message);
    case 'facts':
      deps.keepFacts(presence.agentId, message.facts);
      break;
    case 'logs':
      logs.add(presence.agentId, message.lines);
      break;
    case 'dumps':
      registry.dumps(presence.agentId, message.dumps);
      break;
    case 'answer':
      connection.settle(message);
      break;
    case 'needFile':
      files.serve(connection, message);
      break;
    default:
      registry.report(presence.agentId, message);
  }
  registry.heard(presence);
};
