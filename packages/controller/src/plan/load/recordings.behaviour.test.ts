import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { HarScript } from '@rushhour/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { harOf, paramsOf } from '../../assets/har/testing/har-fixture.ts';
import { openStore, type Store } from '../../store/store.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { createRecordings } from './recordings.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-recordings-'));
let store: Store;
beforeAll(async () => {
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
});
afterAll(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const sha256Of = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const gone = { read: async () => Promise.reject(new Error('not here')) };

/** A controller of its own over the same database. */
const controllerWith = (...texts: string[]) => {
  const contents = new Map(texts.map((text) => [sha256Of(text), text]));
  let reads = 0;
  const blobs = {
    exists: async (sha256: string) => contents.has(sha256),
    read: async (sha256: string) => {
      reads++;
      return Readable.from([Buffer.from(contents.get(sha256) ?? '')]);
    },
  };
  const recordings = createRecordings({ store, blobs });
  const requestFor = (text: string, requested = {}) => ({
    path: '/configuration/0',
    file: { name: 'a.har', sha256: sha256Of(text), size: text.length, isReady: true },
    params: paramsOf(requested),
  });
  const plan = async (text: string, requested = {}) =>
    (await recordings.plan([requestFor(text, requested)])).get('/configuration/0');
  const bytesOf = async (sha256: string, range = {}) =>
    Buffer.concat(await (await recordings.beside(gone).read(sha256, range)).toArray());
  return { plan, bytesOf, reads: () => reads };
};

const text = harOf({ url: 'http://a.test/', text: 'hello' }, { url: 'http://a.test/2', atMs: 1, text: 'two' });

describe('recordings for agents', () => {
  it('are compiled once for the same parameters, and again for others', async () => {
    const { plan, reads } = controllerWith(text);
    const [one, same, other] = [await plan(text), await plan(text), await plan(text, { maxEntries: 1 })];
    expect(one).toMatchObject({ summary: { entries: 2 }, client: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } });
    expect(same).toEqual(one);
    expect(other).toMatchObject({ summary: { entries: 1 } });
    expect(reads()).toBe(2);
  });

  it('are had from any controller, by their hash, whole or in part', async () => {
    const planned = await controllerWith(text).plan(text);
    if (planned === undefined || 'problem' in planned) throw new Error('nothing was planned');
    const { bytesOf } = controllerWith(text);
    for (const { sha256, size } of [planned.client, planned.server]) {
      const bytes = await bytesOf(sha256);
      expect([sha256Of(bytes), bytes.length]).toEqual([sha256, size]);
      expect(await bytesOf(sha256, { start: 3, end: 9 })).toEqual(bytes.subarray(3, 9));
    }
    const script = JSON.parse(String(await bytesOf(planned.client.sha256))) as HarScript;
    expect(script.entries).toHaveLength(2);
    await expect(bytesOf('0'.repeat(64))).rejects.toThrow('not here');
  });

  it('are made aside when they are large', async () => {
    const large = harOf({ url: 'http://a.test/', text: 'x'.repeat(1_200_000) });
    const { plan, bytesOf } = controllerWith(large, large.slice(0, -20));
    const planned = await plan(large);
    if (planned === undefined || 'problem' in planned) throw new Error('nothing was planned');
    expect(sha256Of(await bytesOf(planned.server.sha256))).toBe(planned.server.sha256);
    expect(planned.server.size).toBeGreaterThan(1_200_000);
    expect(await plan(large.slice(0, -20))).toMatchObject({ problem: { code: 'HAR_BROKEN' } });
  });

  it('that are broken say why', async () => {
    const { plan } = controllerWith('{"log":', '{}');
    expect(await plan('{"log":')).toMatchObject({ problem: { code: 'HAR_BROKEN' } });
    expect(await plan('{}')).toEqual({
      problem: { code: 'HAR_BROKEN', message: 'is no HAR: it has no log with entries' },
    });
  });
});
