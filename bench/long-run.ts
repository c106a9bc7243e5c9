import type { Histogram, Summary } from '@rushhour/protocol';
import { secondOfCell } from '../packages/controller/src/metrics/ingest/cell.ts';
import { NameBook } from '../packages/controller/src/metrics/ingest/name-book.ts';
import { OpenRun } from '../packages/controller/src/metrics/ingest/open-run.ts';
import { packSeconds, zstdBlob } from '../packages/controller/src/metrics/ingest/packing.ts';
import { readRunFacts } from '../packages/controller/src/metrics/read/run-facts.ts';
import { jobOf, setRun, storeRun } from '../packages/controller/src/metrics/testing/stored-run.ts';
import { createRandom, histogramOf, summaryOf } from '../packages/controller/src/metrics/testing/summaries.ts';
import {
  everyAgent,
  insertRunNames,
  insertSamples,
  type SampleRow,
} from '../packages/controller/src/store/runs/samples.ts';
import type { Store } from '../packages/controller/src/store/store.ts';

/** Agents are alike: so many different ones are made. */
const variety = 8;
const scalarCount = 44;
const histogramNames = ['latency', 'service', 'ttfb', 'connect', 'tls', 'body'].map((name) => `http.${name}`);

const random = createRandom(5);
const drawn = Array.from({ length: 200 }, () => histogramOf(random, 100, 900, 0.6));
const draw = () => drawn[Math.floor(random() * drawn.length)] as Histogram;

const secondOf = (seq: number, t0: number): Summary =>
  summaryOf({
    ...{ seq, t0 },
    counters: {
      'http.requests': 100 + Math.round(random() * 9),
      ...Object.fromEntries(
        Array.from({ length: scalarCount - 3 }, (_, i) => [`http.count.${i}`, Math.round(random() * 100)]),
      ),
    },
    gauges: { 'http.targetLoad': 100, 'agent.cpuPct': 50 + random() * 10 },
    histograms: Object.fromEntries(histogramNames.map((name) => [name, draw()])),
  });

type Key = Pick<SampleRow, 'runID' | 'agentID' | 'orderIndex'>;
const rowOf = (key: Key, [fromSeq, t0]: readonly [number, number], data: Uint8Array): SampleRow => ({
  ...key,
  ...{ fromSeq, toSeq: fromSeq + 59, fromAt: t0 + fromSeq * 1000, toAt: t0 + (fromSeq + 59) * 1000 },
  ...{ isBlock: 1, data },
});

/** Stores a minute: of every agent, and of all together; the latter of as many agents as there are kinds. */
const storeMinute = async (
  store: Store,
  run: OpenRun,
  { minute, agentCount }: { minute: number; agentCount: number },
) => {
  const { facts, names, merged } = run;
  const [runID, t0, first] = [facts.runId, facts.t0, minute * 60 + 1];
  const kinds = Array.from({ length: variety }, (_, kind) => {
    const seconds = Array.from({ length: 60 }, (_, i) => names.secondOf(secondOf(first + i, t0)));
    const stream = run.streamOf(kind + 1, 0);
    for (const second of seconds) {
      names.noteReported(stream?.side.group ?? 0, second);
      if (stream !== undefined) run.take(stream, second);
    }
    return zstdBlob(packSeconds(seconds));
  });
  const rows = Array.from({ length: agentCount }, (_, i) =>
    rowOf({ runID, agentID: i + 1, orderIndex: 0 }, [first, t0], kinds[i % variety] as Uint8Array),
  );
  for (const { group, seconds } of merged.sidesOf(minute)) {
    const packed = packSeconds(seconds.map(([second, cell]) => secondOfCell(second, t0 + second * 1000, cell)));
    rows.push(rowOf({ runID, agentID: everyAgent, orderIndex: group }, [first, t0], zstdBlob(packed)));
  }
  merged.drop(minute);
  await store.database.transaction(async (tx) => {
    await insertRunNames(
      tx,
      names.fresh.map((fresh) => ({ runID, ...fresh })),
    );
    await insertSamples(tx, rows);
  });
  names.settle();
};

/** An ended run of agents with fifty metrics each. */
export const storeLongRun = async (store: Store, { agentCount, minutes }: { agentCount: number; minutes: number }) => {
  const agents = Object.fromEntries(Array.from({ length: agentCount }, (_, i) => [i + 1, [jobOf()]]));
  const t0 = Date.now() - (minutes * 60 + 120) * 1000;
  const { runId, taskId } = await storeRun(store, { t0, agents });
  const facts = await readRunFacts(store.read, runId);
  if (facts === undefined) throw new Error('the run was not stored');
  const run = new OpenRun(facts, new NameBook(), { minutes: [], lastSecond: 0 });
  for (let minute = 0; minute < minutes; minute += 1) await storeMinute(store, run, { minute, agentCount });
  await setRun(store, runId, { status: 7, finishedAt: new Date(t0 + minutes * 60_000).toISOString() });
  return { runId, taskId };
};
