import type { Channel } from '../session/channel.ts';
import type { ServeSessionDeps } from '../session/serve-session.ts';
import { pause, pauseOf } from '../timing.ts';
import type { HttpExchangeIndex } from './http-exchange-index.ts';
import type { StepMessage } from './http-exchanges.ts';
import { type HttpMessage, statusOf } from './http-message.ts';
import { readMessage } from './read-http-message.ts';

interface HttpServiceDeps extends Pick<ServeSessionDeps, 'mismatchPolicy' | 'signal' | 'timeoutMs' | 'fail'> {
  readonly exchangeIndex: HttpExchangeIndex;
}

const idleMs = 86_400_000;
const closeGraceMs = 1000;

/** Answers each request as recorded, regardless of the connection it arrives on. */
export const serveHttp = async (channel: Channel, deps: HttpServiceDeps): Promise<void> => {
  const { exchangeIndex, mismatchPolicy, signal, timeoutMs, fail } = deps;
  while (!signal.aborted) {
    // A proxy keeps idle connections open: closing one could race with a new request.
    await channel.wait(1, idleMs);
    const read = await readMessage(channel, { kind: 'request', timeoutMs });
    if ('problem' in read) {
      if (read.problem === 'bad') fail('bad');
      if (read.problem === 'bad') channel.reset();
      break;
    }
    const found = exchangeIndex.find(read.message);
    if (found === undefined) break;
    const { matcher, request, response } = found.entry;
    const { session, script } = matcher;
    if (found.fault !== undefined && !mismatchPolicy.apply(session, request.step, found.fault)) {
      channel.reset();
      return;
    }
    await pause(pauseOf(session.speed, session.steps[response.step]?.gapMs ?? 0, script.play.leastGapMs), signal);
    channel.send(answerOf(response, read.message));
    if (response.message.framing === 'close') break;
    if (isLast(read.message)) {
      // The side that sent `Connection: close` closes first, unless it waits for the server.
      await channel.wait(1, closeGraceMs);
      break;
    }
  }
  channel.close();
};

/** HTTP/1.0 has no chunked encoding. */
const answerOf = ({ message, bytes }: StepMessage, request: HttpMessage): Uint8Array => {
  if (message.framing !== 'chunked' || !request.startLine.endsWith('/1.0')) return bytes;
  const fields = message.fields.filter(({ name }) => name !== 'transfer-encoding' && name !== 'trailer');
  const head = [
    `HTTP/1.1 ${statusOf(message)} `,
    ...fields.map(({ name, value }) => `${name}: ${value}`),
    `content-length: ${message.body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), message.body]);
};

const isLast = ({ startLine, fields }: HttpMessage): boolean => {
  const connection = fields.find(({ name }) => name === 'connection')?.value.toLowerCase() ?? '';
  return connection.includes('close') || (startLine.endsWith('/1.0') && !connection.includes('keep-alive'));
};
