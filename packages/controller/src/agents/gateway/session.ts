import { type KeyObject, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AttemptRecord,
  answerHail,
  ChannelError,
  type Greeting,
  type Proof,
  Rfc2544Record,
  RowsRecord,
  type SecureChannel,
  ToController,
} from '@rushhour/protocol';
import type { Logger } from 'pino';
import type { TSchema } from 'typebox';
import { clockNow } from '../../clock.ts';
import { createSchemaCheck, type SchemaCheck } from '../../schema-check.ts';
import { type createAdmission, otherProtocol } from './admission/admission.ts';
import { Refusal } from './admission/refusal.ts';
import { Connection, closeCode } from './connection.ts';
import type { Arriving } from './endpoint.ts';
import type { FileSender } from './files/file-sender.ts';
import type { LogBook } from './log-book.ts';
import { createMessageLimits } from './message-limits.ts';
import type { Presence } from './peers/presence.ts';
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

/** By the `side` of a record. */
const recordChecks = Map.groupBy(
  [...membersOf(AttemptRecord), ...membersOf(Rfc2544Record), RowsRecord].map((schema) => ({
    side: (schema as unknown as { properties: { side: { const: string } } }).properties.side.const as unknown,
    check: createSchemaCheck(schema, 'first'),
  })),
  ({ side }) => side,
);

/** Escapes of NUL and of surrogates; only they can bring characters into a text that a database refuses. */
const suspicious = /\\u(0000|d[89a-f])/i;
const clean = (text: string) => text.toWellFormed().replaceAll('\0', '');

/** Cleans texts on the way: a log line may be cut in the middle of a character. */
const parseJson = (text: string): unknown => {
  try {
    if (!suspicious.test(text)) return JSON.parse(text);
    return JSON.parse(text, (_, value) => (typeof value === 'string' ? clean(value) : value));
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
  return withValidRecords(value as ToController);
};

/** Records are read for reports long after they were stored: those that are none are left out. */
const withValidRecords = (message: ToController): ToController => {
  if (message.type !== 'summaries') return message;
  const isRecord = (record: unknown) => {
    const side = (record as { side?: unknown } | null)?.side;
    return recordChecks.get(side)?.some(({ check }) => check(record).length === 0) ?? false;
  };
  for (const summary of message.summaries) {
    if (summary.records !== undefined) summary.records = summary.records.filter(isRecord);
  }
  return message;
};

/** Agents of protocol 1 begin with a greeting. */
const isGreetingOfProtocol1 = (text: string) => {
  const { type } = (parseJson(text) ?? {}) as { type?: unknown };
  return type === 'hello' || type === 'enrol';
};

export interface SessionDeps {
  admission: ReturnType<typeof createAdmission>;
  registry: Registry;
  controllerId: string;
  /** Proves the controller to agents. */
  key: KeyObject;
  /** Keys that may sign upgrade packages, for agents that enrol. */
  packageKeys: string[];
  files: FileSender;
  logs: LogBook;
  keepFacts(agentId: number, facts: Extract<ToController, { type: 'facts' }>['facts']): void;
  log: Logger;
}

const greetingMs = 10_000;

/**
 * The steps to a session. The controller signs the hail of the agent, the agent proves its identity; only then may it
 * send more than a few bytes.
 */
type State =
  | { readonly step: 'challenged' | 'judged' }
  | { readonly step: 'hailed'; readonly digest: string; readonly protocol: number }
  | { readonly step: 'proven'; readonly proof: Proof }
  | { readonly step: 'open'; readonly presence: Presence };

/** Speaks with one agent from the challenge to the end of the connection. Nothing an agent sends can throw out of it. */
class Session {
  readonly #deps: SessionDeps;
  readonly #arriving: Arriving;
  readonly #connection: Connection;
  readonly #nonce = randomBytes(32).toString('base64url');
  readonly #late: NodeJS.Timeout;
  readonly #limits = createMessageLimits();
  #channel: SecureChannel | undefined;
  #state: State = { step: 'challenged' };

  constructor(arriving: Arriving, deps: SessionDeps) {
    const { socket, address } = arriving;
    this.#deps = deps;
    this.#arriving = arriving;
    this.#connection = new Connection(socket, address);
    this.#late = setTimeout(() => this.#connection.close(closeCode.violation, 'no greeting in time'), greetingMs);
    arriving.onExcess = () => this.#refuse(tooLong());
    socket.on('message', (data: Buffer, isBinary) => this.#take(data, isBinary));
    // Broken frames and those beyond the limit: the socket closes by itself.
    socket.on('error', (error) => deps.log.info({ address, err: error }, 'the connection of an agent broke'));
    socket.on('close', (code) => this.#finish(code));
    this.#connection.send({ type: 'challenge', nonce: this.#nonce });
  }

  #take(data: Buffer, isBinary: boolean) {
    if (!this.#connection.isOpen) return;
    try {
      this.#read(this.#opened(data, isBinary));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The text of a message; once there is a channel, only sealed ones are accepted. */
  #opened(data: Buffer, isBinary: boolean): string {
    if (this.#channel === undefined) {
      if (isBinary) throw new BadMessage('the first message must be a text');
      return data.toString();
    }
    if (!isBinary) throw new BadMessage('the message is not sealed');
    const { kind, content } = this.#channel.open(data);
    if (kind !== 'json') throw new BadMessage('agents send no files');
    return content.toString();
  }

  #read(text: string) {
    const state = this.#state;
    if (state.step === 'challenged') return this.#hail(text);
    const message = parseMessage(text);
    if (state.step === 'hailed') return this.#prove(message, state);
    if (state.step === 'proven') return this.#greet(message, state.proof);
    if (state.step !== 'open') throw new BadMessage('nothing may be said before the answer');
    if (!this.#limits.accepts(message.type)) throw new BadMessage(`too many messages of type ${message.type}`);
    // What a connection still says after another took its place concerns nobody.
    if (this.#deps.registry.find(state.presence.agentId) === state.presence)
      hear(state.presence, this.#connection, message, this.#deps);
  }

  #hail(text: string) {
    if (isGreetingOfProtocol1(text)) throw otherProtocol(1);
    const hail = parseMessage(text);
    if (hail.type !== 'hail') throw new BadMessage('the first message must be a hail');
    const { identity, channel, digest } = answerHail(hail, this.#nonce, this.#deps.key);
    this.#connection.send({ type: 'identity', ...identity });
    this.#connection.secure(channel);
    this.#channel = channel;
    this.#state = { step: 'hailed', digest, protocol: hail.protocol };
  }

  #prove(message: ToController, { digest, protocol }: { digest: string; protocol: number }) {
    if (message.type !== 'proof') throw new BadMessage('the hail is followed by the proof');
    this.#state = { step: 'judged' };
    this.#deps.admission.prove(message, digest, protocol).then(
      (proof) => {
        this.#state = { step: 'proven', proof };
        this.#arriving.known();
        this.#connection.send({ type: 'proven' });
      },
      (error) => this.#refuse(error, message),
    );
  }

  #greet(message: ToController, proof: Proof) {
    if (message.type !== 'enrol' && message.type !== 'hello')
      throw new BadMessage('the proof is followed by a greeting');
    clearTimeout(this.#late);
    this.#state = { step: 'judged' };
    letIn(message, proof, this.#connection, this.#deps).then(
      (presence) => {
        this.#state = { step: 'open', presence };
      },
      (error) => this.#refuse(error, proof),
    );
  }

  #refuse(error: unknown, proof?: Proof) {
    // The identity is recorded as shown: the signature may be what was refused.
    if (error instanceof Refusal && proof?.token !== undefined)
      void this.#deps.admission.refused(proof.uuid, error, this.#connection.address);
    refuse(this.#connection, error, this.#deps.log);
  }

  #fail(error: unknown) {
    const { log } = this.#deps;
    const { address } = this.#connection;
    if (error instanceof Refusal) return this.#refuse(error);
    const who = this.#state.step === 'open' ? { agentID: this.#state.presence.agentId, address } : { address };
    const isBad = error instanceof BadMessage || error instanceof ChannelError;
    if (isBad) log.warn({ ...who, reason: error.message }, 'bad message of an agent');
    else log.error({ ...who, err: error }, 'a message of an agent could not be handled');
    this.#connection.close(isBad ? closeCode.violation : closeCode.failure, isBad ? error.message : 'internal error');
  }

  #finish(code: number) {
    clearTimeout(this.#late);
    this.#deps.files.stop(this.#connection);
    if (this.#state.step === 'open') this.#deps.registry.leave(this.#state.presence, this.#connection, code);
  }
}

const tooLong = () =>
  new Refusal(
    'TOO_LONG',
    'too much was sent before the proof of identity; an agent of an earlier version must be installed anew and stays enrolled',
    true,
  );

export const openSession = (arriving: Arriving, deps: SessionDeps): void => {
  new Session(arriving, deps);
};

const letIn = async (greeting: Greeting, proof: Proof, connection: Connection, deps: SessionDeps) => {
  const { admission, registry, controllerId, packageKeys, log } = deps;
  const presence = await admission.admit(greeting, proof, connection);
  const { agentId, bootId } = presence;
  connection.send({ type: 'welcome', agentId, controllerId, limits: registry.limits(), packageKeys });
  registry.enter(presence, { bootId, runs: greeting.type === 'hello' ? greeting.runs : [] });
  log.info({ agentID: agentId, address: connection.address }, 'agent connected');
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

const offerWaitMs = 10_000;
const offerPollMs = 100;

/**
 * Sends a file that the agent was asked to fetch, and no other. After a restart of the controller an agent may continue a
 * transfer before its run is sent again, so the request waits for a while.
 */
const serveOffered = async (
  agentId: number,
  connection: Connection,
  request: Extract<ToController, { type: 'needFile' }>,
  { registry, files, log }: SessionDeps,
) => {
  const deadline = performance.now() + offerWaitMs;
  while (!registry.isOffered(agentId, request.sha256)) {
    if (performance.now() > deadline || !connection.isOpen) {
      log.warn({ agentID: agentId, sha256: request.sha256 }, 'an agent asked for a file that is none of its runs');
      connection.send({ type: 'noFile', sha256: request.sha256, reason: 'it is not a file of your runs' });
      return;
    }
    await sleep(offerPollMs);
  }
  if (connection.isOpen) files.serve(connection, request);
};

/** One message of an agent that is in. */
const hear = (presence: Presence, connection: Connection, message: ToController, deps: SessionDeps) => {
  const { registry, logs } = deps;
  switch (message.type) {
    case 'hail':
    case 'proof':
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
      void serveOffered(presence.agentId, connection, message, deps);
      break;
    default:
      registry.report(presence.agentId, message);
  }
  registry.heard(presence);
};
