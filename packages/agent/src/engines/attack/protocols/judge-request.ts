import type { HttpExchange } from '@rushhour/protocol';
import type { ServerContext } from '../driver.ts';
import { tokenOf } from '../proof.ts';
import { lineOf, pairsOf, requestHash } from './http-form.ts';
import type { HttpMessage } from './http-reader.ts';
import type { MatchedRequest } from './request-matcher.ts';

type Step = HttpExchange['steps'][number];

/** What is asked of our server to prove that it is ours; undefined of every other request. */
export const nonceIn = ({ startLine }: Pick<HttpMessage, 'startLine'>): string | undefined =>
  /[?&]proof=([0-9a-f]{32})(?:&| |$)/.exec(startLine)?.[1];

/** How a request that was recognised came, and what is answered to it. */
export const judgeRequest = (message: HttpMessage, { attempt, step }: MatchedRequest, context: ServerContext) => {
  const { request, answer } = (attempt.exchange as HttpExchange).steps[step] as Step;
  const line = `${request.method} ${request.path}`;
  const { headers, body: received } = message;
  const rxSha256 = requestHash(request, { line: lineOf(message), headers, body: received });
  const body = request.body === undefined ? Buffer.alloc(0) : context.bytesOf(request.body);
  const wanted = requestHash(request, { line, headers: pairsOf(request.headers), body });
  const token = tokenOf(context.runToken, attempt.id, step);
  // The answer is made from the request as it was meant, so that both ends expect the same.
  return {
    seen: rxSha256 === wanted ? ('full' as const) : ('modified' as const),
    rxSha256,
    answer,
    asked: { token, request: { line, body }, context },
  };
};
