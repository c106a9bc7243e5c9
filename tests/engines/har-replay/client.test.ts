import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createSelfSigned } from '@rushhour/agent';
import { describe, expect, it } from 'vitest';
import { harOf, type Shown } from '../../../packages/controller/src/assets/har/testing/har-fixture.ts';
import { freePort } from '../../process/free-port.ts';
import { runJob } from '../job.ts';
import { allOk, compiledFiles, counts, exact, play, serve, undo } from './recording.ts';

const shop: Shown[] = [
  { url: 'https://shop.test/', status: 302, answerHeaders: [['Location', '/home']] },
  {
    url: 'https://shop.test/home',
    atMs: 20,
    text: '<h1>größe</h1>',
    answerHeaders: [
      ['Content-Type', 'text/html; charset=utf-8'],
      ['Content-Encoding', 'gzip'],
      ['Set-Cookie', 'seen=1; Path=/'],
      ['Set-Cookie', 'lang=de; Path=/'],
      ['Transfer-Encoding', 'chunked'],
    ],
    headers: { 'Accept-Encoding': 'gzip, br', Host: 'wrong.test', ':method': 'GET' },
  },
  { url: 'https://cdn.test/logo.png', atMs: 40, text: Buffer.from([0x89, 0x50, 0, 255, 254]) },
  { url: 'https://shop.test/gone.js?v=1&w=2', atMs: 50, status: 404, text: 'no' },
  {
    url: 'https://shop.test/cart',
    method: 'POST',
    atMs: 60,
    post: { mimeType: 'application/json', text: '{"a":"ä"}' },
    status: 201,
    text: '{}',
  },
  { url: 'https://shop.test/ping', method: 'HEAD', atMs: 70 },
  { url: 'https://shop.test/empty', atMs: 80, status: 204 },
];

describe('a recording between two agents', () => {
  it.each([
    ['HTTP/1.1 over TLS', { httpVersion: '1.1' }],
    ['HTTP/2 over TLS', { httpVersion: '2' }],
    ['HTTP/3', { httpVersion: '3' }],
    ['HTTP/1.1 in the clear', { httpVersion: '1.1', tls: 'off' }],
    ['HTTP/2 in the clear, with prior knowledge', { httpVersion: '2', tls: 'off' }],
  ] as const)('is answered as recorded over %s', async (_, options) => {
    const played = await play(harOf(...shop), { ...options, ...exact }, { users: 3, iterations: 2 });
    expect(counts(played)).toEqual(allOk(shop.length * 6));
    expect(played.client.counter('har-replay.pages')).toBe(6);
    expect(played.client.counter('har-replay.iterations')).toBe(6);
    expect(played.client.counter('har-replay.status.404')).toBe(6);
    expect(played.client.histogram('har-replay.entry').count).toBe(shop.length * 6);
  });

  it('counts the same bytes on both sides', async () => {
    const { client, server } = await play(harOf(...shop), { httpVersion: '1.1', tls: 'off' }, { users: 2 });
    expect(server.counter('har-replay.txBytes')).toBe(client.counter('har-replay.rxBytes'));
    expect(server.counter('har-replay.rxBytes')).toBe(client.counter('har-replay.txBytes'));
    expect(server.counter('har-replay.served')).toBe(shop.length * 2);
    expect(client.counter('har-replay.txBytes')).toBeGreaterThan(500);
  });

  it('detects an answer of another status, size or content', async () => {
    const { port } = await serve(harOf({ url: 'http://a.test/x', text: 'abc' }));
    const against = async (shown: Shown) => {
      const { script } = compiledFiles(harOf(shown), exact);
      const config = { role: 'client', targets: [{ host: '127.0.0.1', port, place: 0 }], script };
      const run = await runJob({ engine: 'har-replay', config, duration: { mode: 'continuous' } });
      return [run.counter('har-replay.ok'), run.counter('har-replay.ko'), run.counter('har-replay.koStatus.200')];
    };
    expect(await against({ url: 'http://a.test/x', text: 'abc' })).toEqual([1, 0, 0]);
    expect(await against({ url: 'http://a.test/x', text: 'abd' })).toEqual([0, 1, 1]);
    expect(await against({ url: 'http://a.test/x', text: 'abcd' })).toEqual([0, 1, 1]);
    expect(await against({ url: 'http://a.test/x', text: 'abc', status: 203 })).toEqual([0, 1, 1]);
  });

  it('carries values of answers into later requests', async () => {
    const login = {
      url: 'http://a.test/login',
      method: 'POST',
      text: '{"user":{"token":"t-123"},"next":7}',
      answerHeaders: [
        ['X-Csrf', 'c/9 z'],
        ['Set-Cookie', 'sid=s1; Path=/'],
      ],
    } satisfies Shown;
    const use: Shown = {
      url: 'http://a.test/item/7?csrf=c%2F9%20z',
      method: 'POST',
      atMs: 10,
      headers: { Authorization: 'Bearer t-123', Cookie: 'sid=s1' },
      post: { mimeType: 'application/json', text: '{"t":"t-123"}' },
      text: 'ok',
    };
    const correlate = [
      {
        from: { entryIdx: 0, part: 'body' as const, jsonPath: '$.user.token' },
        to: [
          { entryIdx: 1, part: 'header' as const, match: 't-123' },
          { entryIdx: 1, part: 'body' as const, match: 't-123' },
        ],
      },
      {
        from: { entryIdx: 0, part: 'header' as const, regex: '(?i)x-csrf: (.*)' },
        to: [{ entryIdx: 1, part: 'url' as const, match: 'c/9 z' }],
      },
      {
        from: { entryIdx: 0, part: 'cookie' as const, regex: 'sid=(.*)' },
        to: [{ entryIdx: 1, part: 'header' as const, match: 's1' }],
      },
      {
        from: { entryIdx: 0, part: 'body' as const, regex: '"next":(\\d+)' },
        to: [{ entryIdx: 1, part: 'url' as const, match: '7' }],
      },
    ];
    // The server answers a login differently from the recording: only a carried value leads to an exact answer.
    const other = (text: string) =>
      text
        .replaceAll('t-123', 'other')
        .replaceAll('c/9 z', 'new&c')
        .replaceAll('c%2F9%20z', 'new%26c')
        .replaceAll('=s1', '=fresh')
        .replaceAll(':7', ':42')
        .replaceAll('/7', '/42');
    const played = JSON.parse(other(harOf(login, use))) as object;
    const { port, server } = await serve(JSON.stringify(played), { redactSecrets: false });
    const { script } = compiledFiles(harOf(login, use), { correlate, redactSecrets: false });
    const config = { role: 'client', targets: [{ host: '127.0.0.1', port, place: 0 }], script };
    const client = await runJob({ engine: 'har-replay', config, duration: { mode: 'continuous' } });
    expect(counts({ client, server: await server.stop() })).toEqual(allOk(2));
    expect(client.counter('har-replay.notFound')).toBe(0);
  });

  it('sends the cookies that were set', async () => {
    const site = harOf(
      {
        url: 'http://a.test/',
        status: 303,
        answerHeaders: [
          ['Location', '/in'],
          ['Set-Cookie', 'id=one; Path=/; HttpOnly'],
        ],
      },
      { url: 'http://a.test/in', atMs: 10, headers: { Cookie: 'id=one' }, text: 'in' },
      { url: 'http://b.a.test/', atMs: 20, headers: { Cookie: 'foreign=1' }, text: 'b' },
    );
    const seen = async (cookies: 'replay' | 'jar' | 'drop', redactSecrets: boolean) => {
      const port = await freePort();
      const lines: string[] = [];
      const answering = createServer((request, reply) => {
        lines.push(`${request.headers.host}${request.url} ${request.headers.cookie ?? '-'}`);
        if (request.url === '/' && request.headers.host === 'a.test') reply.setHeader('Set-Cookie', 'id=two; Path=/');
        reply.end();
      }).listen(port, '127.0.0.1');
      undo.push(() => answering.close());
      const { script } = compiledFiles(site, { cookies, redactSecrets });
      const config = { role: 'client', targets: [{ host: '127.0.0.1', port, place: 0 }], script, cookies };
      await runJob({ engine: 'har-replay', config, duration: { mode: 'continuous' } });
      return lines.sort();
    };
    expect(await seen('jar', true)).toEqual(['a.test/ -', 'a.test/in id=two', 'b.a.test/ -']);
    expect(await seen('drop', true)).toEqual(['a.test/ -', 'a.test/in -', 'b.a.test/ -']);
    expect(await seen('replay', false)).toEqual(['a.test/ -', 'a.test/in id=one', 'b.a.test/ foreign=1']);
    const masked = await seen('replay', true);
    expect(masked[1]).toMatch(/^a.test\/in id=[0-9a-f]{3}$/);
  });

  it('opens connections as recorded, for each host or for each entry', async () => {
    const site = harOf(
      ...['1', '1', '2', '2', '2'].map((connection, i) => ({
        url: `http://a.test/${i}`,
        connection,
        atMs: i,
        text: 'x',
      })),
    );
    const opened = async (connections: 'recorded' | 'perHost' | 'perEntry', more: object = {}) => {
      const played = await play(site, { connections }, { iterations: 2, ...more });
      expect(counts(played)).toEqual(allOk(10));
      return played.client.counter('har-replay.connections');
    };
    expect(await opened('recorded')).toBe(4);
    expect(await opened('perEntry')).toBe(10);
    expect(await opened('perHost', { maxPerHost: 3 })).toBe(3);
  });

  it('keeps the recorded pauses between pages and before answers', async () => {
    const site = harOf(
      { url: 'http://a.test/1', ms: 60, text: 'x' },
      { url: 'http://a.test/2', page: 'page_2', atMs: 1560, ms: 40, text: 'y' },
    );
    const startedAt = performance.now();
    const original = await play(site, { timing: 'original', minSleepMs: 100 });
    expect(performance.now() - startedAt).toBeGreaterThan(1590);
    const entry = original.client.histogram('har-replay.entry');
    expect(entry.min / 1000).toBeGreaterThanOrEqual(39);
    expect(original.client.histogram('har-replay.page').max / 1000).toBeLessThan(1500);
    expect(original.client.counter('har-replay.pages')).toBe(2);
    const began = performance.now();
    const none = await play(site, { timing: 'none', server: { latency: 'none' } });
    expect(none.client.histogram('har-replay.delta').count).toBe(2);
    expect(counts(none)).toEqual(allOk(2));
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it('does not request cacheable content again', async () => {
    const site = harOf(
      { url: 'http://a.test/', text: 'page' },
      { url: 'http://a.test/a.css', atMs: 5, text: 'css', answerHeaders: [['Cache-Control', 'public, max-age=600']] },
    );
    const { client } = await play(site, { cache: true }, { iterations: 3 });
    expect([client.counter('har-replay.requests'), client.counter('har-replay.cached')]).toEqual([4, 2]);
  });

  it('distinguishes equal requests', async () => {
    const site = harOf(
      { url: 'http://a.test/poll', status: 202, text: 'wait' },
      { url: 'http://a.test/poll', atMs: 1000, status: 202, text: 'still' },
      { url: 'http://a.test/poll', atMs: 2000, status: 200, text: 'done' },
    );
    expect(counts(await play(site, { timing: 'none', ...exact }, { users: 7, iterations: 3 }))).toEqual(allOk(63));
  });

  it('replays until stopped, at a rate of users, or a number of times', async () => {
    const site = harOf({ url: 'http://a.test/', text: 'x' });
    const looped = await play(site, {}, { users: 2, iterations: 0 }, { seconds: 1 });
    expect(looped.client.counter('har-replay.ok')).toBeGreaterThan(5);
    expect(looped.client.counter('har-replay.ok')).toBe(looped.client.counter('har-replay.requests'));
    const paced = await play(site, {}, { users: 5, usersPerSecond: 20 }, { seconds: 1 });
    const due = paced.client.counter('har-replay.requests') + paced.client.counter('har-replay.dropped');
    expect(Math.abs(due - 20)).toBeLessThanOrEqual(1);
    const counted = await play(site, {}, { users: 3 }, { mode: 'count', count: 10 });
    expect(counted.client.counter('har-replay.iterations')).toBe(10);
  });
});

describe('the client side', () => {
  it('resumes TLS sessions on request', async () => {
    const site = harOf({ url: 'https://a.test/1', text: 'x' }, { url: 'https://a.test/2', atMs: 900, text: 'y' });
    const resumed = async (resumption: string, version: string) => {
      const port = await freePort();
      const { certificate: cert, privateKey: key } = createSelfSigned(['a.test']);
      const seen: boolean[] = [];
      const answering = createSecureServer({ cert, key }, (_, reply) => reply.end('x'))
        .on('secureConnection', (socket) => seen.push(socket.isSessionReused()))
        .listen(port, '127.0.0.1');
      undo.push(() => answering.close());
      const { script } = compiledFiles(site, { timing: 'none' });
      const tls = { resumption, versions: [version] };
      const targets = [{ host: '127.0.0.1', port, place: 0 }];
      const config = { role: 'client', targets, script, tls, connections: 'perEntry', iterations: 2 };
      const run = await runJob({ engine: 'har-replay', config, duration: { mode: 'continuous' } });
      expect(run.counter('har-replay.ok')).toBe(4);
      return seen;
    };
    expect(await resumed('none', '1.3')).toEqual([false, false, false, false]);
    expect(await resumed('psk', '1.3')).toEqual([false, true, true, true]);
    expect(await resumed('ticket', '1.2')).toEqual([false, true, true, true]);
  });

  it('distributes its users over cores', async () => {
    const { port, script } = await serve(harOf({ url: 'http://a.test/', text: 'x' }));
    const config = { role: 'client', targets: [{ host: '127.0.0.1', port, place: 0 }], script, iterations: 2 };
    // More cores than users: one is idle.
    const run = await runJob({ engine: 'har-replay', config, cpuCores: 2, duration: { mode: 'continuous' } });
    expect(run.counter('har-replay.iterations')).toBe(2);
  });

  it('reports the failure when no server answers, and does not spin', async () => {
    const { script } = compiledFiles(harOf({ url: 'https://a.test/', text: 'x' }));
    const config = {
      role: 'client',
      targets: [{ host: '127.0.0.1', port: await freePort(), place: 0 }],
      script,
      iterations: 0,
    };
    const run = await runJob({ engine: 'har-replay', config, duration: { seconds: 1 } });
    const refused = run.counter('har-replay.errors.refused');
    // One may be in flight at the end.
    expect(run.counter('har-replay.requests') - refused).toBeLessThanOrEqual(1);
    expect(refused).toBeGreaterThan(2);
    expect(refused).toBeLessThan(20);
  });

  it('sends each host to its mapped target', async () => {
    const [a, b] = [
      await serve(harOf({ url: 'http://a.test/', text: 'A' })),
      await serve(harOf({ url: 'http://b.test/', text: 'B' })),
    ];
    const both = harOf({ url: 'http://a.test/', text: 'A' }, { url: 'http://b.test/', atMs: 1, text: 'B' });
    const { script } = compiledFiles(both, exact);
    const targets = [a, b].map(({ port }, place) => ({ host: '127.0.0.1', port, place }));
    const playBy = (places: number[][]) =>
      runJob({
        engine: 'har-replay',
        config: { role: 'client', targets, script, places, iterations: 5 },
        duration: { mode: 'continuous' },
      });
    expect((await playBy([[0], [1]])).counter('har-replay.ok')).toBe(10);
    expect((await playBy([[1], [0]])).counter('har-replay.ok')).toBe(0);
  });
});
