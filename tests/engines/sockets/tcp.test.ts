import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';

takePriority();

const listenOn = (port: number) => [{ host: '127.0.0.1', port }];
const client = (port: number, more: object) => ({ role: 'client', targets: listenOn(port), connections: 10, ...more });

describe('tcp engine', () => {
  it('opens connections at a rate, and both sides count the same', async () => {
    const port = await freePort();
    const server = await startServer('tcp', { listen: listenOn(port) });
    const run = await runJob({
      engine: 'tcp',
      config: client(port, { load: { rate: 300 } }),
      duration: { seconds: 1 },
    });
    const served = await server.stop();
    expect(run.counter('tcp.attempted') + run.counter('tcp.dropped')).toBe(300);
    expect(run.counter('tcp.established')).toBe(run.counter('tcp.attempted'));
    expect(served.counter('tcp.accepted')).toBe(run.counter('tcp.established'));
    expect(run.counter('tcp.closed')).toBe(run.counter('tcp.established'));
    expect(run.histogram('tcp.connect').count).toBe(run.counter('tcp.established'));
    expect(run.gauge('tcp.active')).toBe(0);
  });

  it('holds the configured number of concurrent connections', async () => {
    const port = await freePort();
    const server = await startServer('tcp', { listen: listenOn(port) });
    const config = client(port, { connections: 500, holdMs: 60_000 });
    const run = await runJob({ engine: 'tcp', config, duration: { seconds: 1.5 } });
    expect(run.summaries[0]?.series.find(({ target }) => target !== '')?.gauges['tcp.active']).toBe(500);
    const served = await server.stop();
    expect(served.summaries[0]?.series[0]?.gauges['tcp.active']).toBe(500);
  });

  it.each(['fin', 'rst'] as const)('closes connections by %s', async (closeMode) => {
    const ends = { fin: 0, rst: 0 };
    const peer = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('end', () => {
        ends.fin++;
        socket.end();
      });
      socket.on('error', () => ends.rst++);
      socket.resume();
    }).listen(0, '127.0.0.1');
    await once(peer, 'listening');
    const { port } = peer.address() as AddressInfo;
    const run = await runJob({ engine: 'tcp', config: client(port, { closeMode, totalSessions: 50 }), duration: {} });
    for (let waited = 0; ends.fin + ends.rst < 50 && waited < 100; waited++) await sleep(20);
    peer.close();
    expect(run.counter('tcp.established')).toBe(50);
    expect(ends).toEqual(closeMode === 'fin' ? { fin: 50, rst: 0 } : { fin: 0, rst: 50 });
  });

  it.each(['io_uring', 'epoll'] as const)('tunes the sockets of both sides over %s', async (dataPath) => {
    const port = await freePort();
    const tuning = { mss: 600, window: 20_000, congestion: 'reno', synRetries: 3 };
    const server = await startServer('tcp', { listen: listenOn(port), dataPath, tuning });
    const config = client(port, { connections: 1, holdMs: 60_000, mode: 'echo', dataPath, tuning });
    const running = runJob({ engine: 'tcp', config, duration: { seconds: 1.5 } });
    await sleep(1000);
    const { stdout } = await promisify(execFile)('ss', [
      '-tinH',
      'state',
      'established',
      `( sport = ${port} or dport = ${port} )`,
    ]);
    await running;
    await server.stop();
    expect(stdout.match(/\breno\b/g)).toHaveLength(2);
    const valuesOf = (name: string) =>
      [...stdout.matchAll(new RegExp(`\\b${name}:(\\d+)`, 'g'))].map(([, n]) => Number(n));
    // Timestamps take 12 bytes of a segment.
    expect(valuesOf('advmss').map((bytes) => bytes > 580 && bytes <= 600)).toEqual([true, true]);
    expect(valuesOf('snd_wnd').map((bytes) => bytes > 0 && bytes <= 20_000)).toEqual([true, true]);
  });

  it('reports an unavailable congestion control before any traffic', async () => {
    const config = client(1, { tuning: { congestion: 'of-nobody' } });
    const { outcome } = await runJob({ engine: 'tcp', config, duration: {} });
    expect(outcome).toMatchObject({ status: 'failed', code: 'TCP_TUNING_REFUSED' });
    expect(outcome.error).toMatch(/of-nobody here \(ENOENT\): there are .*reno/);
  });

  it('sends bytes, and the sink counts all of them', async () => {
    const port = await freePort();
    const server = await startServer('tcp', { listen: listenOn(port) });
    const run = await runJob({
      engine: 'tcp',
      config: client(port, { mode: 'send', connections: 2 }),
      duration: { seconds: 0.7 },
    });
    const served = await server.stop();
    expect(served.counter('tcp.rxBytes')).toBe(run.counter('tcp.txBytes'));
    expect(run.counter('tcp.txBytes')).toBeGreaterThan(5e6);
  });

  it('holds a bit rate', async () => {
    const port = await freePort();
    const server = await startServer('tcp', { listen: listenOn(port) });
    const config = client(port, {
      mode: 'send',
      rateBps: 80e6,
      connections: 4,
      payload: { type: 'random', size: 10_000 },
    });
    await runJob({ engine: 'tcp', config, duration: { seconds: 1 } });
    expect((await server.stop()).counter('tcp.rxBytes') / 10e6).toBeCloseTo(1, 1);
  });

  it('measures echoed messages, and reads from a source', async () => {
    const [echoPort, sourcePort] = [await freePort(), await freePort()];
    const echo = await startServer('tcp', { listen: listenOn(echoPort), mode: 'echo' });
    const config = client(echoPort, {
      mode: 'echo',
      connections: 3,
      messagesPerSecond: 50,
      payload: { size: 100_000 },
    });
    const run = await runJob({ engine: 'tcp', config, duration: { seconds: 1 } });
    await echo.stop();
    expect(run.counter('tcp.messages') + run.counter('tcp.dropped')).toBeGreaterThanOrEqual(148);
    expect(run.counter('tcp.messages')).toBeLessThanOrEqual(150);
    expect(run.histogram('tcp.echo').count).toBe(run.counter('tcp.rxBytes') / 100_000);
    const source = await startServer('tcp', { listen: listenOn(sourcePort), mode: 'source' });
    const reader = await runJob({
      engine: 'tcp',
      config: client(sourcePort, { mode: 'receive', connections: 1 }),
      duration: { seconds: 0.3 },
    });
    expect(reader.counter('tcp.rxBytes')).toBeGreaterThan(10e6);
    expect((await source.stop()).counter('tcp.txBytes')).toBeGreaterThanOrEqual(reader.counter('tcp.rxBytes'));
  });

  it('counts refused connections', async () => {
    const config = client(await freePort(), { load: { rate: 50 } });
    const run = await runJob({ engine: 'tcp', config, duration: { seconds: 0.5 } });
    expect(run.counter('tcp.failed')).toBe(25);
    expect(run.counter('tcp.errors.refused')).toBe(25);
  });
});
