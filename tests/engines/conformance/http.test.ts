import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { startServer } from '../job.ts';
import { startJobProcess } from '../namespaces.ts';
import { takePriority } from '../priority.ts';
import { closeServersAfterEach, dataPaths, drive, okAnswer, onRequests, serve, startDrive } from './data-paths.ts';

takePriority();
closeServersAfterEach();

describe.each(dataPaths)('http client over %s', (dataPath) => {
  it('distinguishes refused, reset, truncated, silent and invalid', async () => {
    const [amount, more] = [{ seconds: 0.4 }, { connections: 2, timeoutMs: 100 }];
    const refused = await drive({ dataPath, port: await freePort(), more }, amount);
    expect(refused.counter('http.errors.refused')).toBeGreaterThan(0);
    expect(refused.counter('http.requests')).toBe(0);
    const answers = {
      reset: (socket: Parameters<Parameters<typeof serve>[0]>[0]) => socket.resetAndDestroy(),
      closed: (socket: Parameters<Parameters<typeof serve>[0]>[0]) => socket.end(okAnswer('whole').slice(0, -2)),
      timeout: () => {},
      protocol: (socket: Parameters<Parameters<typeof serve>[0]>[0]) => socket.write('220 smtp.test ESMTP\r\n\r\n'),
    };
    for (const [kind, answer] of Object.entries(answers)) {
      const port = await serve((socket) => onRequests(socket, () => answer(socket)));
      const run = await drive({ dataPath, port, more }, amount);
      const failed = run.counter(`http.errors.${kind}`);
      expect(failed, kind).toBeGreaterThan(0);
      expect(failed + run.counter('http.unanswered'), kind).toBe(run.counter('http.requests'));
      expect(run.counter('http.ok'), kind).toBe(0);
    }
  });

  it('reads answers that arrive byte by byte', async () => {
    const port = await serve((socket) =>
      onRequests(socket, async () => {
        for (const character of okAnswer('needle')) {
          socket.write(character);
          await new Promise(setImmediate);
        }
      }),
    );
    const run = await drive({ dataPath, port, more: { expect: { bodyContains: 'needle' } } }, { count: 20 });
    expect(run.counter('http.ok')).toBe(20);
    expect(run.histogram('http.latency').count).toBe(20);
  });

  it('reads huge answers completely', async () => {
    const answer = Buffer.from(okAnswer('x'.repeat(5_000_000)));
    const port = await serve((socket) => onRequests(socket, () => socket.write(answer)));
    const run = await drive({ dataPath, port }, { count: 8 });
    expect(run.counter('http.ok')).toBe(8);
    expect(run.counter('http.rxBytes')).toBe(8 * answer.length);
  });

  it('sends bodies larger than any buffer, in order, to a server that reads slowly', async () => {
    let wrong = 0;
    let received = 0;
    const port = await serve((socket) => {
      let at = -1;
      let head = '';
      socket.on('data', (bytes) => {
        let body = bytes;
        if (at < 0) {
          head += bytes.toString('latin1');
          const end = head.indexOf('\r\n\r\n');
          if (end < 0) return;
          body = Buffer.from(head.slice(end + 4), 'latin1');
          at = 0;
        }
        for (const byte of body) if (byte !== 97 + (at++ % 7)) wrong++;
        received += body.length;
        if (at === 3_000_000) socket.end(okAnswer('', 'Connection: close\r\n'));
        socket.pause();
        setTimeout(() => socket.resume(), 1);
      });
    });
    const body = { type: 'pattern', size: 3_000_000, data: 'abcdefg' };
    const more = { method: 'POST', body, timeoutMs: 20_000, connections: 2 };
    const run = await drive({ dataPath, port, more }, { count: 3 });
    expect(run.counter('http.ok')).toBe(3);
    expect([wrong, received]).toEqual([0, 9_000_000]);
  });

  it('keeps many requests in flight on a connection', async () => {
    const port = await serve((socket) => onRequests(socket, () => socket.write(okAnswer('p'))));
    const run = await drive({ dataPath, port, more: { pipelining: 64 } }, { count: 3000 });
    expect(run.counter('http.ok')).toBe(3000);
    expect(run.counter('http.connections')).toBe(4);
  });

  it('continues when the server closes kept connections, announced or not', async () => {
    for (const header of ['Connection: close\r\n', '']) {
      const port = await serve((socket) =>
        onRequests(socket, (count) => {
          if (count === 3) socket.end(okAnswer('last', header));
          else socket.write(okAnswer('more'));
        }),
      );
      const run = await drive({ dataPath, port, more: { keepAlive: { maxRequests: 3 } } }, { count: 300 });
      expect(run.counter('http.ok')).toBe(300);
      expect(run.counter('http.connections')).toBeGreaterThanOrEqual(100);
      expect(run.counter('http.connections')).toBeLessThan(104);
    }
  });

  it('uses thousands of source addresses', async () => {
    const seen = new Set<string>();
    const port = await serve((socket) => {
      seen.add(socket.remoteAddress ?? '');
      onRequests(socket, () => socket.end(okAnswer('', 'Connection: close\r\n')));
    }, '0.0.0.0');
    const sources = { ranges: ['10.214.0.1-10.214.15.160'] };
    const more = { connections: 64, keepAlive: { enabled: false }, sources };
    const run = await drive({ dataPath, port, more }, { count: 4000 });
    expect(run.outcome.notes).toEqual([]);
    expect(run.counter('http.ok')).toBe(4000);
    expect(seen.size).toBe(4000);
    expect([...seen].every((address) => address.startsWith('10.214.'))).toBe(true);
  });

  it('pauses, resumes, changes rate and stops, and the server counts the same', async () => {
    let served = 0;
    const port = await serve((socket) =>
      onRequests(socket, () => {
        served++;
        socket.write(okAnswer('r'));
      }),
    );
    const run = startDrive({ dataPath, port, more: { load: { rate: 400 } } });
    await run.started;
    await sleep(300);
    run.running.pause();
    await sleep(50);
    const atPause = served;
    await sleep(250);
    expect(served).toBe(atPause);
    expect(run.running.changeLoad({ requestsPerSecond: 2000 })).toEqual({});
    run.running.resume();
    await sleep(400);
    const totals = await run.stop();
    expect(totals.outcome.status).toBe('stopped');
    expect(totals.counter('http.ok')).toBe(served);
    expect(totals.counter('http.requests')).toBe(served);
    expect(atPause).toBeGreaterThan(60);
    expect(served - atPause).toBeGreaterThan(400);
    expect(served - atPause).toBeLessThan(1200);
  });
});

describe('http over every data path on either side', () => {
  it.each(dataPaths.flatMap((client) => dataPaths.map((server) => [client, server] as const)))(
    'counts the same with a client over %s and a server over %s',
    async (client, server) => {
      const port = await freePort();
      const responses = [{ body: { type: 'pattern', size: 40_000, data: 'ab' } }, { status: 404 }, { isChunked: true }];
      const answering = await startServer('http', {
        listen: [{ host: '127.0.0.1', port }],
        dataPath: server,
        responses,
      });
      const run = await drive(
        { dataPath: client, port, more: { pipelining: 4, keepAlive: { maxRequests: 20 } } },
        { count: 600 },
      );
      const served = await answering.stop();
      expect(run.counter('http.responses')).toBe(600);
      expect(run.counter('http.ok')).toBe(400);
      expect(served.counter('http.served')).toBe(600);
      expect(served.counter('http.accepted')).toBe(run.counter('http.connections'));
      expect(served.counter('http.rxBytes')).toBe(run.counter('http.txBytes'));
      expect(served.counter('http.txBytes')).toBe(run.counter('http.rxBytes'));
      expect(served.outcome.status).toBe('stopped');
      expect(served.gauge('http.concurrent')).toBe(0);
    },
  );
});

describe.each(dataPaths)('http server over %s', (dataPath) => {
  it('sends complete answers while descriptors of closed connections are reused', async () => {
    const port = await freePort();
    const listen = [{ host: '127.0.0.1', port }];
    // In its own process: both ends must run at the same time.
    const server = await startJobProcess({
      engine: 'http',
      config: { role: 'server', listen, dataPath },
      duration: { mode: 'continuous' },
    });
    const more = { connections: 64, keepAlive: { enabled: false } };
    const run = await drive({ dataPath: 'epoll', port, more }, { count: 20_000 });
    const served = await server.stop();
    expect(run.counter('http.ok')).toBe(20_000);
    expect(served.counter('http.served')).toBe(20_000);
  });
});
