import { constants, performServerHandshake, type ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { ServerContext, ServerOutcome } from '../../driver.ts';
import { hashOfBytes } from '../../proof.ts';
import { judgeRequest, proofIn } from '../judge-request.ts';
import type { RequestMatcher } from '../request-matcher.ts';
import { grpcParts, isGrpc } from './grpc-proof.ts';
import { type AnswerParts, answerParts } from './http-answer.ts';
import { markerHeader } from './http-form.ts';
import type { HttpMessage } from './http-reader.ts';
import { pairsIn, plainHeaders } from './http2-form.ts';

const preface = Buffer.from('PRI * HTTP/2.0\r\n');
const maxBytes = 64 * 1024 * 1024;

export const isHttp2Preface = (bytes: Buffer): boolean => bytes.subarray(0, preface.length).equals(preface);

interface Http2ServerDeps {
  readonly requestMatcher: RequestMatcher;
  readonly context: ServerContext;
  readonly ends: Pick<ServerOutcome, 'ip' | 'port' | 'peerIp' | 'peerPort'>;
}

/** Serves an HTTP/2 connection and reports its requests. */
export const receiveHttp2 = (socket: Duplex, deps: Http2ServerDeps): void => {
  const session = performServerHandshake(socket);
  session.on('error', () => {});
  session.on('stream', (stream, _headers, _flags, rawHeaders) => {
    const parts: Buffer[] = [];
    let length = 0;
    stream.on('error', () => {});
    stream.on('data', (part: Buffer) => {
      length += part.length;
      if (length > maxBytes) stream.close(constants.NGHTTP2_CANCEL);
      else parts.push(part);
    });
    stream.on('end', () => answer(stream, messageOf(rawHeaders as unknown as string[], Buffer.concat(parts)), deps));
  });
};

const messageOf = (raw: readonly string[], body: Buffer): HttpMessage => {
  const pairs = pairsIn(raw);
  const pseudo = (name: string) => pairs.find(([found]) => found === name)?.[1] ?? '';
  const headers = pairs.filter(([name]) => !name.startsWith(':'));
  const bytes = body.length + raw.reduce((sum, text) => sum + text.length, 0);
  return { startLine: `${pseudo(':method')} ${pseudo(':path')} HTTP/2`, headers, body, bytes };
};

const respond = (stream: ServerHttp2Stream, { status, headers, trailers, body }: Omit<AnswerParts, 'hash'>): void => {
  try {
    stream.respond({ ':status': status, ...plainHeaders(headers) }, { waitForTrailers: trailers.length > 0 });
  } catch {
    // Such as two values of a header that may have one only.
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    return;
  }
  stream.on('wantTrailers', () => stream.sendTrailers(plainHeaders(trailers)));
  stream.end(body);
};

const respondProof = (stream: ServerHttp2Stream, message: HttpMessage, proof: string): void => {
  if (isGrpc(message)) {
    respond(stream, { ...grpcParts, headers: [...grpcParts.headers, { name: markerHeader, value: proof }] });
    return;
  }
  const headers = [{ name: 'content-type', value: 'text/plain' }];
  respond(stream, { status: 200, headers, trailers: [], body: Buffer.from(proof) });
};

const answer = (
  stream: ServerHttp2Stream,
  message: HttpMessage,
  { requestMatcher, context, ends }: Http2ServerDeps,
): void => {
  if (stream.destroyed) return;
  const proof = proofIn(message, context);
  if (proof !== undefined) {
    respondProof(stream, message, proof);
    return;
  }
  const known = requestMatcher.find(message);
  const common = { ...ends, end: 'none', atMs: context.elapsedMs(), rxBytes: message.bytes } as const;
  if (known === undefined) {
    const unmatched = { attempt: null, step: 0, correlation: 'none', seen: 'modified' } as const;
    context.record({ ...common, ...unmatched, rxSha256: hashOfBytes(message.body), sentBytes: 0, sentSha256: '' });
    stream.respond({ ':status': 404 }, { endStream: true });
    return;
  }
  const { seen, noted, rxSha256, answer: wanted, asked } = judgeRequest(message, known, context);
  const { hash, ...parts } = answerParts(wanted, asked);
  const isSilent = wanted.mode === 'silent';
  context.record({
    ...common,
    ...{ attempt: known.attempt.id, step: known.step, correlation: known.correlation, seen, rxSha256 },
    ...noted,
    ...(isSilent ? { sentBytes: 0, sentSha256: '' } : { sentBytes: parts.body.length, sentSha256: hash }),
  });
  if (isSilent) return;
  respond(stream, parts);
};
