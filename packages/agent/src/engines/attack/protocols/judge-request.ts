import type { HttpExchange } from '@rushhour/protocol';
import type { ServerContext } from '../driver.ts';
import { arrivalOf, proofOf, tokenOf } from '../proof.ts';
import { isHarmless, requestChanges } from './http/http-changes.ts';
import { framedBody, lineOf, markerHeader, pairsOf, requestHash } from './http/http-form.ts';
import { type HttpMessage, headerIn } from './http/http-reader.ts';
import type { MatchedRequest } from './request-matcher.ts';

type Step = HttpExchange['steps'][number];

/** In the target, or in the marker of a call. */
const nonceIn = (message: Pick<HttpMessage, 'startLine' | 'headers'>) =>
  /[?&]proof=([0-9a-f]{32})(?:&id=(\d{1,9}))?(?:&| |$)/.exec(message.startLine) ??
  /^proof=([0-9a-f]{32})(?:&id=(\d{1,9}))?$/.exec(headerIn(message, markerHeader) ?? '');

/** The answer to a proof request; undefined for other requests. It also tells whether an attempt has arrived. */
export const proofIn = (
  message: Pick<HttpMessage, 'startLine' | 'headers'>,
  context: ServerContext,
): string | undefined => {
  const [, nonce, id] = nonceIn(message) ?? [];
  if (nonce === undefined) return undefined;
  const attempt = Number(id ?? -1);
  return proofOf(context.proofKey, context.hasSeen(attempt) ? arrivalOf(nonce, attempt) : nonce);
};

/** Compares a matched request with the attempt and builds the answer. */
export const judgeRequest = (
  message: HttpMessage,
  { attempt, step, isBare }: MatchedRequest,
  context: ServerContext,
) => {
  const { request, answer } = (attempt.exchange as HttpExchange).steps[step] as Step;
  const line = `${request.method} ${request.path}`;
  const { headers, body: received } = message;
  const rxSha256 = requestHash(request, { line: lineOf(message), headers, body: received });
  const sent = request.body === undefined ? Buffer.alloc(0) : context.bytesOf(request.body);
  const body = framedBody(request, sent);
  const wanted = requestHash(request, { line, headers: pairsOf(request.headers), body });
  const token = tokenOf(context.runToken, attempt.id, step, isBare);
  const isSame = rxSha256 === wanted;
  const changes = isSame ? [] : requestChanges(request, body, { line: lineOf(message), headers, body: received });
  // The answer is built from the original request, so that both ends expect the same bytes.
  return {
    seen: isSame || (changes.length > 0 && isHarmless(changes)) ? ('full' as const) : ('modified' as const),
    noted: { ...(changes.length > 0 && { changes }), ...(isBare && { isBare }) },
    rxSha256,
    answer,
    asked: { token, request: { line, body }, context },
  };
};
