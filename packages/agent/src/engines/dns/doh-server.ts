import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { Server } from 'node:net';
import type { DnsServerConfig } from '@rushhour/protocol';
import type { Samples } from '../../engine.ts';
import { countError, errorCodeOf } from '../../net/metrics/count-error.ts';
import { serverTlsOptions } from '../../net/tls/tls-options.ts';
import type { Resolver } from './resolver.ts';

const maxBytes = 65_535;

const refuse = (response: Http2ServerResponse, status: number): void => {
  response.writeHead(status).end();
};

const readBody = (request: Http2ServerRequest, onBody: (body: Buffer) => void): void => {
  const parts: Buffer[] = [];
  let length = 0;
  request.on('data', (bytes: Buffer) => {
    length += bytes.length;
    if (length <= maxBytes) parts.push(bytes);
  });
  request.on('end', () => onBody(length > maxBytes ? Buffer.alloc(0) : Buffer.concat(parts)));
};

/** DNS over HTTPS (RFC 8484): POST with the message as body, GET with it in `dns`. HTTP/2, or HTTP/1.1 for those without. */
export const createDohServer = (config: DnsServerConfig, resolver: Resolver, samples: Samples): Server => {
  const options = serverTlsOptions(config.tls, config.listen, ['h2', 'http/1.1']);
  const server = createSecureServer({ ...options, allowHTTP1: true }, (request, response) => {
    const url = new URL(request.url ?? '/', 'https://localhost');
    if (url.pathname !== config.path) return refuse(response, 404);
    const answer = (message: Buffer) => {
      if (message.length < 12) return refuse(response, 400);
      resolver.resolve(message, 'stream', (bytes) => {
        response.writeHead(200, { 'content-type': 'application/dns-message', 'content-length': bytes.length });
        response.end(Buffer.from(bytes));
      });
    };
    if (request.method === 'GET') return answer(Buffer.from(url.searchParams.get('dns') ?? '', 'base64url'));
    if (request.method !== 'POST') return refuse(response, 405);
    if (request.headers['content-type'] !== 'application/dns-message') return refuse(response, 415);
    readBody(request, answer);
  });
  server.on('session', (session) => session.on('error', (error) => countError(samples, 'dns', errorCodeOf(error))));
  return server;
};
