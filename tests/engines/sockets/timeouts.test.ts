import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { createSelfSigned } from '@rushhour/agent';
import { afterEach, describe, expect, it } from 'vitest';
import { harOf } from '../../../packages/controller/src/assets/har/testing/har-fixture.ts';
import { freePort } from '../../process/free-port.ts';
import { compiledFiles, exact } from '../har-replay/recording.ts';
import { runJob, startServer } from '../job.ts';

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

const listening = async <T extends Server>(server: T) => {
  open.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
const client = (port: number, more: object) => ({ role: 'client', targets: [{ host: '127.0.0.1', port }], ...more });
const timeoutMs = 200;
const minUs = timeoutMs * 1000 * 0.98;

describe('percentiles', () => {
  it('of http include requests that timed out while the server froze', async () => {
    const begun = performance.now();
    const port = await listening(
      createServer((_, response) => {
        if (performance.now() - begun < 1500) response.end('quick');
      }),
    );
    const config = client(port, { connections: 20, timeoutMs, load: { rate: 50 } });
    const { counter, histogram } = await runJob({ engine: 'http', config, duration: { seconds: 3 } });
    const timeouts = counter('http.errors.timeout');
    expect(timeouts).toBeGreaterThan(20);
    expect(histogram('http.latency').count).toBe(counter('http.responses') + timeouts);
    expect(histogram('http.latency').quantile(0.95)).toBeGreaterThan(minUs);
    expect(histogram('http.service').quantile(0.95)).toBeGreaterThan(minUs);
  });

  it('of http include requests without an answer at the end of a run that is shorter than their time', async () => {
    const port = await listening(createServer(() => {}));
    const run = await runJob({ engine: 'http', config: client(port, { connections: 5 }), duration: { seconds: 0.2 } });
    expect([run.counter('http.requests'), run.counter('http.unanswered')]).toEqual([5, 5]);
    expect(run.histogram('http.latency').count).toBe(5);
    expect(run.histogram('http.latency').min).toBeGreaterThan(1_900_000);
    expect(run.histogram('http.service').min).toBeGreaterThan(1_900_000);
  });

  it('of http include connections that are not open at the end of such a run, which have failed', async () => {
    const port = await listening(createTcpServer((socket) => socket.on('error', () => {})));
    const config = client(port, { connections: 5, tls: { verify: false } });
    const run = await runJob({ engine: 'http', config, duration: { seconds: 0.2 } });
    expect([run.counter('http.requests'), run.counter('http.errors.connectTimeout')]).toEqual([0, 5]);
  });

  it('of dns include queries that were never answered', async () => {
    const sink = createSocket('udp4').bind(0, '127.0.0.1');
    open.push(sink);
    await once(sink, 'listening');
    const config = client(sink.address().port, { names: ['a.test'], timeoutMs, retries: 0, load: { rate: 50 } });
    const { counter, histogram } = await runJob({ engine: 'dns', config, duration: { seconds: 1 } });
    expect(counter('dns.timeouts')).toBeGreaterThan(10);
    expect(counter('dns.timeouts')).toBe(counter('dns.queries'));
    expect(histogram('dns.latency').count).toBe(counter('dns.queries'));
    expect(histogram('dns.latency').min).toBeGreaterThan(minUs);
  });

  it('of dns include queries without an answer at the end of a run that is shorter than their time', async () => {
    const sink = createSocket('udp4').bind(0, '127.0.0.1');
    open.push(sink);
    await once(sink, 'listening');
    const more = { names: ['a.test'], timeoutMs: 30_000, retries: 3, load: { rate: 50 } };
    const run = await runJob({ engine: 'dns', config: client(sink.address().port, more), duration: { seconds: 0.2 } });
    expect(run.counter('dns.queries')).toBeGreaterThan(5);
    expect(run.counter('dns.timeouts')).toBe(run.counter('dns.queries'));
    expect(run.histogram('dns.latency').count).toBe(run.counter('dns.queries'));
    expect(run.histogram('dns.latency').min).toBeGreaterThan(2_900_000);
  });

  it('of tls include handshakes that timed out', async () => {
    const port = await listening(createTcpServer((socket) => socket.on('error', () => {})));
    const config = client(port, { timeoutMs, load: { rate: 20 } });
    const { counter, histogram } = await runJob({ engine: 'tls', config, duration: { seconds: 1 } });
    expect(counter('tls.errors.timeout')).toBeGreaterThan(10);
    expect(histogram('tls.latency').count).toBe(counter('tls.errors.timeout'));
    expect(histogram('tls.latency').min).toBeGreaterThan(minUs);
  });

  it('of http/2 include requests that timed out', async () => {
    const port = await listening(createHttp2Server().on('stream', () => {}) as unknown as Server);
    const config = client(port, { version: '2', connections: 20, timeoutMs, load: { rate: 20 } });
    const { counter, histogram } = await runJob({ engine: 'http', config, duration: { seconds: 1 } });
    expect(counter('http.errors.timeout')).toBeGreaterThan(10);
    expect(histogram('http.latency').count).toBe(counter('http.errors.timeout'));
    expect(histogram('http.latency').min).toBeGreaterThan(minUs);
  });

  it('of http/3 include requests that timed out', async () => {
    const port = await freePort();
    const identity = createSelfSigned(['a.test']);
    const responses = [{ delayMs: 60_000 }];
    const listen = [{ host: '127.0.0.1', port }];
    const server = await startServer('http', { listen, version: '3', tls: { ...identity }, responses });
    const more = {
      version: '3',
      tls: { verify: false, sni: 'a.test' },
      connections: 20,
      timeoutMs,
      load: { rate: 20 },
    };
    const run = await runJob({ engine: 'http', config: client(port, more), duration: { seconds: 1 } });
    await server.stop();
    const timeouts = run.counter('http.errors.timeout');
    expect(timeouts).toBeGreaterThan(10);
    expect(run.histogram('http.latency').count).toBe(timeouts);
    expect(run.histogram('http.latency').min).toBeGreaterThan(minUs);
  });

  it('of recordings include requests that timed out', async () => {
    const port = await listening(createServer(() => {}));
    const { script } = compiledFiles(harOf({ url: 'http://a.test/x', text: 'abc' }), exact);
    const targets = [{ host: '127.0.0.1', port, place: 0 }];
    const config = { role: 'client', targets, script, timeoutMs };
    const run = await runJob({ engine: 'har-replay', config, duration: { mode: 'continuous' } });
    expect(run.counter('har-replay.errors.timeout')).toBe(1);
    expect(run.histogram('har-replay.entry').count).toBe(1);
    expect(run.histogram('har-replay.entry').min).toBeGreaterThan(minUs);
  });

  it('of tcp include connections that were never accepted', async () => {
    // A process that sleeps accepts nothing: once its short queue is full, the kernel drops further requests.
    const sleeping = `
      const server = require('node:net').createServer();
      server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
        require('node:fs').writeSync(1, server.address().port + '\\n');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      });`;
    const child = spawn(process.execPath, ['-e', sleeping], { stdio: ['ignore', 'pipe', 'inherit'] });
    open.push({ close: () => child.kill('SIGKILL') });
    const [line] = await once(child.stdout, 'data');
    const config = client(Number(line), { connectTimeoutMs: timeoutMs, load: { rate: 20 } });
    const { counter, histogram } = await runJob({ engine: 'tcp', config, duration: { seconds: 1 } });
    const timeouts = counter('tcp.errors.timeout');
    expect(timeouts).toBeGreaterThan(10);
    expect(counter('tcp.attempted')).toBe(counter('tcp.established') + timeouts);
    expect(histogram('tcp.latency').count).toBe(counter('tcp.attempted'));
    expect(histogram('tcp.latency').quantile(0.95)).toBeGreaterThan(minUs);
  });
});
