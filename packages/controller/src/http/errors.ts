import type { Socket } from 'node:net';
import { api, type Collection, type Route } from '@rushhour/contract';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, invalid, statusOf, unavailable } from '../errors.ts';
import { StorageUnavailable } from '../store/engine/database.ts';

const routes = Object.values(api as Record<string, Collection>).flatMap(({ routes }) => Object.values<Route>(routes));

const known = [...Map.groupBy(routes, ({ path }) => path)].map(([path, same]) => ({
  pattern: new RegExp(`^/v1${path.replace(/:\w+/g, '[^/]+')}$`),
  methods: methodsOf(same),
}));

function methodsOf(same: readonly Route[]): string[] {
  const hasHead = same.some(({ method, events }) => method === 'GET' && !events);
  return [...same.map(({ method }) => method), ...(hasHead ? ['HEAD'] : [])];
}

/** Why no route was found: the path takes other methods (405 with `Allow`), or there is no such path (404). */
export const noRoute = (method: string, url: string): ApiError => {
  const path = url.split('?')[0] ?? '';
  const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods);
  if (methods.length === 0) return new ApiError('notFound', 'NO_SUCH_ROUTE', `there is no ${path.slice(0, 200)}`);
  const allow = [...new Set(methods)].join(', ');
  return new ApiError('methodNotAllowed', 'METHOD_NOT_ALLOWED', `${method} is not possible here: ${allow}`, { allow });
};

/** The only code that writes an error envelope. */
export const sendError = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
  const known = request.is404 ? noRoute(request.method, request.url) : knownError(error);
  if (known.kind === 'internal') request.log.error({ err: error, requestId: request.id }, 'request failed');
  const status = statusOf[known.kind];
  const { retryAfterSec, allow } = known.data;
  if (typeof retryAfterSec === 'number') reply.header('retry-after', String(retryAfterSec));
  if (typeof allow === 'string') reply.header('allow', allow);
  // Programs learn from it how to sign in; a browser shows no dialog for it.
  if (known.kind === 'unauthenticated') reply.header('www-authenticate', 'Bearer realm="rushhour"');
  discardBody(request);
  // The unread rest of a body would be parsed as the next request.
  if (status === statusOf.tooLarge || status === statusOf.timeout) reply.header('connection', 'close');
  return setSafeHeaders(reply).code(status).type('application/json; charset=utf-8').send(envelopeOf(known, request.id));
};

const maxDiscardedBytes = 1_048_576;
const maxDiscardMs = 5000;

/**
 * A refused request's body is not read to its end: a short rest is discarded, so that the client sees the answer and can
 * use the connection again; a long or slow one ends the connection.
 */
const discardBody = ({ raw }: FastifyRequest) => {
  const hasBody = raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined;
  if (!hasBody || raw.complete || raw.destroyed) return;
  let bytes = 0;
  const timer = setTimeout(() => raw.socket.destroy(), maxDiscardMs).unref();
  const stop = () => clearTimeout(timer);
  raw.once('end', stop).once('close', stop);
  raw.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxDiscardedBytes) raw.socket.destroy();
  });
};

/** Default headers of every API response: no content sniffing, no caching, and TLS only once TLS was used. */
export const setSafeHeaders = (reply: FastifyReply) => {
  if (reply.request.protocol === 'https') reply.header('strict-transport-security', 'max-age=31536000');
  return reply.header('x-content-type-options', 'nosniff').header('cache-control', 'no-store');
};

/** Serialized by hand: an error must not depend on any reply schema. */
const envelopeOf = ({ code, data, message }: ApiError, requestId: string) =>
  JSON.stringify({ data: { code, requestId, ...data }, error: message });

const knownError = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error;
  if (error instanceof StorageUnavailable) return unavailable('STORAGE_UNAVAILABLE', error.message);
  return fastifyError(error as FastifyError) ?? new ApiError('internal', 'INTERNAL', 'internal error');
};

const fastifyError = ({ code = '', statusCode = 500 }: Partial<FastifyError>): ApiError | undefined => {
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new ApiError('unsupportedMedia', 'UNSUPPORTED_MEDIA_TYPE', 'the body must be application/json');
  }
  if (statusCode === 413) return new ApiError('tooLarge', 'BODY_TOO_LARGE', 'the body is too large');
  if (statusCode >= 400 && statusCode < 500) {
    return invalid([{ path: '', code: code.replace(/^FST_ERR_/, ''), message: 'the request is malformed' }]);
  }
  return statusCode === 503 ? unavailable('STOPPING', 'the controller is stopping') : undefined;
};

/** Answers input that never became a request: malformed HTTP, oversized headers, a client that is too slow. */
export const answerClientError = (error: Error & { code?: string }, socket: Socket) => {
  if (socket.destroyed || !socket.writable) return;
  const [status, code, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'HEADERS_TOO_LARGE', 'the headers are larger than 16 KiB']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'REQUEST_TIMEOUT', 'the request took too long']
        : ['400 Bad Request', 'MALFORMED_HTTP', 'this is not HTTP'];
  const body = JSON.stringify({ data: { code, requestId: 'none' }, error: message });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
};
