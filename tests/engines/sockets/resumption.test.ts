import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { createSelfSigned } from '@rushhour/agent';
import { describe, expect, it } from 'vitest';
import { runJob } from '../job.ts';
import { takePriority } from '../priority.ts';

takePriority();

const count = 12;
const { certificate: cert, privateKey: key } = createSelfSigned(['127.0.0.1']);

/** Serves one request per connection with Node's own servers. */
const servers: Record<string, (options: TlsOptions) => Server> = {
  http: (options) =>
    createHttpsServer(options, (_, reply) => reply.setHeader('connection', 'close').end('hello')) as Server,
  http2: (options) =>
    createSecureServer(options as never, (_, reply) => {
      reply.end('hello');
    }) as Server,
  dot: (options) =>
    createTlsServer(options, (socket) =>
      socket.on('data', (query: Buffer) => {
        query[4] = (query[4] as number) | 0x80;
        socket.end(query);
      }),
    ),
  doh: (options) =>
    createSecureServer(options as never, (request, reply) => {
      request.on('data', (query: Buffer) => {
        query[2] = (query[2] as number) | 0x80;
        reply.setHeader('content-type', 'application/dns-message');
        reply.end(query);
        const { session } = request.stream;
        reply.stream.on('close', () => session?.close());
      });
    }) as Server,
};

const runAgainst = async (kind: string, version: string, resumption: string) => {
  const name = `TLSv${version}` as 'TLSv1.2';
  const server = servers[kind]?.({ cert, key, minVersion: name, maxVersion: name }) as Server;
  const seen = { full: 0, resumed: 0 };
  server.on('secureConnection', (socket: TLSSocket) => {
    seen[socket.isSessionReused() ? 'resumed' : 'full']++;
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const targets = [{ host: '127.0.0.1', port: (server.address() as AddressInfo).port }];
  const tls = { versions: [version], resumption };
  const isHttp = kind.startsWith('http');
  const config = isHttp
    ? { connections: 1, keepAlive: { enabled: false }, version: kind === 'http2' ? '2' : '1.1', tls }
    : { transport: kind, sockets: 1, concurrency: 1, names: ['a.test'], load: { rate: 20 }, tls };
  const run = await runJob({
    engine: isHttp ? 'http' : 'dns',
    config: { role: 'client', targets, ...config },
    duration: { mode: 'count', count },
  });
  server.close();
  return { seen, resumed: run.counter(isHttp ? 'http.resumed' : 'dns.resumed') };
};

describe('TLS sessions', () => {
  it.each([
    ['http', '1.2', 'ticket'],
    ['http', '1.3', 'psk'],
    ['http2', '1.3', 'psk'],
    ['dot', '1.3', 'psk'],
    ['doh', '1.2', 'ticket'],
  ])('of %s with version %s are resumed, as the server sees it', async (kind, version, resumption) => {
    const { seen, resumed } = await runAgainst(kind, version, resumption);
    expect(seen.full + seen.resumed).toBe(count);
    expect(resumed).toBe(seen.resumed);
    // The first connection has no session yet, and a connection that is closed early brings none.
    expect(resumed).toBeGreaterThanOrEqual(count / 2);
  });

  it('are not resumed unless that is asked for', async () => {
    expect(await runAgainst('http', '1.3', 'none')).toEqual({ seen: { full: count, resumed: 0 }, resumed: 0 });
  });
});
