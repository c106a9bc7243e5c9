import type { HttpAnswer } from '@rushhour/protocol';
import type { AttackContext } from '../../driver.ts';
import { proofOf } from '../../proof.ts';
import { answerFields, answerHash, pairsOf, writeMessage } from './http-form.ts';

export interface Asked {
  readonly token: string;
  readonly request: { readonly line: string; readonly body: Buffer };
  readonly context: AttackContext;
}

const textOf = (token: string): string =>
  `<!doctype html><html><head><title>Test server</title></head><body><p>Request ${token} arrived.</p></body></html>\n`;

const bodyOf = (answer: HttpAnswer, { token, request, context }: Asked): Buffer => {
  if (answer.mode === 'empty') return Buffer.alloc(0);
  if (answer.mode === 'echo') return Buffer.concat([Buffer.from(`${request.line}\n`, 'latin1'), request.body]);
  return answer.body === undefined ? Buffer.from(textOf(token)) : context.bytesOf(answer.body);
};

export interface AnswerParts {
  readonly status: number;
  /** Including headers added by the server. */
  readonly headers: HttpAnswer['headers'];
  readonly trailers: HttpAnswer['headers'];
  readonly body: Buffer;
  readonly hash: string;
}

const isBodiless = ({ status }: HttpAnswer, line: string) => status === 204 || status === 304 || /^HEAD /i.test(line);

/** The answer of our server. Both ends compute it, so that the client recognises it. */
export const answerParts = (answer: HttpAnswer, asked: Asked): AnswerParts => {
  const { token, context, request } = asked;
  const { status } = answer;
  const body = isBodiless(answer, request.line) ? Buffer.alloc(0) : bodyOf(answer, asked);
  const own = new Set(answer.headers.map(({ name }) => name.trim().toLowerCase()));
  const added = [
    ...(context.marker ? [{ name: 'X-Traffic-Test', value: `${token};${proofOf(context.proofKey, token)}` }] : []),
    { name: 'Content-Type', value: 'text/html; charset=utf-8' },
  ].filter(({ name }) => !own.has(name.toLowerCase()));
  const hash = answerHash(answer, { status, headers: pairsOf(answerFields(answer)), body });
  return { status, headers: [...added, ...answer.headers], trailers: answer.trailers ?? [], body, hash };
};

/** The answer in HTTP/1.1 format. */
export const answerBytes = (answer: HttpAnswer, asked: Asked): { bytes: Buffer; hash: string; isLast: boolean } => {
  const { keepAlive } = asked.context;
  const { status, headers, body, hash } = answerParts(answer, asked);
  const bytes = writeMessage({
    startLine: `HTTP/1.1 ${status} ${status < 400 ? 'OK' : 'Error'}`,
    headers,
    body,
    isChunked: !isBodiless(answer, asked.request.line) && answer.chunked === true,
    added: keepAlive ? [] : [{ name: 'Connection', value: 'close' }],
  });
  const saysEnd = headers.some(({ name, value }) => /^connection$/i.test(name) && /close/i.test(value));
  return { bytes, hash, isLast: !keepAlive || saysEnd };
};
