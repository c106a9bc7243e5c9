import { createSecureServer, createServer, type ServerHttp2Stream } from 'node:http2';
import type { Server } from 'node:net';
import type { HttpServerConfig } from '@rushhour/protocol';
import { serverTlsOptions } from '../../net/tls/tls-options.ts';
import type { Response } from './response.ts';
import type { ServerMeters } from './server-meters.ts';

const answer = (stream: ServerHttp2Stream, response: Response, isHead: boolean): void => {
  if (stream.destroyed) return;
  const own = Object.fromEntries(response.headers.map(({ name, value }) => [name.toLowerCase(), value]));
  const hasNoBody = response.status === 204 || response.status === 304;
  const length = hasNoBody ? {} : { 'content-length': response.body.length };
  stream.respond({ ':status': response.status, ...length, ...own }, { endStream: isHead || hasNoBody });
  if (!isHead && !hasNoBody) stream.end(response.body);
};

/** HTTP/2 by Node's own implementation: in the clear with prior knowledge, or over TLS by ALPN. */
export const createH2Server = (
  config: HttpServerConfig,
  deps: { readonly next: () => Response; readonly meters: ServerMeters },
): Server => {
  const { meters } = deps;
  const server =
    config.tls === undefined ? createServer() : createSecureServer(serverTlsOptions(config.tls, config.listen, ['h2']));
  server.on('session', (session) => {
    meters.connections.add(1);
    meters.concurrent.add(1);
    session.on('close', () => meters.concurrent.add(-1));
    session.on('error', (error: NodeJS.ErrnoException) => meters.error(error.code ?? error.message));
  });
  server.on('stream', (stream, headers) => {
    const response = deps.next();
    meters.requests.add(1);
    meters.status(response.status);
    stream.on('error', (error: NodeJS.ErrnoException) => meters.error(error.code ?? error.message));
    stream.on('data', (bytes: Buffer) => meters.rxBytes.add(bytes.length));
    const isHead = headers[':method'] === 'HEAD';
    stream.on('end', () => {
      meters.txBytes.add(isHead ? 0 : response.body.length);
      if (response.delayMs > 0) setTimeout(() => answer(stream, response, isHead), response.delayMs);
      else answer(stream, response, isHead);
    });
  });
  return server;
};
