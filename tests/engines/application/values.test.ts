import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forget, type Recording, recordShop, stepsOf } from './capture.ts';
import { startMeddler } from './proxies.ts';
import { parameterOf, replay } from './replay.ts';

let shop: Recording;
let steps: string[][];
beforeAll(async () => {
  shop = await recordShop();
  steps = await Promise.all([0, 1].map((session) => stepsOf(shop.file, session)));
});
afterAll(() => {
  if (shop) forget(shop);
});

/** The position of a text in a step. */
const at = (sessionIdx: number, stepIdx: number, text: string) => ({
  ...{ sessionIdx, stepIdx, length: text.length },
  offset: steps[sessionIdx]?.[stepIdx]?.indexOf(text) ?? -1,
});

const both = { sessions: [{ sessionIndex: 0 }, { sessionIndex: 1 }] };
const listOf = (selection: object, values: string[]) => ({
  ...{ id: 7, type: 'list', selection: 'sequential', values },
  config: { $selection: selection },
});

/** Replays, and returns the traffic. */
const overheard = async (options: Omit<Parameters<typeof replay>[0], 'recording' | 'through'>) => {
  const texts: string[] = [];
  const addresses = new Set<string>();
  const played = await replay({
    recording: shop,
    ...options,
    through: (port) =>
      startMeddler(port, (text, from) => {
        texts.push(text);
        addresses.add(from);
        return text;
      }),
  });
  return { ...played, texts, addresses };
};

const values = (texts: string[], pattern: RegExp) => texts.flatMap((text) => pattern.exec(text)?.[1] ?? []).sort();

describe('values of parameters', () => {
  it('come from a dictionary, one per user and iteration, and Content-Length follows', async () => {
    const login = parameterOf({
      source: 'dictionary',
      defaultValue: 'dict/7/value',
      stepsMappings: [at(1, 0, 'anna')],
    });
    const names = Array.from({ length: 12 }, (_, index) => `user${'x'.repeat(index)}`);
    const { client, texts, notes } = await overheard({
      play: { ...both, users: 3, parameters: [login] },
      shared: { dictionaries: [listOf({ onEnd: 'stop' }, names)] },
      share: { iterations: 4 },
    });
    expect(notes).toEqual([]);
    expect(client.counter('application.ok')).toBe(24);
    expect(values(texts, /\r\n\r\nuser=(\w+)&/)).toEqual(names.toSorted());
    for (const text of texts.filter((one) => one.startsWith('POST'))) {
      const [head = '', body = ''] = text.split('\r\n\r\n');
      expect(head).toContain(`Content-Length: ${body.length}`);
    }
  });

  it('are extracted from earlier answers, also of another session', async () => {
    const session = parameterOf({
      ...{ id: 1, name: 'session', source: 'random', type: 'hex' },
      stepsMappings: [at(0, 3, '0001')],
    });
    const echo = parameterOf({
      ...{ id: 2, name: 'echo', source: 'extract' },
      extract: at(0, 3, '0001'),
      stepsMappings: [at(1, 0, 'secret')],
    });
    const play = { ...both, parameters: [{ ...session, type: 'string' }, echo] };
    const { client, texts, notes } = await overheard({ play, share: { iterations: 6 } });
    expect(notes).toEqual([]);
    expect(client.counter('application.ok')).toBe(12);
    const given = values(texts, /sid=(\w+)/);
    expect(new Set(given).size).toBe(6);
    expect(values(texts, /password=(\w+)/)).toEqual(given);
  });

  it('that the server sends first belong to the user of the port', async () => {
    const session = parameterOf({ source: 'random', stepsMappings: [at(0, 3, '0001')] });
    const play = { ...both, users: 3, parameters: [session] };
    const { client, notes } = await replay({ recording: shop, play, share: { iterations: 4 }, hasSlots: true });
    expect(notes).toEqual([]);
    expect(client.counter('application.ok')).toBe(24);
  });

  it('may differ late in a session, which then identifies the user', async () => {
    const page = parameterOf({ source: 'counter', prefix: 'page', stepsMappings: [at(0, 2, 'basket')] });
    const { client, texts, notes } = await overheard({
      play: { users: 5, parameters: [page] },
      share: { iterations: 3 },
    });
    expect(notes).toEqual([]);
    expect(client.counter('application.ok')).toBe(15);
    expect(new Set(values(texts, /GET \/(page\d+) /)).size).toBe(15);
  });

  it('of one side are adopted by the other', async () => {
    const valueAt = (name: string, value: string, text: string) =>
      parameterOf({ id: value.length, name, source: 'system', defaultValue: value, stepsMappings: [at(1, 0, text)] });
    const { client, texts, notes } = await overheard({
      play: {
        sessions: [{ sessionIndex: 1 }],
        users: 2,
        parameters: [valueAt('when', 'nowIso', 'anna'), valueAt('from', 'clientIp', 'secret')],
      },
      share: { iterations: 2 },
    });
    expect(notes).toEqual([]);
    expect(client.counter('application.ok')).toBe(4);
    expect(texts[0]).toMatch(/user=20\d\d-\d\d-\d\dT[\d:.]+Z&password=127\.0\.0\.1/);
  });

  it('that do not fit end only the iteration that draws them', async () => {
    const number = parameterOf({
      ...{ type: 'u8', source: 'dictionary', defaultValue: 'dict/7/value' },
      stepsMappings: [at(1, 0, 'anna')],
    });
    const { client } = await overheard({
      play: { sessions: [{ sessionIndex: 1 }], parameters: [number] },
      shared: { dictionaries: [listOf({}, ['65', '300', '66'])] },
      share: { iterations: 3 },
    });
    expect(client.counter('application.ok')).toBe(2);
    expect(client.counter('application.ko')).toBe(1);
    expect(client.counter('application.errors.value')).toBe(1);
  });

  it('end with their dictionary, which is reported', async () => {
    const login = parameterOf({
      source: 'dictionary',
      defaultValue: 'dict/7/value',
      stepsMappings: [at(1, 0, 'anna')],
    });
    const { client, notes } = await overheard({
      play: { ...both, users: 2, parameters: [login] },
      shared: { dictionaries: [{ ...listOf({ onEnd: 'stop' }, ['a', 'b', 'c']), selection: 'unique' }] },
      share: { iterations: 0 },
    });
    expect(client.outcome.status).toBe('finished');
    expect(client.counter('application.ko')).toBe(0);
    expect(notes.join()).toContain('2 users ended because a dictionary has no rows left');
  });

  it('are recognised by requests when a proxy splits connections', async () => {
    const login = parameterOf({ source: 'counter', prefix: 'u', stepsMappings: [at(1, 0, 'anna')] });
    const { client, texts, notes } = await overheard({
      play: { ...both, users: 3, parameters: [login] },
      shared: { match: 'http' },
      share: { iterations: 4 },
    });
    expect(notes).toEqual([]);
    expect(client.counter('application.ok')).toBe(24);
    expect(new Set(values(texts, /user=(u\d+)&/)).size).toBe(12);
  });
});

describe('users', () => {
  it('use the configured addresses, one per iteration', async () => {
    const { client, addresses } = await overheard({
      play: { ...both, users: 2 },
      share: { iterations: 3 },
      more: { sources: { addresses: ['127.0.0.5', '127.0.0.6'] } },
    });
    expect(client.counter('application.ok')).toBe(12);
    expect([...addresses].sort()).toEqual(['127.0.0.5', '127.0.0.6']);
  });

  it('start sessions at the configured rate', async () => {
    const { client } = await overheard({
      play: { ...both, users: 5 },
      share: { iterations: 0, load: { rate: 20 } },
      duration: { seconds: 1.5 },
    });
    expect(client.counter('application.ok')).toBeGreaterThanOrEqual(30);
    expect(client.counter('application.ok')).toBeLessThanOrEqual(60);
    expect(client.gauge('application.targetLoad')).toBe(20);
  });

  it('keep to a bit rate', async () => {
    const began = performance.now();
    const { client } = await overheard({
      play: { ...both, speed: { mode: 'bps', value: 16_000 } },
      share: { iterations: 1, rate: 16_000 },
    });
    const bytes = steps.flat().reduce((sum, text) => sum + text.length, 0);
    expect(client.counter('application.ok')).toBe(2);
    expect(performance.now() - began).toBeGreaterThan(((bytes - 400) * 8) / 16);
  });
});
