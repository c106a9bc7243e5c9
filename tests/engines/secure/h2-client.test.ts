import { once } from 'node:events';
import { constants, createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { runJob } from '../job.ts';
import { takePriority } from '../priority.ts';

takePriority();

/** The server of Node, another implementation. */
const serve = async (onStream: (stream: ServerHttp2Stream, number: number) => void) => {
  const server: Http2Server = createServer();
  let [streams, sessions] = [0, 0];
  server.on('session', () => sessions++);
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    onStream(stream, ++streams);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server, seen: () => ({ streams, sessions }) };
};

const run = (port: number, more: object, count: number) => {
  const common = { role: 'client', version: '2', targets: [{ host: '127.0.0.1', port }], timeoutMs: 5000 };
  return runJob({ engine: 'http', config: { ...common, ...more }, duration: { mode: 'count', count } });
};

it('an HTTP/2 client leaves a server that goes away once all is answered, and sends it nothing more', async () => {
  const slowly = async (stream: ServerHttp2Stream) => {
    await sleep(150);
    if (!stream.destroyed) stream.respond({ ':status': 200 }, { endStream: true });
  };
  const { port, seen } = await serve((stream, number) => {
    void slowly(stream);
    if (number % 20 === 0) stream.session?.close();
  });
  const result = await run(port, { connections: 10, maxStreams: 50, load: { rate: 400 } }, 400);
  expect(seen().sessions).toBeGreaterThanOrEqual(15);
  expect(result.counter('http.connections')).toBe(seen().sessions);
  // What is on its way when the server decides is refused, and counted by that name.
  const refused = result.counter('http.errors.refusedStream') + result.counter('http.errors.closed');
  expect(refused).toBeLessThan(100);
  expect(result.counter('http.ok') + refused).toBe(400);
});

it('an HTTP/2 client counts streams that a server resets, and goes on', async () => {
  const { port, seen } = await serve((stream, number) => {
    if (number % 10 === 0) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else if (number % 10 === 5) stream.close(constants.NGHTTP2_REFUSED_STREAM);
    else stream.respond({ ':status': 200 }, { endStream: true });
  });
  const result = await run(port, { connections: 1, maxStreams: 7 }, 200);
  expect(result.counter('http.ok')).toBe(160);
  expect(result.counter('http.errors.reset')).toBe(20);
  expect(result.counter('http.errors.refusedStream')).toBe(20);
  expect(seen()).toEqual({ streams: 200, sessions: 1 });
});

it('an HTTP/2 client answers pings, allows no pushes and takes smaller frames and windows', async () => {
  const allowed: boolean[] = [];
  const pings: Promise<number>[] = [];
  const { port, server } = await serve((stream) => {
    allowed.push(stream.pushAllowed);
    const { session } = stream;
    if (session !== undefined && pings.length < 20)
      pings.push(new Promise((resolve) => session.ping((error, ms) => resolve(error === null ? ms : -1))));
    stream.respond({ ':status': 200 });
    stream.end('a'.repeat(50_000));
  });
  server.on('session', (session) => session.settings({ initialWindowSize: 1000, maxHeaderListSize: 4000 }));
  const body = { type: 'random', size: 100_000 };
  const result = await run(port, { connections: 1, maxStreams: 5, method: 'POST', body }, 50);
  expect(result.counter('http.ok')).toBe(50);
  expect(result.counter('http.rxBytes')).toBeGreaterThan(50 * 50_000);
  expect(new Set(allowed)).toEqual(new Set([false]));
  expect(Math.min(...(await Promise.all(pings)))).toBeGreaterThanOrEqual(0);
});
