import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataPaths } from '../conformance/data-paths.ts';
import { forget, type Recording, recordNames, recordShop, stepsOf } from './capture.ts';
import { startHaproxy, startMeddler, startReverseProxy } from './proxies.ts';
import { replay } from './replay.ts';

let shop: Recording;
let names: Recording;
beforeAll(async () => {
  shop = await recordShop();
  names = await recordNames();
});
afterAll(() => {
  if (shop) forget(shop);
  if (names) forget(names);
});

describe('a recorded application', () => {
  it('is played as it was recorded, byte for byte', async () => {
    const { client, server } = await replay({
      recording: shop,
      play: { sessions: [{ sessionIndex: 0 }, { sessionIndex: 1 }], users: 3 },
      share: { iterations: 5 },
    });
    expect(client.outcome).toMatchObject({ status: 'finished' });
    expect(client.counter('application.ok')).toBe(30);
    expect(client.counter('application.ko')).toBe(0);
    expect(client.counter('application.exchanges')).toBe(45);
    expect(client.counter('application.mismatches') + server.counter('application.mismatches')).toBe(0);
    expect(client.histogram('application.exchange').count).toBe(45);
  });

  it.each(dataPaths)('is played the same way over %s', async (dataPath) => {
    const { client, server, notes } = await replay({
      recording: shop,
      play: { sessions: [{ sessionIndex: 0 }, { sessionIndex: 1 }], users: 2 },
      shared: { dataPath },
      share: { iterations: 3 },
    });
    expect(notes).toEqual([]);
    expect(client.counter('application.ok')).toBe(12);
    expect(server.counter('application.mismatches')).toBe(0);
  });

  it('is played over UDP', async () => {
    const { client, server } = await replay({ recording: names, share: { iterations: 10 } });
    expect(client.counter('application.ok')).toBe(10);
    expect(server.counter('application.mismatches')).toBe(0);
  });
});

const both = { sessions: [{ sessionIndex: 0 }, { sessionIndex: 1 }], users: 4 };

describe('through a proxy', () => {
  it('bytes pass HAProxy in TCP mode unchanged', async () => {
    const { client, server } = await replay({
      recording: shop,
      play: both,
      share: { iterations: 5 },
      through: (port) => startHaproxy('tcp', port),
    });
    expect(client.counter('application.ok')).toBe(40);
    expect(client.counter('application.ko') + server.counter('application.mismatches')).toBe(0);
  });

  it('messages pass HAProxy in HTTP mode with the same meaning', async () => {
    const { client, server, notes } = await replay({
      recording: shop,
      play: both,
      shared: { match: 'http' },
      share: { iterations: 5 },
      through: (port) => startHaproxy('http', port),
    });
    expect(notes).toEqual([]);
    expect(client.counter('application.ok')).toBe(40);
    expect(client.counter('application.exchanges')).toBe(60);
    expect(client.counter('application.ko') + server.counter('application.mismatches')).toBe(0);
  });

  it('messages pass nginx with the same meaning, each on its own connection', async () => {
    const { client, server, notes } = await replay({
      recording: shop,
      play: both,
      shared: { match: 'http' },
      share: { iterations: 5 },
      through: startReverseProxy,
    });
    expect(notes).toEqual([]);
    expect(client.counter('application.ok')).toBe(40);
    expect(client.counter('application.ko') + server.counter('application.mismatches')).toBe(0);
  });

  it('reports bytes that a proxy rewrites when they must be identical', async () => {
    const { client, server } = await replay({ recording: shop, through: startReverseProxy, share: { iterations: 1 } });
    expect(client.counter('application.ko')).toBe(1);
    expect(server.counter('application.mismatches')).toBeGreaterThan(0);
  });

  it('finds the offset of one byte changed in a response', async () => {
    const [, answer = ''] = await stepsOf(shop.file, 0);
    const at = answer.indexOf('front page');
    const { client, notes } = await replay({
      recording: shop,
      through: (port) => startMeddler(port, (text) => text.replace('front page', 'Front page')),
    });
    expect(client.counter('application.mismatches')).toBe(1);
    expect(client.counter('application.mismatch.0-1')).toBe(1);
    expect(client.counter('application.ko')).toBe(1);
    expect(notes.join()).toContain(`differs at byte ${at}: 0x46 instead of 0x66`);
  });

  it('finds the offset of one byte changed in a request', async () => {
    const [question = ''] = await stepsOf(shop.file, 1);
    const at = question.indexOf('anna');
    const { server, notes } = await replay({
      recording: shop,
      play: both,
      through: (port) => startMeddler(port, (text) => text.replace('user=anna', 'user=Anna')),
    });
    expect(server.counter('application.mismatches')).toBe(4);
    expect(server.counter('application.mismatch.1-0')).toBe(4);
    expect(notes.join()).toContain(`differs at byte ${at}: 0x41 instead of 0x61`);
  });

  it('reports a changed header field and a changed body as HTTP differences', async () => {
    const { client, notes } = await replay({
      recording: shop,
      shared: { match: 'http' },
      through: (port) => startMeddler(port, (text) => text.replace('sid=0001', 'sid=0002')),
    });
    expect(client.counter('application.mismatches')).toBe(1);
    expect(notes.join()).toContain('has the field set-cookie: "sid=0002" instead of "sid=0001"');
  });
});
