import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeRun } from '../../metrics/testing/stored-run.ts';
import { attackSummary } from '../../security/verdicts/summary.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { attemptsWithHash, runAttemptsOf, setRunAttempts } from '../runs/run-attempts.ts';
import { removeRuns } from '../runs/run-removal.ts';
import { openStore, type Store } from '../store.ts';
import { countAttackResults } from './attack-counts.ts';
import { attackResultsOf, listAttackResults, type StoredAttackResult, setAttackResults } from './attack-results.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-attacks-'));
let store: Store;

beforeAll(async () => {
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
});
afterAll(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const resultOf = (n: number, more: Partial<StoredAttackResult> = {}): Omit<StoredAttackResult, 'id' | 'runID'> => ({
  taskID: 1,
  iteration: 1,
  kind: 'cve',
  changes: [],
  refID: 7,
  refName: `name ${n}`,
  variant: 'plain',
  category: 'xss',
  attemptID: `t-${n}`,
  expected: 'block',
  severity: 'high',
  techniques: ['T1190'],
  direction: 'c2s',
  client: { ip: '10.0.0.1' } as StoredAttackResult['client'],
  server: { seen: 'none' } as StoredAttackResult['server'],
  outcome: n % 3 === 0 ? 'passed' : 'blocked',
  mechanism: n % 3 === 0 ? null : 'block-page',
  detected: 'unknown',
  alerts: [],
  confidence: 'high',
  reason: 'a "reason"',
  control: { before: true, after: true },
  device: n % 2 === 0 ? 'even' : 'odd',
  startedAt: '2026-11-14T09:30:00.000Z',
  durationMs: 1.5,
  excerpt: '',
  ...more,
});

describe('results of attempts', () => {
  it('are read back as they were stored, in place of earlier ones', async () => {
    const { runId } = await storeRun(store);
    const all = Array.from({ length: 1203 }, (_, n) => resultOf(n));
    for (const count of [3, 1203]) {
      await store.database.transaction((tx) => setAttackResults(tx, runId, all.slice(0, count)));
    }
    const found = await attackResultsOf(store.read, runId);
    expect(found).toHaveLength(1203);
    expect(found[3]).toMatchObject({ ...all[3], runID: runId, mechanism: null });
    const page = await listAttackResults(store.read, {
      filters: { kind: 'cve', refID: 7, outcome: 'passed', device: 'odd' },
      limit: 2,
      offset: 0,
    });
    expect(page.total).toBe(200);
    expect(page.rows.map(({ refName }) => refName)).toEqual(['name 1197', 'name 1191']);
    expect(attackSummary(await countAttackResults(store.read, { runID: runId }))).toMatchObject({
      attempts: 1203,
      passed: 401,
      blocked: 802,
      blockRate: 802 / 1203,
    });
    const byDevice = await countAttackResults(store.read, { runID: runId, kind: 'cve' }, 'device');
    expect(new Set(byDevice.map(({ group }) => group))).toEqual(new Set(['even', 'odd']));
    expect(await countAttackResults(store.read, { runID: runId, to: '2026-01-01' }, 'month')).toEqual([]);
  });

  it('go with their run, and so do its attempts', async () => {
    const { runId } = await storeRun(store);
    const text = '{"id":0}\n{"id":1}\n';
    const attempts = {
      sha256: 'f'.repeat(64),
      orders: [[1, 0, 0]] as [number, number, number][],
      policy: { a: 1 },
      text,
    };
    await store.database.transaction(async (tx) => {
      await setRunAttempts(tx, runId, [attempts]);
      await setAttackResults(tx, runId, [resultOf(1)]);
    });
    expect(await runAttemptsOf(store.read, runId)).toEqual([attempts]);
    expect((await attemptsWithHash(store.read, attempts.sha256))?.toString()).toBe(text);
    await store.database.transaction((tx) => removeRuns(tx, [runId]));
    expect(await attackResultsOf(store.read, runId)).toEqual([]);
    expect(await attemptsWithHash(store.read, attempts.sha256)).toBeUndefined();
  });

  it('belong to a signature however it was played, and never to a dictionary of the same number', async () => {
    const { runId } = await storeRun(store);
    const refID = 4711;
    const own = [
      { kind: 'cve' },
      { kind: 'waf', variant: 'plain/signature' },
      { kind: 'waf', variant: 'plain/signature/payload-2' },
      { kind: 'benign', category: 'other' },
    ];
    const others = [
      { kind: 'waf', variant: 'plain/url-param' },
      { kind: 'benign', category: 'dictionary', variant: 'plain/url-param' },
      { kind: 'malware' },
    ];
    const all = [...own, ...others].map((more, n) => resultOf(n, { ...more, refID }));
    await store.database.transaction((tx) => setAttackResults(tx, runId, all));
    const page = { filters: { signatureID: refID }, limit: 10, offset: 0, order: 'asc' } as const;
    const { rows, total } = await listAttackResults(store.read, page);
    expect([total, rows.map(({ kind, variant }) => `${kind} ${variant}`)]).toEqual([
      4,
      ['cve plain', 'waf plain/signature', 'waf plain/signature/payload-2', 'benign plain'],
    ]);
    expect(attackSummary(await countAttackResults(store.read, { signatureID: refID })).attempts).toBe(4);
  });
});
