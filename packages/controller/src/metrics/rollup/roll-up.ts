import type { Mutex } from '../../concurrency/mutex.ts';
import { UniqueViolation } from '../../store/engine/database.ts';
import { everyAgent, insertSamples, type SampleRow } from '../../store/runs/samples.ts';
import type { Store } from '../../store/store.ts';
import { secondOfCell } from '../ingest/cell.ts';
import type { OpenRun } from '../ingest/open-run.ts';
import { packSeconds } from '../ingest/packing.ts';
import { storedSqueezed } from '../ingest/squeeze.ts';
import { timeOf } from '../read/run-facts.ts';
import { lastOfMinute } from './merged-minutes.ts';

/** So long after its end a minute is thought complete; what comes later opens it again. */
const lateMs = 15_000;

const rowsOf = ({ facts, merged }: OpenRun, minute: number): SampleRow[] =>
  merged.sidesOf(minute).map(({ group, seconds }) => {
    const packed = packSeconds(seconds.map(([second, cell]) => secondOfCell(second, timeOf(facts, second), cell)));
    const first = seconds[0]?.[0] ?? 0;
    const last = seconds.at(-1)?.[0] ?? 0;
    return {
      runID: facts.runId,
      agentID: everyAgent,
      orderIndex: group,
      fromSeq: first,
      toSeq: last,
      fromAt: timeOf(facts, first),
      toAt: timeOf(facts, last),
      isBlock: 1,
      data: storedSqueezed(packed),
    };
  });

const store = async ({ database }: Store, run: OpenRun, minute: number) => {
  const rows = rowsOf(run, minute);
  await database
    .transaction((tx) => insertSamples(tx, rows))
    .catch((error) => {
      // Another controller has stored the same minute in this moment.
      if (!(error instanceof UniqueViolation)) throw error;
    });
  run.rolled.add(minute);
  run.merged.drop(minute);
};

/** Stores the merged minutes that are complete, or all of them, and lets go of them in memory. */
export const rollUp = async (
  to: Store,
  run: OpenRun,
  { all, now, exclusively }: { all: boolean; now: number; exclusively: Mutex },
) => {
  const isDue = (minute: number) => all || timeOf(run.facts, lastOfMinute(minute)) + lateMs < now;
  for (const minute of run.merged.minutes.filter(isDue)) await exclusively(() => store(to, run, minute));
};
