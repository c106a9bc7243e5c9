import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { runJob } from '../job.ts';
import { takePriority } from '../priority.ts';

takePriority();

let server: Server | undefined;
const sockets = new Set<Socket>();
const serve = async (onRequest: (socket: Socket) => void): Promise<number> => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('data', () => onRequest(socket)).on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
afterEach(() => {
  server?.close();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});

const drive = (port: number, more: object = {}, seconds = 0.6) =>
  runJob({
    engine: 'http',
    config: { role: 'client', targets: [{ host: '127.0.0.1', port }], connections: 2, timeoutMs: 100, ...more },
    duration: { seconds },
  });

describe('http client against a broken server', () => {
  it('counts an answer that never comes as timeout', async () => {
    const run = await drive(await serve(() => {}));
    expect(run.counter('http.errors.timeout')).toBeGreaterThanOrEqual(4);
    expect(run.counter('http.errors.timeout') + run.counter('http.unanswered')).toBe(run.counter('http.requests'));
    expect(run.counter('http.responses')).toBe(0);
  });

  it('counts a reset, an early end and garbage separately', async () => {
    const reset = await drive(await serve((socket) => socket.resetAndDestroy()));
    expect(reset.counter('http.errors.reset')).toBe(reset.counter('http.requests'));
    const cut = await drive(await serve((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc')));
    expect(cut.counter('http.errors.closed')).toBe(cut.counter('http.requests'));
    expect(cut.counter('http.requests')).toBeGreaterThan(0);
    const garbage = await drive(await serve((socket) => socket.write('220 smtp.example.com ESMTP\r\n\r\n')));
    expect(garbage.counter('http.errors.protocol')).toBe(garbage.counter('http.requests'));
  });

  it('accepts an answer that ends with the connection', async () => {
    const run = await drive(await serve((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nhello')), {
      expect: { bodyContains: 'hello' },
    });
    expect(run.counter('http.ok')).toBe(run.counter('http.requests'));
    expect(run.counter('http.ok')).toBeGreaterThan(10);
  });

  it('counts latency from the time a request was due, not from when it could be sent', async () => {
    const port = await serve((socket) => {
      setTimeout(() => socket.writable && socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), 50);
    });
    const run = await drive(port, { connections: 1, timeoutMs: 5000, load: { rate: 100 } }, 1);
    expect(run.histogram('http.service').quantile(0.5) / 1000).toBeCloseTo(51, -1);
    // 100 are due per second and 20 can be sent: the last one sent was due 0.8 s earlier.
    expect(run.histogram('http.latency').max / 1000).toBeGreaterThan(600);
    expect(run.counter('http.requests') + run.counter('http.dropped')).toBe(100);
  });
});
