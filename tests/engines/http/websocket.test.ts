import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createSelfSigned } from '@rushhour/agent';
import { chromium } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { freePort } from '../../process/free-port.ts';
import { runJob, type Started, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { execute } from '../programs.ts';

takePriority();

/** Another implementation that returns every message. */
const startEcho = async (options: object = {}): Promise<{ server: WebSocketServer; port: number; seen: string[] }> => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, ...options });
  const seen: string[] = [];
  server.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => {
      seen.push(String(data));
      socket.send(data, { binary: isBinary });
    });
    socket.on('close', (code) => seen.push(`close ${code}`));
  });
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port, seen };
};

const clientOf = (port: number, webSocket: object, more: object = {}) => ({
  role: 'client',
  targets: [{ host: '127.0.0.1', port }],
  connections: 4,
  timeoutMs: 5000,
  webSocket,
  ...more,
});

const run = (
  port: number,
  webSocket: object,
  { count = 200, ...more }: { count?: number; [name: string]: unknown } = {},
) => runJob({ engine: 'http', config: clientOf(port, webSocket, more), duration: { mode: 'count', count } });

const serve = async (webSocket: object, more: object = {}): Promise<{ port: number; server: Started }> => {
  const port = await freePort();
  const server = await startServer('http', { listen: [{ host: '127.0.0.1', port }], webSocket, ...more });
  onTestFinished(async () => {
    await server.stop();
  });
  return { port, server };
};

const text = (data: string) => ({ type: 'text', data });

describe('WebSocket client', () => {
  it('gets every message back from another implementation, and takes leave with its code', async () => {
    const { port, seen } = await startEcho();
    const result = await run(port, { message: text('Grüße'), closeCode: 3001 });
    expect(result.outcome.status).toBe('finished');
    expect(result.counter('http.messagesSent')).toBe(200);
    expect(result.counter('http.messagesReceived')).toBe(200);
    expect(result.histogram('http.messageLatency').count).toBe(200);
    expect(result.counter('http.status.101')).toBe(4);
    expect(result.counter('http.closeCode.3001')).toBe(4);
    expect(result.counter('http.errors.closed')).toBe(0);
    expect(seen.filter((one) => one === 'Grüße')).toHaveLength(200);
    expect(seen.filter((one) => one === 'close 3001')).toHaveLength(4);
  });

  it.each([
    ['compressed', { isCompressed: true, message: { type: 'pattern', size: 20_000, data: 'abc' } }],
    ['in fragments', { fragmentBytes: 1000, isText: false, message: { type: 'random', size: 100_000 } }],
    ['empty', { message: text('') }],
  ])('sends messages %s', async (_, webSocket) => {
    const { port } = await startEcho({ perMessageDeflate: { threshold: 0 } });
    const result = await run(port, webSocket, { pipelining: 3 });
    expect(result.counter('http.messagesReceived')).toBe(200);
    expect(result.counter('http.errors.echo')).toBe(0);
    const isCompressed = 'isCompressed' in webSocket;
    if (isCompressed) expect(result.counter('http.txBytes')).toBeLessThan(200 * 2000);
  });

  it('opens a WebSocket for each message where connections are not kept', async () => {
    const { port } = await startEcho();
    const result = await run(port, { message: text('once') }, { count: 30, keepAlive: { enabled: false } });
    expect(result.counter('http.connections')).toBe(30);
    expect(result.counter('http.messagesReceived')).toBe(30);
    expect(result.counter('http.closeCode.1000')).toBe(30);
  });

  it('counts a refusal and a wrong accept', async () => {
    const { port } = await startEcho({ verifyClient: () => false });
    const refused = await run(port, {}, { totalSessions: 3 });
    expect(refused.counter('http.status.401')).toBe(3);
    expect(refused.counter('http.errors.upgrade')).toBe(3);
    const liar = createServer((socket) => {
      socket.on('error', () => {});
      socket.write('HTTP/1.1 101 Fine\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n');
    });
    liar.listen(0, '127.0.0.1');
    await once(liar, 'listening');
    onTestFinished(() => {
      liar.close();
    });
    const lied = await run((liar.address() as AddressInfo).port, {}, { totalSessions: 2 });
    expect(lied.counter('http.errors.protocol')).toBe(2);
  });

  it('pings, and counts the codes of a server that closes', async () => {
    const { port, server } = await startEcho();
    server.on('connection', (socket) => {
      let pings = 0;
      socket.on('ping', () => {
        pings++;
        if (pings === 3) socket.close(1013);
      });
    });
    const result = await run(port, { mode: 'receive', pingIntervalMs: 50 }, { totalSessions: 4 });
    expect(result.counter('http.closeCode.1013')).toBe(4);
    expect(result.histogram('http.ping').count).toBeGreaterThanOrEqual(4 * 3);
  });
});

describe('WebSocket server', () => {
  it.each([
    ['plain', false],
    ['compressed', true],
  ])('echoes to another implementation, %s', async (_, isCompressed) => {
    const { port, server } = await serve({ isCompressed, subprotocol: 'chat' });
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, ['other', 'chat'], { perMessageDeflate: { threshold: 0 } });
    await once(socket, 'open');
    expect(socket.protocol).toBe('chat');
    expect(socket.extensions).toBe(isCompressed ? 'permessage-deflate' : '');
    const big = 'x'.repeat(300_000);
    for (const message of ['hello', '', big]) {
      socket.send(message);
      expect(String((await once(socket, 'message'))[0])).toBe(message);
    }
    socket.ping('are you there');
    expect(String((await once(socket, 'pong'))[0])).toBe('are you there');
    socket.close(4000, 'bye');
    expect((await once(socket, 'close'))[0]).toBe(4000);
    const totals = await server.stop();
    expect(totals.counter('http.messagesReceived')).toBe(3);
    expect(totals.counter('http.messagesSent')).toBe(3);
    expect(totals.counter('http.closeCode.4000')).toBe(1);
  });

  it('refuses plain requests, and closes where a message is too long', async () => {
    const { port, server } = await serve({ maxMessageBytes: 1000 });
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(426);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    await once(socket, 'open');
    socket.send('y'.repeat(1001));
    expect((await once(socket, 'close'))[0]).toBe(1009);
    const totals = await server.stop();
    expect(totals.counter('http.closeCode.1009')).toBe(1);
    expect(totals.counter('http.status.426')).toBe(1);
  });

  it('echoes to a browser', async () => {
    const { port, server } = await serve({ isCompressed: true });
    const executablePath = (await execute('sh', ['-c', 'command -v chromium'])).stdout.trim();
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage();
      const answered = await page.evaluate(
        (url) =>
          new Promise<string>((resolve, reject) => {
            const socket = new globalThis.WebSocket(url);
            socket.onopen = () => socket.send('from a page');
            socket.onerror = () => reject(new Error('no WebSocket'));
            socket.onmessage = ({ data }) => {
              socket.onclose = ({ code, wasClean }) => resolve(`${data} ${socket.extensions} ${code} ${wasClean}`);
              socket.close(3210);
            };
          }),
        `ws://127.0.0.1:${port}/`,
      );
      expect(answered).toMatch(/^from a page permessage-deflate.* 3210 true$/);
    } finally {
      await browser.close();
    }
    expect((await server.stop()).counter('http.closeCode.3210')).toBe(1);
  });
});

describe('WebSocket on both sides', () => {
  it('has the same messages on both, by TLS, at a rate', async () => {
    const { certificate, privateKey } = createSelfSigned(['127.0.0.1']);
    const { port, server } = await serve({ isCompressed: true }, { tls: { certificate, privateKey } });
    const result = await run(
      port,
      { isCompressed: true, message: text('secret') },
      {
        count: 300,
        tls: {},
        load: { rate: 1000 },
        pipelining: 8,
      },
    );
    const served = await server.stop();
    expect(result.counter('http.messagesReceived')).toBe(300);
    expect(served.counter('http.messagesReceived')).toBe(300);
    expect(served.counter('http.messagesSent')).toBe(300);
    expect(result.histogram('http.tls').count).toBe(4);
    expect(served.counter('http.closeCode.1000')).toBe(4);
  });

  it('sends one way as fast as the peer takes it', async () => {
    const settings = { mode: 'send', isText: false, message: { type: 'zero', size: 1000 } };
    const { port, server } = await serve(settings);
    const result = await run(port, settings, { count: 5000 });
    const served = await server.stop();
    expect(result.counter('http.messagesSent')).toBe(5000);
    expect(served.counter('http.messagesReceived')).toBe(5000);
    expect(served.counter('http.messagesSent')).toBe(0);
  });

  it('sends to every client by itself', async () => {
    const settings = { mode: 'receive', pushPerSecond: 100, message: text('news') };
    const { port, server } = await serve(settings);
    const keepAlive = { enabled: true, maxRequests: 20 };
    const result = await run(port, settings, { connections: 10, totalSessions: 10, keepAlive });
    const served = await server.stop();
    expect(result.counter('http.messagesReceived')).toBeGreaterThanOrEqual(200);
    expect(result.histogram('http.messageGap').count).toBeGreaterThanOrEqual(190);
    expect(served.counter('http.messagesSent')).toBeGreaterThanOrEqual(200);
    expect(served.counter('http.closeCode.1000')).toBe(10);
  });
});
