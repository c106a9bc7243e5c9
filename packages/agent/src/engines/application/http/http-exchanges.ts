import type { Round } from '../round.ts';
import type { ScriptSession } from '../script.ts';
import { type HttpMessage, methodOf, NotHttp, parseMessage, statusOf } from './http-message.ts';

/** A message of a session and the step in which it ends. */
export interface StepMessage {
  readonly message: HttpMessage;
  readonly bytes: Buffer;
  readonly step: number;
}

export interface HttpExchange {
  readonly request: StepMessage;
  readonly response: StepMessage;
}

/** The requests of a session with their responses; undefined when the session is not HTTP/1.x throughout. */
export const exchangesOf = (round: Round, position: number): HttpExchange[] | undefined => {
  const session = round.script.sessions[position] as ScriptSession;
  if (session.protocol !== 'tcp' || session.appProtocol !== 'http') return undefined;
  try {
    const requests = messagesOf(round, position, 'client');
    const methods = requests.map(({ message }) => methodOf(message));
    const responses = messagesOf(round, position, 'server', methods);
    if (requests.length !== responses.length) return undefined;
    return requests.map((request, index) => ({ request, response: responses[index] as StepMessage }));
  } catch (error) {
    if (error instanceof NotHttp) return undefined;
    throw error;
  }
};

/** Interim responses (1xx) are hop-by-hop and skipped. */
const messagesOf = (round: Round, position: number, side: 'client' | 'server', methods: readonly string[] = []) => {
  const { steps } = round.script.sessions[position] as ScriptSession;
  const own = steps.flatMap((step, index) => (step.side === side ? [index] : []));
  const ends: { step: number; end: number }[] = [];
  let length = 0;
  const parts = own.map((step) => {
    const bytes = round.bytes(position, step);
    length += bytes.length;
    ends.push({ step, end: length });
    return bytes;
  });
  const all = Buffer.concat(parts);
  const messages: StepMessage[] = [];
  const kind = side === 'client' ? 'request' : 'response';
  for (let at = 0; at < all.length; ) {
    const message = parseMessage(all.subarray(at), { kind, method: methods[messages.length], isEnded: true });
    if (message === undefined) throw new NotHttp('ends in the middle of a message');
    const end = at + message.length;
    const step = ends.find((one) => one.end >= end)?.step ?? 0;
    const isInterim = kind === 'response' && statusOf(message) < 200;
    if (!isInterim) messages.push({ message, bytes: all.subarray(at, end), step });
    at = end;
  }
  return messages;
};
