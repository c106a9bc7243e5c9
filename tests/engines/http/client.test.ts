import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startJob } from '../job.ts';
import { takePriority } from '../priority.ts';
import { type Nginx, startNginx } from '../programs.ts';

takePriority();

let nginx: Nginx;
let port: number;
const client = (more: object = {}) => ({
  role: 'client',
  targets: [{ host: '127.0.0.1', port }],
  connections: 4,
  ...more,
});
const logged = (path: string) => nginx.accessLog().filter((line) => line.includes(` ${path} `));

beforeAll(async () => {
  port = await freePort();
  nginx = await startNginx(
    port,
    `location / { return 200 "hello world"; }
     location /missing { return 404 "no"; }
     location /away { return 302 /arrived; }
     location /few { keepalive_requests 7; return 200 "few"; }
     location /big { root /; try_files /usr/bin/node /bin/bash =404; }
     location /post { return 204; }`,
  );
});
beforeEach(() => nginx.clearAccessLog());
afterAll(() => nginx.stop());

describe('http client', () => {
  it('reports as many requests and bytes as nginx logs', async () => {
    const run = await runJob({ engine: 'http', config: client({ path: '/all' }), duration: { seconds: 1.2 } });
    const lines = logged('/all');
    expect(run.outcome.status).toBe('finished');
    expect(run.counter('http.requests')).toBe(lines.length);
    expect(run.counter('http.responses')).toBe(lines.length);
    expect(run.counter('http.ok')).toBe(lines.length);
    expect(run.counter('http.status.200')).toBe(lines.length);
    expect(run.histogram('http.latency').count).toBe(lines.length);
    expect(run.counter('http.connections')).toBe(4);
    expect(lines.length).toBeGreaterThan(1000);
  });

  it('sends exactly the configured number of requests', async () => {
    const run = await runJob({
      engine: 'http',
      config: client({ path: '/counted', pipelining: 8 }),
      duration: { mode: 'count', count: 1003 },
    });
    expect(run.outcome.status).toBe('finished');
    expect(run.counter('http.requests')).toBe(1003);
    expect(logged('/counted')).toHaveLength(1003);
  });

  it('opens a connection for each request without keep-alive', async () => {
    const config = client({ path: '/once', connections: 100, keepAlive: { enabled: false }, load: { rate: 200 } });
    const run = await runJob({ engine: 'http', config, duration: { seconds: 1 } });
    expect(run.counter('http.connections')).toBe(run.counter('http.requests'));
    expect(run.counter('http.requests') + run.counter('http.dropped')).toBe(200);
    expect(logged('/once')).toHaveLength(run.counter('http.requests'));
  });

  it('limits the requests per connection', async () => {
    const config = client({ path: '/ten', keepAlive: { maxRequests: 10 }, totalSessions: 20 });
    const run = await runJob({ engine: 'http', config, duration: { mode: 'continuous' } });
    expect(run.counter('http.connections')).toBe(20);
    expect(run.counter('http.requests')).toBe(200);
    expect(logged('/ten')).toHaveLength(200);
  });

  it('continues when the server closes the connection', async () => {
    const run = await runJob({
      engine: 'http',
      config: client({ path: '/few' }),
      duration: { mode: 'count', count: 70 },
    });
    expect(run.counter('http.ok')).toBe(70);
    expect(run.counter('http.connections')).toBeGreaterThanOrEqual(10);
  });

  it('opens sessions at the configured rate', async () => {
    const config = client({ connections: 50, sessionsPerSecond: 100, keepAlive: { maxRequests: 2 } });
    const run = await runJob({ engine: 'http', config, duration: { seconds: 1 } });
    expect(Math.abs(run.counter('http.connections') - 100)).toBeLessThanOrEqual(2);
    expect(Math.abs(run.counter('http.requests') - 200)).toBeLessThanOrEqual(10);
  });

  it('checks answers against the expectation', async () => {
    const config = client({ path: '/missing' });
    const plain = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 10 } });
    expect([plain.counter('http.ok'), plain.counter('http.ko'), plain.counter('http.status.404')]).toEqual([0, 10, 10]);
    const wanted = { ...config, expect: { status: [404], bodyContains: 'no' } };
    expect(
      (await runJob({ engine: 'http', config: wanted, duration: { mode: 'count', count: 5 } })).counter('http.ok'),
    ).toBe(5);
    const missing = { ...config, expect: { status: [404], bodyContains: 'yes' } };
    expect(
      (await runJob({ engine: 'http', config: missing, duration: { mode: 'count', count: 5 } })).counter('http.ko'),
    ).toBe(5);
  });

  it('follows redirects on the same host', async () => {
    const config = client({ path: '/away', followRedirects: 3, connections: 1 });
    const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 5 } });
    expect(run.counter('http.status.302')).toBe(5);
    expect(run.counter('http.ok')).toBe(5);
    expect(logged('/arrived')).toHaveLength(5);
  });

  it('sends methods, headers and bodies', async () => {
    const config = client({
      method: 'POST',
      path: '/post?x=1',
      headers: [{ name: 'X-Test', value: 'yes' }],
      body: { type: 'pattern', size: 5000, data: 'abc' },
    });
    const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 20 } });
    expect(run.counter('http.status.204')).toBe(20);
    expect(logged('/post?x=1').every((line) => line.startsWith('204 POST'))).toBe(true);
    const head = client({ method: 'HEAD', path: '/head' });
    expect(
      (await runJob({ engine: 'http', config: head, duration: { mode: 'count', count: 20 } })).counter('http.ok'),
    ).toBe(20);
  });

  it('reads large bodies completely', async () => {
    const run = await runJob({
      engine: 'http',
      config: client({ path: '/big' }),
      duration: { mode: 'count', count: 8 },
    });
    const bytes = logged('/big').map((line) => Number(line.split(' ')[3]));
    const headBytes = run.counter('http.rxBytes') - bytes.reduce((a, b) => a + b);
    expect(bytes).toHaveLength(8);
    expect(headBytes).toBeGreaterThan(8 * 100);
    expect(headBytes).toBeLessThan(8 * 400);
  });

  it('uses the configured source addresses', async () => {
    const config = client({ path: '/from', connections: 100, sources: { networks: ['127.55.0.0/24'] } });
    await runJob({ engine: 'http', config, duration: { mode: 'count', count: 300 } });
    const addresses = new Set(logged('/from').map((line) => line.split(' ').at(-1)));
    expect(addresses.size).toBe(100);
    expect([...addresses].every((address) => address?.startsWith('127.55.0.'))).toBe(true);
  });

  // Other work may take the processor away for a while; one of three tries must hold.
  it.each([1000, 10_000])('holds a rate of %d requests a second to half a percent', { retry: 2 }, async (rate) => {
    const path = `/rate${rate}-${performance.now()}`;
    const config = client({ path, connections: 50, load: { rate } });
    const run = await runJob({ engine: 'http', config, duration: { seconds: 2 } });
    expect(Math.abs(logged(path).length / (rate * 2) - 1)).toBeLessThan(0.005);
    expect(run.counter('http.dropped')).toBeLessThan(rate * 0.01);
  });

  it('pauses, resumes and changes rate while it runs', async () => {
    const run = startJob({
      engine: 'http',
      config: client({ load: { rate: 100 }, path: '/live' }),
      duration: { seconds: 1.5 },
    });
    await run.started;
    await new Promise((resolve) => setTimeout(resolve, 500));
    run.running.pause();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = logged('/live').length;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(logged('/live').length).toBe(before);
    run.running.resume();
    expect(run.running.changeLoad({ requestsPerSecond: 1000 })).toEqual({});
    await run.totals;
    expect(logged('/live').length).toBeGreaterThan(before + 700);
  });

  it('waits between an answer and the next request', async () => {
    const config = client({ path: '/think', connections: 2, requestIntervalMs: 100 });
    await runJob({ engine: 'http', config, duration: { seconds: 1.05 } });
    expect(logged('/think').length).toBeGreaterThanOrEqual(14);
    expect(logged('/think').length).toBeLessThanOrEqual(22);
  });

  it('ramps up to the rate and reports its phase', async () => {
    const config = client({ path: '/ramp', connections: 20, load: { rate: 200 } });
    const run = await runJob({
      engine: 'http',
      config,
      duration: { seconds: 3, rampUpSec: 1, warmUpSec: 1, rampDownSec: 1 },
    });
    expect(run.summaries.slice(0, 3).map(({ phase }) => phase)).toEqual(['rampUp', 'warmUp', 'rampDown']);
    // Half the rate during ramp-up, the full rate, half during ramp-down.
    expect(logged('/ramp').length).toBe(100 + 200 + 100);
  });

  it('refuses a target that is not allowed, without sending a packet', async () => {
    const refused = { engine: 'http', config: client({ path: '/forbidden' }), allowedTargets: ['192.0.2.0/24'] };
    expect((await runJob(refused)).outcome).toMatchObject({
      status: 'failed',
      error: 'target 127.0.0.1 is not allowed',
    });
    expect(logged('/forbidden')).toHaveLength(0);
  });

  it('counts a refused connection and does not hang', async () => {
    const closed = await freePort();
    const config = { ...client(), targets: [{ host: '127.0.0.1', port: closed }] };
    const run = await runJob({ engine: 'http', config, duration: { seconds: 0.5 } });
    expect(run.outcome.status).toBe('finished');
    expect(run.counter('http.errors.refused')).toBeGreaterThan(0);
    expect(run.counter('http.errors.refused')).toBeLessThan(100);
  });

  it('distributes the load over cores and sums their counters', async () => {
    const config = client({ path: '/cores', connections: 8, load: { rate: 1000 } });
    const run = await runJob({ engine: 'http', config, cpuCores: 2, duration: { seconds: 1 } });
    expect(run.outcome).toMatchObject({ status: 'finished' });
    expect(run.counter('http.requests')).toBe(logged('/cores').length);
    expect(Math.abs(run.counter('http.requests') - 1000)).toBeLessThanOrEqual(50);
    expect(run.counter('http.connections')).toBe(8);
  });
});
