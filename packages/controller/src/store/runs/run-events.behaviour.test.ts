import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { storeRun } from '../../metrics/testing/stored-run.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { openStore, type Store } from '../store.ts';
import { appendBounded, maxAgentEvents, runEventsOf } from './run-events.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-events-'));
let store: Store;
beforeAll(async () => {
  store = await openStore({ dataDir, databaseUrl: await createDatabase() });
});
afterAll(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

it('events of agents beyond the limit of a run are counted in one event; those of the controller are kept', async () => {
  const { runId } = await storeRun(store);
  const origin = { userId: null, address: '', requestId: '', operation: 'test' };
  const newest = `${runId}, ${maxAgentEvents}, '2026-01-01T00:00:00.000Z', 'progress', 'info', 'agent', 'busy', '{}'`;
  const columns = '"runID", seq, ts, type, severity, source, message, data';
  await store.change(origin, async (tx) => {
    await tx.run({ name: '', sql: `INSERT INTO "runEvents" (${columns}) VALUES (${newest})` }, []);
    for (const message of ['one', 'two', 'three']) {
      await appendBounded(tx, runId, { type: 'progress', source: 'agent', message });
    }
    await appendBounded(tx, runId, { type: 'recovering', source: 'controller', message: 'kept' });
  });
  expect(await runEventsOf(store.read, runId, 'progress')).toHaveLength(1);
  expect(await runEventsOf(store.read, runId, 'recovering')).toHaveLength(1);
  expect(await runEventsOf(store.read, runId, 'eventsDropped')).toMatchObject([{ data: { dropped: 3 } }]);
});
