import { createSelfSigned } from '@rushhour/agent';
import type { ResultRow, RowsRecord } from '@rushhour/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startJob, startServer, type Totals } from '../job.ts';
import { takePriority } from '../priority.ts';
import { type Shop, startShop } from './shop.ts';

takePriority();

let shop: Shop;
beforeEach(async () => {
  shop = await startShop();
});
afterEach(() => shop.stop());

interface Options {
  readonly journeys: readonly object[];
  readonly more?: object;
  readonly dictionaries?: readonly object[];
  readonly connections?: number;
  readonly trace?: object;
}

const clientOf = ({ journeys, more = {}, dictionaries = [], connections = 3, trace }: Options) => ({
  role: 'client',
  targets: [{ host: '127.0.0.1', port: shop.port }],
  connections,
  timeoutMs: 5000,
  journeys: {
    journeys: journeys.map((journey, index) => ({ name: `j${index}`, ...journey })),
    dictionaries,
    users: connections,
    seed: 'test',
    ...(trace && { trace }),
  },
  ...more,
});

const run = (options: Options, iterations: number, cpuCores = 1) =>
  runJob({ engine: 'http', config: clientOf(options), duration: { mode: 'count', count: iterations }, cpuCores });

const exchangesOf = ({ summaries }: Totals): ResultRow[] =>
  summaries
    .flatMap(({ records = [] }) => records as RowsRecord[])
    .flatMap(({ table, rows }) => (table === 'exchanges' ? rows : []));

const countOf = (urls: readonly string[]) =>
  Object.fromEntries(
    Map.groupBy(urls, (url) => url)
      .entries()
      .map(([url, all]) => [url, all.length]),
  );

const people = {
  id: 1,
  type: 'table',
  selection: 'unique',
  columns: ['name', 'city'],
  rows: Array.from({ length: 20 }, (_, i) => [`user${i}`, `city${i}`]),
};

describe('journeys', () => {
  it('runs every step of every iteration, and counts what the server counts', async () => {
    const steps = [
      { name: 'home', path: '/' },
      { name: 'three', kind: 'repeat', count: 3 },
      { name: 'item', path: '/item', parent: 1 },
      { name: 'order', method: 'POST', path: '/order', body: { type: 'text', data: 'one' } },
    ];
    const result = await run({ journeys: [{ steps }] }, 100);
    expect(result.outcome.status).toBe('finished');
    expect(countOf(shop.urls())).toEqual({ '/': 100, '/item': 300, '/order': 100 });
    expect(shop.connections()).toBe(3);
    expect(result.counter('http.requests')).toBe(500);
    expect(result.counter('http.ok')).toBe(500);
    expect(result.counter('http.iterations')).toBe(100);
    expect(result.counter('http.journeyIterations.j0')).toBe(100);
    expect(result.counter('http.stepRequests.j0.item')).toBe(300);
    expect(result.histogram('http.stepLatency.j0.item').count).toBe(300);
    expect(result.histogram('http.journeyTime.j0').count).toBe(100);
    expect(shop.received.filter(({ method }) => method === 'POST').every(({ body }) => body === 'one')).toBe(true);
  });

  it('chooses journeys by their weight', async () => {
    const journeys = [
      { weight: 3, steps: [{ name: 'a', path: '/a' }] },
      { weight: 1, steps: [{ name: 'b', path: '/b' }] },
    ];
    await run({ journeys }, 80);
    expect(countOf(shop.urls())).toEqual({ '/a': 60, '/b': 20 });
  });

  it('signs each user in once, keeps its cookies and uses what it extracted', async () => {
    const steps = [
      {
        name: 'login',
        once: true,
        method: 'POST',
        path: '/login',
        body: { type: 'text', data: '{"name":"{{person.name}}"}' },
        extract: [{ variable: 'token', from: 'json', expression: '$.token' }],
      },
      {
        name: 'list',
        path: '/list?city={{person.city}}',
        headers: [{ name: 'Authorization', value: 'Bearer {{token}}' }],
        extract: [
          { variable: 'item', from: 'json', expression: '$.items[1].id' },
          { variable: 'number', from: 'regex', expression: 'number=(\\d+);' },
          { variable: 'again', from: 'header', expression: 'X-Request' },
        ],
      },
      { name: 'item', path: '/item/{{item}}/{{number}}/{{again}}' },
    ];
    const dictionaries = [{ ...people, config: { $selection: { scope: 'user' } } }];
    const journey = { steps, dictionaries: [{ name: 'person', id: 1 }] };
    const result = await run({ journeys: [journey], dictionaries }, 12);
    expect(result.counter('http.checksFailed')).toBe(0);
    expect(shop.urls('POST')).toEqual(['/login', '/login', '/login']);
    const items = shop.received.filter(({ url }) => url.startsWith('/item/'));
    expect(items).toHaveLength(12);
    for (const { url } of items) expect(url).toMatch(/^\/item\/8\/(\d+)\/\1$/);
    const lists = shop.received.filter(({ url }) => url.startsWith('/list'));
    expect(lists).toHaveLength(12);
    for (const { cookie, authorization, url } of lists) {
      const name = /sid=s-(user\d+)$/.exec(cookie ?? '')?.[1];
      expect(authorization).toBe(`Bearer t-${name}`);
      expect(url).toBe(`/list?city=${name?.replace('user', 'city')}`);
    }
    expect(new Set(lists.map(({ cookie }) => cookie)).size).toBe(3);
  });

  it('draws a row for every iteration, each once, and ends with the dictionary, on several cores', async () => {
    const journey = { steps: [{ name: 'me', path: '/{{person.name}}' }], dictionaries: [{ name: 'person', id: 1 }] };
    const result = await run({ journeys: [journey], dictionaries: [people] }, 1000, 2);
    expect(result.outcome.status).toBe('finished');
    expect(shop.urls().toSorted()).toEqual(people.rows.map(([name]) => `/${name}`).toSorted());
    expect(result.counter('http.iterations')).toBe(20);
  });

  it('draws by weight, and a row for every request where the dictionary says so', async () => {
    const weighted = {
      ...{ id: 1, type: 'list', selection: 'weighted', values: ['a', 'b'] },
      config: { $selection: { weights: [9, 1] } },
    };
    const each = {
      ...{ id: 2, type: 'range', selection: 'sequential', columns: ['n'] },
      config: { $selection: { scope: 'request' }, n: { kind: 'integer', start: '1', end: '100000' } },
    };
    const steps = [
      { name: 'one', path: '/{{letter}}/{{each}}' },
      { name: 'two', path: '/{{letter}}/{{each.n}}' },
    ];
    const dictionaries = [
      { name: 'letter', id: 1 },
      { name: 'each', id: 2 },
    ];
    await run({ journeys: [{ steps, dictionaries }], dictionaries: [weighted, each], connections: 1 }, 500);
    const drawn = shop.urls().map((url) => url.split('/'));
    expect(drawn.map(([, , number]) => Number(number))).toEqual(Array.from({ length: 1000 }, (_, i) => i + 1));
    expect(drawn.filter(([, letter]) => letter === 'a').length / 1000).toBeCloseTo(0.9, 1);
    for (let i = 0; i < 1000; i += 2) expect(drawn[i]?.[1]).toBe(drawn[i + 1]?.[1]);
  });

  it('branches on a check and counts the checks that fail', async () => {
    const steps = [
      { name: 'ask', path: '/broken' },
      { name: 'works?', kind: 'branch', checks: [{ kind: 'status', value: '200-299' }] },
      { name: 'yes', path: '/yes', parent: 1 },
      {
        ...{ name: 'no', path: '/no', parent: 1, when: 'fails' },
        checks: [
          { kind: 'contains', value: 'items' },
          { kind: 'json', name: '$.items[0].id', value: '7' },
          { kind: 'regex', value: 'number=\\d+' },
          { kind: 'header', name: 'Content-Type', value: 'application/json' },
          { kind: 'size', min: 10, max: 1000 },
          { kind: 'time', max: 60_000 },
          { kind: 'json', name: '$.items[0].id', value: '9' },
          { kind: 'size', max: 1 },
        ],
      },
    ];
    const result = await run({ journeys: [{ steps }] }, 10);
    expect(countOf(shop.urls())).toEqual({ '/broken': 10, '/no': 10 });
    expect(result.counter('http.stepChecksFailed.j0.ask')).toBe(10);
    expect(result.counter('http.stepChecksFailed.j0.no')).toBe(20);
    expect(result.counter('http.journeyFailed.j0')).toBe(10);
    expect(result.counter('http.ko')).toBe(20);
  });

  it('sends the requests of a parallel step at the same time and measures groups', async () => {
    const batch = Array.from({ length: 12 }, (_, i) => ({ name: `p${i}`, path: `/six/${i}`, parent: 1 }));
    const steps = [{ name: 'page', kind: 'group' }, { name: 'all', kind: 'parallel', parent: 0 }, ...batch];
    const result = await run({ journeys: [{ steps }], connections: 1 }, 2);
    expect(shop.urls()).toHaveLength(24);
    // None is answered before six wait.
    expect(shop.maxConcurrent()).toBe(6);
    expect(shop.connections()).toBe(6);
    expect(result.histogram('http.stepLatency.j0.all').count).toBe(2);
    expect(result.histogram('http.stepLatency.j0.page').count).toBe(2);
  });

  it('thinks between steps, and ends an iteration at a failure if it should', async () => {
    const steps = [
      { name: 'a', path: '/a' },
      { name: 'pause', kind: 'think', thinkMs: 30 },
      { name: 'b', path: '/broken' },
      { name: 'c', path: '/c' },
    ];
    const result = await run({ journeys: [{ steps, endOnFailure: true }] }, 6);
    expect(countOf(shop.urls())).toEqual({ '/a': 6, '/broken': 6 });
    expect(result.histogram('http.journeyTime.j0').min).toBeGreaterThan(28_000);
  });

  it('counts requests that are never answered and goes on', async () => {
    const steps = [
      { name: 'never', path: '/never' },
      { name: 'then', path: '/then' },
    ];
    const result = await run({ journeys: [{ steps }], more: { timeoutMs: 1000 } }, 3);
    expect(result.counter('http.stepErrors.j0.never')).toBe(3);
    expect(result.counter('http.errors.timeout')).toBe(3);
    expect(countOf(shop.urls())).toEqual({ '/never': 3, '/then': 3 });
    expect(shop.connections()).toBe(6);
  });

  it('begins iterations and requests at their rates', async () => {
    const steps = [
      { name: 'a', path: '/a' },
      { name: 'b', path: '/b' },
    ];
    const options = { journeys: [{ steps }], connections: 20 };
    const duration = { seconds: 1 };
    const sessions = { ...options, more: { sessionsPerSecond: 50 } };
    const open = await runJob({ engine: 'http', config: clientOf(sessions), duration });
    // Iterations that the end cuts have begun, too.
    expect(open.counter('http.begun') + open.counter('http.dropped')).toBe(50);
    expect(open.counter('http.iterations')).toBeGreaterThan(0);
    const requests = { ...options, more: { load: { rate: 100 } } };
    const paced = await runJob({ engine: 'http', config: clientOf(requests), duration });
    expect(paced.counter('http.requests') + paced.counter('http.dropped')).toBe(100);
  });

  it('reports exchanges with request, answer and variables, as many as wanted', async () => {
    const steps = [
      {
        ...{ name: 'login', method: 'POST', path: '/login', body: { type: 'text', data: '{"name":"{{person}}"}' } },
        extract: [{ variable: 'token', from: 'json', expression: '$.token' }],
      },
      { name: 'list', path: '/list/{{token}}', checks: [{ kind: 'contains', value: 'nowhere' }] },
      { name: 'broken', path: '/broken', headers: [{ name: 'X-Token', value: 'hidden-token' }] },
    ];
    const journey = { steps, dictionaries: [{ name: 'person', id: 1 }] };
    const options = { journeys: [journey], dictionaries: [people], connections: 1 };
    const rows = exchangesOf(await run({ ...options, trace: { exchanges: 5, hiddenHeaders: ['x-token'] } }, 5));
    expect(rows.map(({ index, state }) => [index, state])).toEqual([
      [0, 'ok'],
      [1, 'failed'],
      [2, 'failed'],
      [3, 'ok'],
      [4, 'failed'],
    ]);
    expect(rows[0]?.cells).toMatchObject({
      ...{
        journey: 'j0',
        step: 'login',
        user: 0,
        iteration: 1,
        method: 'POST',
        path: '/login',
        status: 200,
        problem: '',
      },
      variables: '{"person":"user0","token":""}',
      extracted: '{"token":"t-user0"}',
    });
    expect(rows[0]?.cells['request']).toMatch(/^POST \/login HTTP\/1\.1\r\n[\s\S]*\r\n\r\n\{"name":"user0"\}$/);
    expect(rows[0]?.cells['response']).toMatch(/^HTTP 200\r\n[\s\S]*\r\n\r\n\{"token":"t-user0"\}$/);
    expect(rows[1]?.cells).toMatchObject({
      ...{ step: 'list', path: '/list/t-user0', problem: 'failed check: contains nowhere', size: 48 },
      variables: '{"person":"user0","token":"t-user0"}',
    });
    expect(rows[2]?.cells).toMatchObject({ step: 'broken', status: 500, problem: 'status is 500' });
    expect(rows[2]?.cells['request']).toContain('X-Token: ********\r\n');
    expect(JSON.stringify(rows)).not.toContain('hidden-token');
    const failed = exchangesOf(await run({ ...options, trace: { exchanges: 3, onlyFailed: true } }, 5));
    expect(failed.map(({ cells }) => cells['step'])).toEqual(['list', 'broken', 'list']);
  });

  it('goes on when a server of HTTP/2 never answers', async () => {
    const identity = createSelfSigned(['localhost', '127.0.0.1']);
    const secure = await startShop(identity, '2');
    const steps = [
      { name: 'never', path: '/never' },
      { name: 'then', path: '/then' },
    ];
    const tls = { verify: false };
    const more = { tls, version: '2', timeoutMs: 1000, targets: [{ host: '127.0.0.1', port: secure.port }] };
    const result = await run({ journeys: [{ steps }], more }, 3);
    await secure.stop();
    expect(result.counter('http.stepErrors.j0.never')).toBe(3);
    expect(result.counter('http.ok')).toBe(3);
    expect(countOf(secure.urls())).toEqual({ '/never': 3, '/then': 3 });
  });

  it('stops in the middle of iterations', async () => {
    const steps = [
      { name: 'a', path: '/a' },
      { kind: 'think', name: 't', thinkMs: 60_000 },
    ];
    const job = startJob({
      engine: 'http',
      config: clientOf({ journeys: [{ steps }] }),
      duration: { mode: 'continuous' },
    });
    await job.started;
    while (shop.received.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    const result = await job.stop();
    expect(result.counter('http.iterations')).toBe(0);
    expect(result.counter('http.requests')).toBe(3);
    expect(result.counter('http.responses')).toBe(3);
  });
});

describe('journeys over HTTP/3', () => {
  const identity = createSelfSigned(['localhost', '127.0.0.1']);
  const tls = { verify: true, ca: identity.certificate, sni: 'localhost' };

  it('count what the server counts, with cookies, values of answers and requests at the same time', async () => {
    const port = await freePort();
    const body = { type: 'text', data: '{"token":"abc"}' };
    const server = await startServer('http', {
      ...{ listen: [{ host: '127.0.0.1', port }], version: '3', tls: identity },
      responses: [{ headers: [{ name: 'Set-Cookie', value: 'sid=1; Path=/' }], body }],
    });
    const steps = [
      { name: 'login', once: true, extract: [{ variable: 'token', from: 'json', expression: '$.token' }] },
      { name: 'all', kind: 'parallel' },
      ...[0, 1, 2].map((i) => ({ name: `p${i}`, path: `/{{token}}/${i}`, parent: 1 })),
    ];
    const more = { tls, version: '3', targets: [{ host: '127.0.0.1', port }] };
    const result = await run({ journeys: [{ steps }], more, trace: { exchanges: 4 }, connections: 2 }, 20);
    const served = await server.stop();
    expect(result.counter('http.ok')).toBe(62);
    expect(result.counter('http.iterations')).toBe(20);
    expect(served.counter('http.served')).toBe(62);
    expect(served.counter('http.accepted')).toBe(2);
    expect(result.histogram('http.quicRtt').count).toBeGreaterThan(0);
    expect(result.counter('http.quicPackets')).toBeGreaterThan(5);
    const [first, ...others] = exchangesOf(result).filter(({ cells }) => cells['user'] === 0);
    expect(first?.cells).toMatchObject({ step: 'login', extracted: '{"token":"abc"}' });
    for (const { cells } of others) expect(cells['request']).toMatch(/:path: \/abc\/\d\r\n[\s\S]*cookie: sid=1/);
  });

  it('count requests to a server that is not there as failed', async () => {
    const steps = [{ name: 'a', path: '/a' }];
    const targets = [{ host: '127.0.0.1', port: await freePort() }];
    const more = { tls, version: '3', targets, timeoutMs: 300 };
    const result = await run({ journeys: [{ steps }], more, connections: 1 }, 2);
    expect(result.counter('http.stepErrors.j0.a')).toBe(2);
    expect(result.counter('http.iterations')).toBe(2);
  });
});

describe.each(['io_uring', 'epoll', 'node'])('journeys over TLS on %s', (dataPath) => {
  it.each(['1.1', '2'] as const)('count what the server counts with HTTP/%s', async (version) => {
    const identity = createSelfSigned(['localhost', '127.0.0.1']);
    const secure = await startShop(identity, version);
    const steps = [
      { name: 'login', once: true, method: 'POST', path: '/login', body: { type: 'text', data: '{"name":"me"}' } },
      { name: 'a', path: '/a', checks: [{ kind: 'json', name: '$.items[0].id', value: '7' }] },
      { name: 'all', kind: 'parallel' },
      ...[0, 1, 2].map((i) => ({ name: `p${i}`, path: `/slow/${i}`, parent: 2 })),
    ];
    const tls = { verify: true, ca: identity.certificate, sni: 'localhost' };
    const more = { tls, dataPath, version, targets: [{ host: '127.0.0.1', port: secure.port }] };
    const result = await run({ journeys: [{ steps }], more }, 20);
    await secure.stop();
    const slow = { '/slow/0': 20, '/slow/1': 20, '/slow/2': 20 };
    expect(countOf(secure.urls())).toEqual({ '/login': 3, '/a': 20, ...slow });
    expect(secure.received.filter(({ cookie }) => cookie === 'sid=s-me')).toHaveLength(80);
    expect(result.counter('http.ok')).toBe(83);
    expect(secure.connections()).toBe(version === '2' ? 3 : 9);
  });
});
