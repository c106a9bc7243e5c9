import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, type Started, startJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { execute, requireProgram } from '../programs.ts';

takePriority();

let folder: string;
beforeAll(() => {
  for (const program of ['curl', 'wrk']) requireProgram(program);
  folder = mkdtempSync(join(tmpdir(), 'rushhour-http-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const withServer = async (config: object, use: (port: number, server: Started) => Promise<void>) => {
  const port = await freePort();
  const server = await startServer('http', { listen: [{ host: '127.0.0.1', port }], ...config });
  try {
    await use(port, server);
  } finally {
    await server.stop();
  }
};
const curl = async (...args: string[]) => (await execute('curl', ['-sS', '--max-time', '5', ...args])).stdout;

describe('http server', () => {
  it('serves as many requests as wrk counts', () =>
    withServer({ responses: [{ body: { type: 'text', data: 'hello' } }] }, async (port, server) => {
      const { stdout } = await execute('wrk', ['-t1', '-c20', '-d1', `http://127.0.0.1:${port}/`]);
      const counted = Number(/(\d+) requests in/.exec(stdout)?.[1]);
      const totals = await server.stop();
      expect(stdout).not.toMatch(/Socket errors|Non-2xx/);
      // wrk ends with up to one request in flight per connection.
      expect(totals.counter('http.served')).toBeGreaterThanOrEqual(counted);
      expect(totals.counter('http.served')).toBeLessThanOrEqual(counted + 20);
      expect(counted).toBeGreaterThan(2000);
    }));

  it('has the same latency for wrk and for our client', { retry: 2 }, () =>
    withServer({ responses: [{ delayMs: 20 }] }, async (port) => {
      const { stdout } = await execute('wrk', ['-t1', '-c4', '-d2', '--latency', `http://127.0.0.1:${port}/`]);
      const wrkMs = Number(/50%\s+([\d.]+)ms/.exec(stdout)?.[1]);
      const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], connections: 4 };
      const run = await runJob({ engine: 'http', config, duration: { seconds: 2 } });
      const latency = run.histogram('http.latency');
      expect(latency.min / 1000).toBeGreaterThan(19);
      expect(Math.abs(latency.quantile(0.5) / 1000 / wrkMs - 1)).toBeLessThan(0.15);
      // Little's law: four connections, each answered after the mean latency.
      expect((run.counter('http.responses') * latency.avg) / 1e6 / 2 / 4).toBeCloseTo(1, 1);
    }),
  );

  it('answers curl with every method, body and framing', () =>
    withServer(
      { responses: [{ body: { type: 'pattern', size: 20_000, data: 'xy' }, isChunked: true }] },
      async (port) => {
        const url = `http://127.0.0.1:${port}/a?b=c`;
        expect(await curl(url)).toBe('xy'.repeat(10_000));
        expect(await curl('-I', url)).toMatch(
          /^HTTP\/1\.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive/,
        );
        expect(await curl('-0', url)).toHaveLength(20_000);
        writeFileSync(join(folder, 'body'), Buffer.alloc(2_000_000, 'z'));
        const upload = ['--data-binary', `@${join(folder, 'body')}`];
        expect(await curl(...upload, '-H', 'Expect: 100-continue', url)).toHaveLength(20_000);
        expect(await curl(...upload, '-H', 'Transfer-Encoding: chunked', url)).toHaveLength(20_000);
        expect(await curl(url, url, url)).toHaveLength(60_000);
      },
    ));

  it('mixes statuses by weight and delays answers', () =>
    withServer(
      {
        responses: [
          { weight: 3 },
          { weight: 1, status: 503, delayMs: 30, headers: [{ name: 'Retry-After', value: '1' }] },
        ],
      },
      async (port, server) => {
        const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], connections: 2 };
        const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 40 } });
        expect([run.counter('http.status.200'), run.counter('http.status.503')]).toEqual([30, 10]);
        expect(run.histogram('http.latency').max / 1000).toBeGreaterThanOrEqual(29);
        expect(run.histogram('http.latency').quantile(0.5) / 1000).toBeLessThan(20);
        expect((await server.stop()).counter('http.status.503')).toBe(10);
      },
    ));

  it('answers pipelined requests in order although some are delayed', () =>
    withServer({ responses: [{ status: 201, delayMs: 20 }, { status: 202 }] }, async (port) => {
      const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], connections: 1, pipelining: 10 };
      const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 100 } });
      expect([run.counter('http.status.201'), run.counter('http.status.202')]).toEqual([50, 50]);
    }));

  it('closes the connection after a number of requests or without keep-alive', () =>
    withServer({ keepAlive: { maxRequests: 5 } }, async (port, server) => {
      const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], connections: 1 };
      const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 25 } });
      expect(run.counter('http.ok')).toBe(25);
      expect((await server.stop()).counter('http.accepted')).toBeGreaterThanOrEqual(5);
    }));

  it('serves and requests over IPv6', async () => {
    const port = await freePort();
    const server = await startServer('http', { listen: [{ host: '::1', port }] });
    const config = { role: 'client', targets: [{ host: '::1', port }], connections: 2 };
    const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 20 } });
    expect(run.counter('http.ok')).toBe(20);
    expect((await server.stop()).counter('http.served')).toBe(20);
  });

  it('refuses invalid requests', () =>
    withServer({}, async (port) => {
      const answer = await execute('bash', [
        '-c',
        `exec 3<>/dev/tcp/127.0.0.1/${port}; printf 'nonsense\\r\\n\\r\\n' >&3; cat <&3`,
      ]);
      expect(answer.stdout).toMatch(/^HTTP\/1\.1 400 /);
    }));

  it('speaks TLS', () =>
    withServer({ tls: {}, responses: [{ body: { type: 'text', data: 'secret' } }] }, async (port) => {
      expect(await curl('-k', `https://127.0.0.1:${port}/`)).toBe('secret');
      const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], tls: {}, connections: 3 };
      const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 300 } });
      expect(run.counter('http.ok')).toBe(300);
      expect(run.histogram('http.tls').count).toBe(3);
      const verified = { ...config, tls: { verify: true }, timeoutMs: 300 };
      const refused = await runJob({ engine: 'http', config: verified, duration: { seconds: 0.4 } });
      expect(refused.counter('http.errors.tls')).toBeGreaterThan(0);
      expect(refused.counter('http.requests')).toBe(0);
    }));

  it.each([
    ['tunes its sockets', {}, []],
    ['tunes its sockets with TLS', { tls: {} }, []],
    [
      "reports that Node's sockets are not tuned",
      { tls: {}, dataPath: 'node' },
      [expect.stringContaining('the data path node'), expect.stringContaining('mss, congestion had no effect')],
    ],
  ])('%s', (_, tls, notes) => {
    const tuning = { mss: 600, congestion: 'reno' };
    return withServer({ ...tls, tuning, responses: [{ body: { type: 'text', data: 'small' } }] }, async (port) => {
      const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], ...tls, tuning, connections: 3 };
      const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 30 } });
      expect(run.counter('http.ok')).toBe(30);
      expect(run.outcome.notes).toEqual(notes);
    });
  });

  it.each([
    ['in the clear', {}, 'http', ['--http2-prior-knowledge']],
    ['over TLS', { tls: {} }, 'https', ['--http2', '-k']],
  ])('speaks HTTP/2 %s', (_, tls, scheme, options) =>
    withServer(
      { version: '2', ...tls, responses: [{ body: { type: 'text', data: 'two' }, delayMs: 5 }] },
      async (port, server) => {
        const url = `${scheme}://127.0.0.1:${port}/`;
        expect(await curl(...options, '-w', ' %{http_version}', url)).toBe('two 2');
        const config = {
          role: 'client',
          targets: [{ host: '127.0.0.1', port }],
          version: '2',
          ...tls,
          connections: 2,
          maxStreams: 10,
          expect: { bodyContains: 'two' },
        };
        const begin = performance.now();
        const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 200 } });
        expect(run.counter('http.ok')).toBe(200);
        expect(run.counter('http.connections')).toBe(2);
        // In sequence, 200 requests of 5 ms would take a second.
        expect(performance.now() - begin).toBeLessThan(900);
        expect((await server.stop()).counter('http.served')).toBe(201);
      },
    ),
  );

  it('lets several cores serve one port', async () => {
    const port = await freePort();
    const server = startJob({
      engine: 'http',
      config: { role: 'server', listen: [{ host: '127.0.0.1', port }] },
      duration: { mode: 'continuous' },
      cpuCores: 2,
    });
    await server.started;
    const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], connections: 20 };
    const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 500 } });
    expect(run.counter('http.ok')).toBe(500);
    expect((await server.stop()).counter('http.served')).toBe(500);
  });
});
