import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jobOf, storeRun } from '../../metrics/testing/stored-run.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { openStore, type Store } from '../store.ts';
import { putRunAgents, runAgentsOf } from './run-agents.ts';
import type { Writing } from './runs.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-agents-'));
let store: Store;
beforeAll(async () => {
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
});
afterAll(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

it('two thousand agents of a run change their state in one statement, and those of other runs keep theirs', async () => {
  const agents = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [i + 1, [jobOf({ target: `"${i}\\` })]]));
  const [{ runId }, other] = [await storeRun(store, { agents }), await storeRun(store, { agents: { 7: [jobOf()] } })];
  const before = await runAgentsOf(store.read, runId);
  expect(before.map(({ agentID }) => agentID)).toEqual(Array.from({ length: 2000 }, (_, i) => i + 1));
  const origin = { userId: null, address: '', requestId: '', operation: 'test' };
  let statements = 0;
  await store.change(origin, async (tx) => {
    const run: Writing['run'] = (...args) => {
      statements += 1;
      return tx.run(...args);
    };
    const changed = before.slice(1).map((agent) => ({ ...agent, state: 'ended', error: "it's over" }));
    await putRunAgents({ ...tx, engine: tx.engine, run } as Writing, changed);
  });
  expect(statements).toBe(1);
  const [first, ...others] = await runAgentsOf(store.read, runId);
  expect(first).toMatchObject({ state: 'running', error: '' });
  expect(others.every(({ state, error }) => state === 'ended' && error === "it's over")).toBe(true);
  expect(others.map(({ orders }) => orders[0]?.target)).toEqual(before.slice(1).map(({ orders }) => orders[0]?.target));
  expect(await runAgentsOf(store.read, other.runId)).toMatchObject([{ agentID: 7, state: 'running' }]);
});
