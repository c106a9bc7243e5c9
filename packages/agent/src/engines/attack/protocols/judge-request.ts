import type { HttpExchange } from '@rushhour/protocol';
import type { ServerContext } from '../driver.ts';
import { tokenOf } from '../proof.ts';
import { lineOf, pairsOf, requestHash } from './http-form.ts';
import type { HttpMessage } from './http-reader.ts';
import type { MatchedRequest } from './request-matcher.ts';

type Step = HttpExchange['steps'][number];

/** The nonce of a proof request; undefined for other requests. */
export const nonceIn = ({ startLine }: Pick<HttpMessage, 'startLine'>): string | undefined =>
  /[?&]proof=([0-9a-f]{32})(?:&| |$)/.exec(startLine)?.[1];

/** Compares a matched request with the attempt and builds the answer. */
export const judgeRequest = (message: HttpMessage, { attempt, step }: MatchedRequest, context: ServerContext) => {
  const { request, answer } = (attempt.exchange as HttpExchange).steps[step] as Step;
  const line = `${request.method} ${request.path}`;
  const { headers, body: received } = message;
  const rxSha256 = requestHash(request, { line: lineOf(message), headers, body: received });
  const body = request.body === undefined ? Buffer.alloc(0) : context.bytesOf(request.body);
  const wanted = requestHash(request, { line, headers: pairsOf(request.headers), body });
  const token = tokenOf(context.runToken, attempt.id, step);
  // The answer is built from the original request, so that both ends expect the same bytes.
  return {
    seen: rxSha256 === wanted ? ('full' as const) : ('modified' as const),
    rxSha256,
    answer,
    asked: { token, request: { line, body }, context },
  };
};
