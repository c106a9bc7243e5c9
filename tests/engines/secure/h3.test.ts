import { createHash, X509Certificate } from 'node:crypto';
import { createSelfSigned } from '@rushhour/agent';
import { type Browser, chromium } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { execute } from '../programs.ts';

takePriority();

const identity = createSelfSigned(['localhost', '127.0.0.1', '::1']);
const text = 'abcdefghij'.repeat(30_000);

const startH3 = async (options: object = {}, host = '127.0.0.1') => {
  const port = await freePort();
  const server = await startServer('http', {
    listen: [{ host, port }],
    version: '3',
    tls: { ...identity },
    responses: [{ body: { type: 'text', data: text }, headers: [{ name: 'X-Test', value: 'yes' }] }],
    ...options,
  });
  return { port, stop: server.stop };
};

const clientOf = (port: number, options: object = {}, host = '127.0.0.1') => ({
  role: 'client',
  version: '3',
  targets: [{ host, port }],
  tls: { verify: true, ca: identity.certificate, sni: 'localhost' },
  connections: 3,
  maxStreams: 10,
  ...options,
});

const count = (number: number) => ({ mode: 'count', count: number }) as const;

describe('HTTP/3', () => {
  it.each(['127.0.0.1', '::1'])('carries requests and answers over %s, with the metrics of QUIC', async (host) => {
    const server = await startH3({}, host);
    const config = clientOf(server.port, { expect: { bodyContains: 'jabcdefghij' } }, host);
    const run = await runJob({ engine: 'http', config, duration: count(300) });
    const served = await server.stop();
    expect(run.counter('http.ok')).toBe(300);
    expect(served.counter('http.served')).toBe(300);
    expect(run.counter('http.rxBytes')).toBeGreaterThan(300 * text.length);
    expect(run.counter('http.connections')).toBe(3);
    expect(served.counter('http.accepted')).toBe(3);
    expect(run.histogram('http.quicHandshake').count).toBe(3);
    expect(run.histogram('http.service').count).toBe(300);
    expect(run.histogram('http.service').min).toBeGreaterThan(0);
    expect(run.histogram('http.quicRtt').count).toBeGreaterThan(0);
    expect(run.histogram('http.quicRtt').quantile(0.5)).toBeLessThan(1_000_000);
    expect(run.counter('http.quicPackets')).toBeGreaterThan(10);
    expect(run.counter('http.quicLost')).toBeLessThan(run.counter('http.quicPackets'));
  });

  it('carries bodies of requests, more streams than the server allows, and Retry', async () => {
    const server = await startH3({ retry: true, responses: [{ status: 404, body: { type: 'text', data: 'no' } }] });
    const config = clientOf(server.port, {
      method: 'POST',
      body: { type: 'random', size: 20_000 },
      maxStreams: 300,
      connections: 1,
      expect: { status: [404] },
    });
    const run = await runJob({ engine: 'http', config, duration: count(900) });
    const served = await server.stop();
    expect(run.counter('http.ok')).toBe(900);
    expect(served.counter('http.rxBytes')).toBeGreaterThan(900 * 20_000);
    expect(served.counter('http.status.404')).toBe(900);
  });

  it('goes on from other ports, as behind a NAT that forgets connections', async () => {
    const server = await startH3();
    const config = clientOf(server.port, { portChangeMs: 400, load: { rate: 100 } });
    const run = await runJob({ engine: 'http', config, duration: { mode: 'time', seconds: 2 } });
    const served = await server.stop();
    expect([run.counter('http.ok'), run.counter('http.ko')]).toEqual([run.counter('http.requests'), 0]);
    expect(run.counter('http.connections')).toBe(3);
    expect(run.counter('http.quicMoves')).toBeGreaterThanOrEqual(3 * 3);
    expect(served.counter('http.quicMoves')).toBeGreaterThanOrEqual(3 * 3);
    expect(served.counter('http.accepted')).toBe(3);
  });

  it('opens a connection for each request, and resumes sessions', async () => {
    const server = await startH3({ responses: [{ body: { type: 'text', data: 'x' } }] });
    const tls = { verify: false, resumption: 'psk' };
    const config = clientOf(server.port, { tls, keepAlive: { enabled: false } });
    const run = await runJob({ engine: 'http', config, duration: count(60) });
    const served = await server.stop();
    expect(run.counter('http.ok')).toBe(60);
    expect(served.counter('http.accepted')).toBe(60);
    expect(run.counter('http.resumed')).toBeGreaterThan(50);
    expect(served.gauge('http.concurrent')).toBe(0);
  });

  it('opens another connection after 1,000 requests, since OpenSSL keeps what belongs to streams until then', async () => {
    const server = await startH3({ responses: [{ body: { type: 'text', data: 'x' } }] });
    const run = await runJob({
      engine: 'http',
      config: clientOf(server.port, { connections: 1, keepAlive: { enabled: true, maxRequests: 0 } }),
      duration: count(2500),
    });
    const served = await server.stop();
    expect([run.counter('http.ok'), run.counter('http.requests')]).toEqual([2500, 2500]);
    expect(run.counter('http.connections')).toBe(3);
    expect(served.counter('http.accepted')).toBe(3);
  });

  it('refuses a certificate of a stranger', async () => {
    const server = await startH3();
    const tls = { verify: true, ca: createSelfSigned(['localhost']).certificate, sni: 'localhost' };
    const config = clientOf(server.port, { tls, connections: 1 });
    const run = await runJob({ engine: 'http', config, duration: { mode: 'time', seconds: 1 } });
    await server.stop();
    expect(run.counter('http.requests')).toBe(0);
    expect(run.counter('http.errors.tls')).toBeGreaterThan(0);
    expect(run.counter('http.alerts.sent.unknownCa')).toBeGreaterThan(0);
  });

  it.each(['1.1', '2'])('is offered beside HTTP/%s', async (version) => {
    const server = await startH3({ version, altSvc: true, responses: [{ body: { type: 'text', data: 'x' } }] });
    const url = `https://127.0.0.1:${server.port}/`;
    const { stdout } = await execute('curl', ['-ski', version === '2' ? '--http2' : '--http1.1', url]);
    const run = await runJob({ engine: 'http', config: clientOf(server.port), duration: count(50) });
    const served = await server.stop();
    expect(stdout.toLowerCase()).toContain(`alt-svc: h3=":${server.port}"; ma=86400`);
    expect(run.counter('http.ok')).toBe(50);
    expect(served.counter('http.served')).toBe(51);
  });

  it('is divided among cores', async () => {
    const server = await startH3({ responses: [{ body: { type: 'text', data: 'x' } }] });
    const config = clientOf(server.port, { connections: 8 });
    const run = await runJob({ engine: 'http', config, duration: count(400), cpuCores: 2 });
    await server.stop();
    expect(run.counter('http.ok')).toBe(400);
  });
});

/** Chromium trusts the key of the server by its digest. */
const withBrowser = async <T>(args: readonly string[], use: (browser: Browser) => Promise<T>): Promise<T> => {
  const key = new X509Certificate(identity.certificate).publicKey.export({ type: 'spki', format: 'der' });
  const digest = createHash('sha256').update(key).digest('base64');
  const executablePath = (await execute('sh', ['-c', 'command -v chromium'])).stdout.trim();
  const trust = `--ignore-certificate-errors-spki-list=${digest}`;
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--enable-quic', trust, ...args] });
  try {
    return await use(browser);
  } finally {
    await browser.close();
  }
};

describe('Chromium', () => {
  it.each([
    ['1.1', 'http/1.1'],
    ['2', 'h2'],
    ['3', 'h3'],
  ])('loads from the server over HTTP/%s', async (version, protocol) => {
    const server = await startH3({ version });
    const origin = `127.0.0.1:${server.port}`;
    const loaded = await withBrowser(
      version === '3' ? [`--origin-to-force-quic-on=${origin}`] : [],
      async (browser) => {
        const page = await browser.newPage();
        await page.goto(`https://${origin}/`);
        return page.evaluate(async () => {
          const bodies = await Promise.all(Array.from({ length: 20 }, (_, i) => fetch(`/${i}`).then((r) => r.text())));
          const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
          return {
            lengths: bodies.map((body) => body.length),
            protocols: entries.map((entry) => entry.nextHopProtocol),
          };
        });
      },
    );
    const served = await server.stop();
    expect(new Set(loaded.lengths)).toEqual(new Set([text.length]));
    expect(loaded.protocols.filter((used) => used === protocol).length).toBeGreaterThanOrEqual(20);
    expect(served.counter('http.errors.protocol')).toBe(0);
  });
});
