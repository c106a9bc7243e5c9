import type { Header } from '@rushhour/wire';
import { expect, it, onTestFinished } from 'vitest';
import { IndexedSet } from '../../../net/loop/indexed-set.ts';
import { H3Carrier } from '../../../net/quic/h3-carrier.ts';
import { createQuicServer } from '../../../net/quic/quic-server.ts';
import { createClient, identity } from '../../../net/quic/testing/quic-pair.ts';
import { SampleStore } from '../../../samples.ts';
import { ServerMeters } from '../meters.ts';
import { createResponse } from '../response.ts';
import { H3ServerConnection } from './h3-server-connection.ts';

const settings = {
  versions: ['1.3'] as '1.3'[],
  alpn: [],
  ...identity,
  requestClientCertificate: false,
  tickets: true,
};
const body = { type: 'text', size: 0, data: 'x' } as const;
const request: readonly Header[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', 'a.test'],
];

const listen = async (maxRequests: number): Promise<number> => {
  const server = createQuicServer({ alpn: ['h3'], sendsRetry: false, settings });
  onTestFinished(() => server.close());
  const form = { status: 200, delayMs: 0, headers: [], body, isChunked: false, weight: 1 };
  const { next } = createResponse(form, (bytes) => ({ bytes, address: 0 }));
  const meters = new ServerMeters(new SampleStore());
  const deps = { next, meters, idleMs: 0, maxRequests, connections: new IndexedSet<H3ServerConnection>() };
  const accept = (connection: ConstructorParameters<typeof H3ServerConnection>[0]) =>
    new H3ServerConnection(connection, deps);
  return (await server.listen({ host: '127.0.0.1', port: 0, isShared: false }, accept)).port;
};

it('a server asks clients to open another connection after so many requests, and answers those it has', async () => {
  const port = await listen(3);
  const client = createClient({}, { alpn: ['h3'] });
  onTestFinished(() => client.close());
  const seen: string[] = [];
  const last = Promise.withResolvers<void>();
  const note = (text: string) => {
    if (seen.push(text) === 4) last.resolve();
  };
  const ask = () => carrier.h3.request(carrier.openRequest(), request, undefined);
  const events = {
    onHeaders: () => {},
    onBody: (stream: number, _bytes: Uint8Array, _start: number, _end: number, isEnd: boolean) => {
      if (!isEnd) return;
      note(`answer on ${stream}`);
      if (stream < 8) ask();
    },
    onReset: () => note('reset'),
    onGoaway: (stream: number) => note(`none from ${stream} on`),
  };
  const connection = client.connect(
    { address: '127.0.0.1', port },
    {
      onOpen() {
        carrier.h3.start();
        ask();
      },
      onStream: (stream) => carrier.accept(stream),
      onClose: () => note('closed'),
    },
  );
  const carrier = new H3Carrier(connection, { isServer: false, events, onFail: note });
  await last.promise;
  expect(seen.toSorted()).toEqual(['answer on 0', 'answer on 4', 'answer on 8', 'none from 12 on']);
});
