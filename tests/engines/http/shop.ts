import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** A request as the shop has received it. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly cookie: string | undefined;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface Shop {
  readonly port: number;
  readonly received: Received[];
  /** Connections accepted so far. */
  readonly connections: () => number;
  /** Most requests that were under way at the same time. */
  readonly maxConcurrent: () => number;
  urls(method?: string): string[];
  stop(): Promise<void>;
}

const bodyOf = async (request: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

/** Signs users in, and answers slowly at `/slow/`, wrongly at `/broken` and never at `/never`; at `/six/` once six requests wait. */
const answer = (response: ServerResponse, { method, url, body }: Received, number: number): void => {
  if (url === '/never') return;
  const json = (value: object, headers: object = {}) => {
    response.writeHead(200, { 'content-type': 'application/json', 'x-request': String(number), ...headers });
    response.end(JSON.stringify(value));
  };
  if (url === '/login' && method === 'POST') {
    const { name = 'nobody' } = JSON.parse(body || '{}') as { name?: string };
    json({ token: `t-${name}` }, { 'set-cookie': `sid=s-${name}; Path=/` });
  } else if (url.startsWith('/slow/')) setTimeout(() => json({}), 50);
  else if (url === '/broken') response.writeHead(500).end('broken');
  else json({ items: [{ id: 7 }, { id: 8 }], page: `number=${number};` });
};

export const startShop = async (
  tls?: { certificate: string; privateKey: string },
  version: '1.1' | '2' = '1.1',
): Promise<Shop> => {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const waiting: (() => void)[] = [];
  let [accepted, concurrent, maxConcurrent] = [0, 0, 0];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    maxConcurrent = Math.max(maxConcurrent, ++concurrent);
    const { method = '', url = '', headers } = request;
    response.on('close', () => concurrent--);
    const { cookie, authorization } = headers;
    const one = { method, url, cookie, authorization, body: await bodyOf(request) };
    received.push(one);
    if (!url.startsWith('/six/')) answer(response, one, received.length);
    else if (waiting.push(() => answer(response, one, received.length)) === 6) {
      for (const proceed of waiting.splice(0)) proceed();
    }
  };
  const identity = { cert: tls?.certificate, key: tls?.privateKey };
  const server = (
    tls === undefined
      ? createServer({ keepAliveTimeout: 0 }, serve)
      : version === '2'
        ? createSecureServer(identity, serve as never)
        : createTlsServer({ ...identity, keepAliveTimeout: 0 }, serve)
  ) as Server | Http2SecureServer;
  server.on('connection', (socket: Socket) => {
    accepted++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    received,
    connections: () => accepted,
    maxConcurrent: () => maxConcurrent,
    urls: (method) => received.filter((one) => method === undefined || one.method === method).map(({ url }) => url),
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
