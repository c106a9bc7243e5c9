import { type Attempt, AttemptRecord } from '@rushhour/protocol';
import { createGuard } from '../../schema-check.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import type { Executor } from '../../store/engine/database.ts';
import { endedRunsNaming, type RunAttempts, runAttemptsOf, runRecordsOf } from '../../store/runs/run-attempts.ts';
import { type RunRecord, runs } from '../../store/runs/runs.ts';
import { setAttackResults } from '../../store/security/attack-results.ts';
import { noteVerdicts } from '../../store/security/malware.ts';
import type { Store } from '../../store/store.ts';
import { detectionsOf } from './alerts/run-alerts.ts';
import { type BlockPolicy, defaultPolicy } from './evidence.ts';
import { type JobRecords, type JoinedResult, joinRecords } from './join-records.ts';

const isRecord = createGuard<AttemptRecord>(AttemptRecord);

const attemptsIn = (text: string): Attempt[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Attempt);

const readJobRecords = async (read: Executor, runID: number, jobs: RunAttempts['orders']): Promise<JobRecords[]> => {
  const rows = Map.groupBy(await runRecordsOf(read, runID), ({ agentID, orderIndex }) => `${agentID} ${orderIndex}`);
  return jobs.map(([agentId, orderIndex, startAfterSec]) => ({
    agentId,
    orderIndex,
    startAfterMs: startAfterSec * 1000,
    records: (rows.get(`${agentId} ${orderIndex}`) ?? []).flatMap(({ records }) => records.filter(isRecord)),
  }));
};

interface SettleDeps {
  readonly store: Store;
  /** Storage of alert files. */
  readonly blobs: Pick<Blobs, 'read'>;
  /** Throws when the run is not ours to write. */
  assertOwned?(tx: Executor, runId: number): Promise<void>;
}

/** Joins the records of both sides and stores the result of each attempt. Does nothing for runs without attempts. */
export const settleAttacks = async (
  { store, blobs, assertOwned }: SettleDeps,
  { id, taskID, number, t0, labels }: RunRecord,
): Promise<void> => {
  const files = await runAttemptsOf(store.read, id);
  if (files.length === 0 || t0 === null) return;
  const results: JoinedResult[] = [];
  for (const { text, policy, orders, sha256 } of files) {
    const name = `${id}-${sha256.slice(0, 8)}`;
    const jobRecords = await readJobRecords(store.read, id, orders);
    const attempts = attemptsIn(text);
    const judged = { ...defaultPolicy, ...(policy as object) } as BlockPolicy;
    const joined = joinRecords({ attempts, policy: judged, jobRecords, t0, name });
    const detections = await detectionsOf(
      { read: store.read, blobs },
      { policy, attempts, results: joined, jobRecords },
    );
    results.push(...joined.map((result, index) => ({ ...result, ...detections?.[index] })));
  }
  const device = labels['device'] ?? '';
  await store.database.transaction(async (tx) => {
    await assertOwned?.(tx, id);
    await setAttackResults(
      tx,
      id,
      results.map((result) => ({ ...result, taskID, iteration: number, device })),
    );
    await noteVerdicts(
      tx,
      results.filter(({ kind }) => kind === 'malware').map(({ refID }) => refID),
    );
  });
};

/** Settles runs again whose alert file has just been completed. */
export const settleAlerts = async (deps: SettleDeps, fileId: number): Promise<void> => {
  for (const runId of await endedRunsNaming(deps.store.read, fileId)) {
    const run = await runs.find(deps.store.read, runId);
    if (run !== undefined) await settleAttacks(deps, run);
  }
};
