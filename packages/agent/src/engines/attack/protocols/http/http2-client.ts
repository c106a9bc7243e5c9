import { type ClientHttp2Session, connect as connectHttp2, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Duplex } from 'node:stream';
import { errorCodeOf } from '../../../../net/metrics/count-error.ts';
import { isLocalSocketError } from '../../../../net/metrics/generator-load-metrics.ts';
import type { TlsOffer } from '../../../../net/tls/dialer.ts';
import { dialSocket } from '../../../../net/transport/dial-socket.ts';
import type { AttackRoute, ClientContext, ClientOutcome } from '../../driver.ts';
import { connectOf, endOf, startTls } from '../../transport/client-connection.ts';

/** A received response. */
export interface Http2Answer {
  readonly status: number;
  /** Those after the body included. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

export interface Http2Request {
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

/** Outcome of one request; `answer` is set when it is complete. */
export interface Http2Outcome extends Pick<ClientOutcome, 'ip' | 'port' | 'connect' | 'end' | 'ttfbMs' | 'rxBytes'> {
  readonly fullOffer: TlsOffer | undefined;
  readonly answer: Http2Answer | undefined;
  readonly isComplete: boolean;
  readonly ownError: string | undefined;
}

interface Progress {
  fullOffer: TlsOffer | undefined;
  ip: string;
  port: number;
  connect: ClientOutcome['connect'];
  end: ClientOutcome['end'];
  ttfbMs: number;
  rxBytes: number;
  answer: Http2Answer | undefined;
  isComplete: boolean;
  ownError: string | undefined;
}

/** Opens a connection for HTTP/2: negotiated by ALPN over TLS, otherwise with prior knowledge. */
const open = (route: AttackRoute, context: ClientContext, progress: Progress, onReady: () => void): Duplex => {
  const { isTls } = route;
  const tcp = dialSocket(route);
  tcp.on('connect', () => {
    progress.ip = tcp.localAddress ?? '';
    progress.port = tcp.localPort ?? 0;
    progress.connect = isTls ? 'tls-failed' : 'ok';
    if (!isTls) onReady();
  });
  if (!isTls) return tcp;
  const { socket: tls, fullOffer } = startTls(route, context, tcp, ['h2']);
  progress.fullOffer = fullOffer;
  tls.on('secureConnect', () => {
    if (tls.alpnProtocol === 'h2') {
      progress.connect = 'ok';
      onReady();
    } else tls.destroy(new Error('the other side does not speak HTTP/2'));
  });
  return tls;
};

const headersOf = (headers: IncomingHttpHeaders): Http2Answer['headers'] =>
  Object.entries(headers)
    .filter(([name]) => !name.startsWith(':'))
    .flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one.trim()]));

/** Undefined when the request cannot be expressed in HTTP/2. */
const begin = (session: ClientHttp2Session, { headers, body }: Http2Request, progress: Progress) => {
  try {
    return session.request(headers, { endStream: body.length === 0 });
  } catch (error) {
    progress.ownError = errorCodeOf(error as Error);
    return undefined;
  }
};

const exchange = (session: ClientHttp2Session, request: Http2Request, progress: Progress, done: () => void): void => {
  const startedAt = performance.now();
  const hasBody = request.body.length > 0;
  const stream = begin(session, request, progress);
  if (stream === undefined) {
    done();
    return;
  }
  const parts: Buffer[] = [];
  let trailers: Http2Answer['headers'] = [];
  stream.on('response', (headers) => {
    progress.ttfbMs = performance.now() - startedAt;
    stream.on('end', () => {
      const status = Number(headers[':status'] ?? 0);
      progress.answer = { status, headers: [...headersOf(headers), ...trailers], body: Buffer.concat(parts) };
    });
  });
  stream.on('trailers', (fields) => {
    trailers = headersOf(fields);
  });
  stream.on('data', (part: Buffer) => {
    progress.rxBytes += part.length;
    parts.push(part);
  });
  stream.on('error', () => {
    if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) progress.end = 'reset';
  });
  stream.on('close', done);
  if (hasBody) stream.end(request.body, () => (progress.isComplete = true));
  else progress.isComplete = true;
};

/** Sends one request on a new connection. Network errors never throw. */
export const askHttp2 = async (
  request: Http2Request,
  route: AttackRoute,
  context: ClientContext,
): Promise<Http2Outcome> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const progress: Progress = {
    ...{ ip: '', port: 0, connect: 'none', end: 'none', ttfbMs: 0, rxBytes: 0 },
    ...{ answer: undefined, isComplete: false, ownError: undefined, fullOffer: undefined },
  };
  const fail = (error: Error) => {
    const code = errorCodeOf(error);
    if (isLocalSocketError(code)) progress.ownError = code;
    if (progress.connect === 'none') progress.connect = connectOf[code] ?? 'unreachable';
    else if (progress.end === 'none') progress.end = endOf(code);
    resolve();
  };
  const timer = setTimeout(() => {
    if (progress.connect === 'none') progress.connect = 'timeout';
    else progress.end = 'timeout';
    resolve();
  }, route.timeoutMs);
  let session: ClientHttp2Session | undefined;
  const socket = open(route, context, progress, () => {
    session = connectHttp2(`${route.isTls ? 'https' : 'http'}://peer.invalid`, { createConnection: () => socket });
    session.on('error', fail);
    session.on('close', () => resolve());
    exchange(session, request, progress, resolve);
  });
  socket.on('error', fail);
  socket.on('close', () => {
    if (session === undefined) resolve();
  });
  context.signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
  if (progress.answer === undefined && progress.end === 'none' && progress.connect === 'ok') progress.end = 'fin';
  session?.destroy();
  socket.destroy();
  return { ...progress, end: progress.answer === undefined ? progress.end : 'response' };
};
