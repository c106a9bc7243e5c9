import type { HttpAnswer } from '@rushhour/protocol';
import type { Scene } from '../driver.ts';
import { proofOf } from '../proof.ts';
import { answerHash, pairsOf, writeMessage } from './http-form.ts';

interface Asked {
  readonly token: string;
  readonly request: { readonly line: string; readonly body: Buffer };
  readonly scene: Scene;
}

const textOf = (token: string): string =>
  `<!doctype html><html><head><title>Test server</title></head><body><p>Request ${token} arrived.</p></body></html>\n`;

const bodyOf = (answer: HttpAnswer, { token, request, scene }: Asked): Buffer => {
  if (answer.mode === 'empty') return Buffer.alloc(0);
  if (answer.mode === 'echo') return Buffer.concat([Buffer.from(`${request.line}\n`, 'latin1'), request.body]);
  return answer.body === undefined ? Buffer.from(textOf(token)) : scene.bytesOf(answer.body);
};

/** What our server answers: the same on both ends, so that a client knows it when it sees it. */
export const answerBytes = (answer: HttpAnswer, asked: Asked): { bytes: Buffer; hash: string; isLast: boolean } => {
  const { token, scene } = asked;
  const body = bodyOf(answer, asked);
  const mark = [{ name: 'X-Traffic-Test', value: `${token};${proofOf(scene.proofKey, token)}` }];
  const isBodiless = answer.status === 204 || answer.status === 304 || /^HEAD /i.test(asked.request.line);
  const bytes = writeMessage({
    startLine: `HTTP/1.1 ${answer.status} ${answer.status < 400 ? 'OK' : 'Error'}`,
    headers: answer.headers,
    body: isBodiless ? Buffer.alloc(0) : body,
    isChunked: !isBodiless && answer.chunked === true,
    added: [
      ...(scene.marker ? mark : []),
      { name: 'Content-Type', value: 'text/html; charset=utf-8' },
      ...(scene.keepAlive ? [] : [{ name: 'Connection', value: 'close' }]),
    ],
  });
  const seen = isBodiless ? Buffer.alloc(0) : body;
  const saysEnd = answer.headers.some(({ name, value }) => /^connection$/i.test(name) && /close/i.test(value));
  return {
    bytes,
    isLast: !scene.keepAlive || saysEnd,
    hash: answerHash(answer, { status: answer.status, headers: pairsOf(answer.headers), body: seen }),
  };
};
