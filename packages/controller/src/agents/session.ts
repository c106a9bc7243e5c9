import { randomBytes } from 'node:crypto';
import { type Greeting, protocolVersion, type ToController } from '@rushhour/protocol';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { createAdmission } from './admission.ts';
import { Connection, closeCode } from './connection.ts';
import type { FileSender } from './file-sender.ts';
import type { LogBook } from './log-book.ts';
import { BadMessage, parseMessage, protocolOf } from './message.ts';
import type { Presence } from './presence.ts';
import { Refusal } from './refusal.ts';
import type { Registry } from './registry.ts';

export interface SessionDeps {
  admission: ReturnType<typeof createAdmission>;
  registry: Registry;
  controllerId: string;
  files: FileSender;
  logs: LogBook;
  keepFacts(agentId: number, facts: Extract<ToController, { type: 'facts' }>['facts']): void;
  log: Logger;
}

const greetingMs = 10_000;

/** Speaks with one agent from the challenge to the end of the connection. Nothing an agent sends can throw out of it. */
export const openSession = (socket: WebSocket, address: string, deps: SessionDeps) => {
  const { registry, log } = deps;
  const connection = new Connection(socket, address);
  const nonce = randomBytes(32).toString('base64url');
  let state: 'challenged' | 'judged' | Presence = 'challenged';
  const late = setTimeout(() => connection.close(closeCode.violation, 'no greeting in time'), greetingMs);

  const end = (reason: string) => {
    log.warn(
      { address, reason, ...(typeof state === 'object' && { agentId: state.agentId }) },
      'bad message of an agent',
    );
    connection.close(closeCode.violation, reason);
  };
  const onText = (text: string) => {
    if (state === 'judged') throw new BadMessage('nothing may be said before the welcome');
    if (state !== 'challenged') {
      const message = parseMessage(text);
      // What a connection still says after another took its place concerns nobody.
      return registry.find(state.agentId) === state ? hear(state, connection, message, deps) : undefined;
    }
    const greeting = parseGreeting(text);
    state = 'judged';
    greet(greeting, nonce, connection, deps).then(
      (presence) => {
        state = presence;
      },
      (error) => refuse(connection, error, log),
    );
  };

  socket.on('message', (data: Buffer, isBinary) => {
    try {
      if (isBinary) throw new BadMessage('agents send no bytes');
      onText(data.toString());
    } catch (error) {
      if (error instanceof Refusal) refuse(connection, error, log);
      else if (error instanceof BadMessage) end(error.message);
      else {
        log.error({ err: error, address }, 'a message of an agent could not be handled');
        connection.close(1011, 'internal error');
      }
    }
  });
  // Broken frames and those beyond the limit: the socket closes by itself.
  socket.on('error', (error) => log.info({ address, err: error }, 'the connection of an agent broke'));
  socket.on('close', (code) => {
    clearTimeout(late);
    deps.files.stop(connection);
    if (typeof state === 'object') registry.leave(state, connection, code);
  });
  socket.once('message', () => clearTimeout(late));
  connection.send({ type: 'challenge', nonce });
};

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

const greet = async (greeting: Greeting, nonce: string, connection: Connection, deps: SessionDeps) => {
  const { admission, registry, controllerId, log } = deps;
  const presence = await admission.admit(greeting, nonce, connection);
  const { agentId, bootId } = presence;
  connection.send({ type: 'welcome', agentId, controllerId, limits: registry.limits() });
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
      connection.send({ type: 'beat', sentAt: message.sentAt, at: Date.now() });
      return registry.heard(presence, message);
    case 'facts':
      deps.keepFacts(presence.agentId, message.facts);
      break;
    case 'logs':
      logs.add(presence.agentId, message.lines);
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
