import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createStreamTransport } from '../data-path.ts';
import { uringPoller } from './uring-poller.ts';

const connections = 100;
const bulk = Buffer.alloc(8 << 20);

/** Connections to a server of Node's, and what both have. */
const open = async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const options = { noDelay: true, keepAliveSec: 0, readSize: 'small', closesImmediately: true } as const;
  const transport = createStreamTransport({ path: 'io_uring', note: () => {} }, options);
  onTestFinished(async () => {
    await transport.close();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const received = { bytes: 0, wanted: 0, done: () => {} };
  for (let count = 0; count < connections; count++) {
    transport.connect(
      { address: '127.0.0.1', port },
      {
        onOpen() {},
        onData({ start, end }) {
          received.bytes += end - start;
          if (received.bytes >= received.wanted) received.done();
        },
        onClose() {},
      },
    );
  }
  await expect.poll(() => sockets.length, { timeout: 10_000 }).toBe(connections);
  /** Sends the bytes on so many connections at once, and waits until they have arrived. */
  const send = (bytes: Buffer, count: number): Promise<void> =>
    new Promise((resolve) => {
      Object.assign(received, { bytes: 0, wanted: bytes.length * count, done: resolve });
      for (const socket of sockets.slice(0, count)) socket.write(bytes);
    });
  return { send };
};

it('small messages use as many buffers as arrive at once, bulk data only a few', async () => {
  const { small } = uringPoller().buffers;
  const { send } = await open();
  const few = small.inUse;
  for (let round = 0; round < 5; round++) await send(Buffer.alloc(100), connections);
  const many = small.inUse;
  await send(bulk, 4);
  const fewAgain = small.inUse;
  await send(Buffer.alloc(100), connections);
  expect(few).toBeLessThan(many);
  expect(many).toBeGreaterThanOrEqual(connections / 2);
  expect(fewAgain).toBeLessThanOrEqual(16);
});
