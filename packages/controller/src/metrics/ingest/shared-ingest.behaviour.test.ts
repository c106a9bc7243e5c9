import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Summary } from '@rushhour/protocol';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { MeasurementListener, PeerRuns, StoredSeconds } from '../../agents/gateway/peers/peer-runs.ts';
import type { Executor } from '../../store/engine/database.ts';
import { everyAgent, runNamesOf, sampleKeys } from '../../store/runs/samples.ts';
import { openStore, type Store } from '../../store/store.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { createMetrics } from '../metrics.ts';
import { createTestGateway } from '../testing/gateway.ts';
import { jobOf, setRun, storeRun } from '../testing/stored-run.ts';
import { summaryOf } from '../testing/summaries.ts';

const log = pino({ level: 'silent' });
const folder = mkdtempSync(join(tmpdir(), 'rushhour-metrics-'));
let databaseUrl: string | undefined;
const closings: (() => Promise<void>)[] = [];
const secretKey = Buffer.alloc(32, 7);

/** Which controller conducts all runs; undefined when they are over. */
let owner: Controller | undefined;
let isDeaf = false;

const createController = async (name: string) => {
  const store = await openStore({ dataDir: join(folder, name), databaseUrl, secretKey });
  const gateway = createTestGateway();
  const here = new Set<number>();
  let listener: MeasurementListener | undefined;
  const peers: PeerRuns = {
    id: name,
    hasPeers: true,
    isElsewhere: () => owner !== undefined && owner.name !== name,
    publishStored: (seconds: StoredSeconds) => {
      if (!isDeaf) owner?.stored(seconds);
      return owner !== undefined;
    },
    listen: (given) => {
      listener = given;
    },
  };
  const agents = { ...gateway.gateway, isHere: (id: number) => here.has(id) };
  const metrics = createMetrics({ store, gateway: agents, log, peers });
  closings.push(async () => {
    await metrics.close();
    await store.close();
  });
  return {
    ...{ name, store, metrics, gateway, here },
    stored: (seconds: StoredSeconds) => listener?.stored(JSON.parse(JSON.stringify(seconds))),
    /** An agent that is connected here measured something in a run of another controller. */
    measured: async (agentId: number, runId: number, summaries: Summary[]) => {
      here.add(agentId);
      listener?.measured(agentId, { type: 'summaries', runId, epoch: 0, order: 0, summaries });
      await metrics.flush();
    },
  };
};
type Controller = Awaited<ReturnType<typeof createController>>;

beforeAll(async () => {
  databaseUrl = await createDatabase();
});
afterEach(async () => {
  isDeaf = false;
  for (const close of closings.splice(0)) await close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const createThree = async () => {
  const [conducting, one, two] = [
    await createController('conducting'),
    await createController('one'),
    await createController('two'),
  ];
  owner = conducting;
  return { conducting, one, two };
};

const seconds = (t0: number, from: number, to: number, metric = 'http.requests') =>
  Array.from({ length: to - from + 1 }, (_, i) => summaryOf({ seq: from + i, t0, counters: { [metric]: from + i } }));
const sumTo = (last: number) => (last * (last + 1)) / 2;

const requestsOf = async ({ metrics }: Controller, runId: number) => {
  const { series } = await metrics.series(runId, { metrics: ['http.requests'], agg: 'sum' });
  return (series[0]?.values ?? []).reduce<number>((sum, value) => sum + (value ?? 0), 0);
};
/** Every second that is stored of an agent. */
const storedSeqs = async ({ read }: Store, runId: number, agentId = 1) =>
  (await sampleKeys(read, runId))
    .filter(({ agentID }) => agentID === agentId)
    .flatMap(({ fromSeq, toSeq }) => Array.from({ length: toSeq - fromSeq + 1 }, (_, i) => fromSeq + i));

/** Holds up the transactions of a store until they may go on. */
const holdUp = ({ database }: Store, when: 'before' | 'after') => {
  const { transaction } = database;
  const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pause = () => {
    reached.resolve();
    return goOn.promise;
  };
  database.transaction = ((work: (tx: Executor) => Promise<unknown>) =>
    transaction(async (tx) => {
      if (when === 'before') await pause();
      const result = await work(tx);
      if (when === 'after') await pause();
      return result;
    })) as typeof transaction;
  return {
    reached: reached.promise,
    goOn: () => {
      database.transaction = transaction;
      goOn.resolve();
    },
  };
};

const twoAgents = { 1: [jobOf()], 2: [jobOf()] };

// A database in a file has one controller.
describe.runIf(process.env['RUSHHOUR_TEST_ENGINE'] === 'postgres')(
  'of several controllers, one without the run',
  () => {
    it('stores and acknowledges what its agents measure, and the one with the run shows it', async () => {
      const { conducting, one, two } = await createThree();
      const { runId, t0 } = await storeRun(one.store, { agents: twoAgents });
      await one.measured(1, runId, seconds(t0, 1, 3));
      await two.measured(2, runId, seconds(t0, 1, 3));
      expect([one.gateway.acknowledged(1, runId), two.gateway.acknowledged(2, runId)]).toEqual([3, 3]);
      await conducting.metrics.flush();
      expect(conducting.gateway.sent).toEqual([]);
      expect(await requestsOf(conducting, runId)).toBe(12);
      expect(await conducting.metrics.missingSeconds(runId)).toEqual(new Map());
    });

    it('shares the names of a run with the others, however they come at the same time', async () => {
      const { conducting, one, two } = await createThree();
      const { runId, t0 } = await storeRun(one.store, { agents: { ...twoAgents, 3: [jobOf()] } });
      conducting.here.add(3);
      conducting.gateway.summaries(3, { runId }, seconds(t0, 1, 2, 'http.third'));
      await Promise.all([
        one.measured(1, runId, seconds(t0, 1, 2, 'http.first')),
        two.measured(2, runId, seconds(t0, 1, 2, 'http.second')),
        conducting.metrics.flush(),
      ]);
      await conducting.metrics.flush();
      const names = (await runNamesOf(one.store.read, runId)).map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      const wanted = ['http.first', 'http.second', 'http.third'];
      const { series } = await conducting.metrics.series(runId, { metrics: wanted, agg: 'sum' });
      expect(series.map(({ values }) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0))).toEqual([
        3, 3, 3,
      ]);
    });

    it('is heard of later when its messages are lost, and minutes that were merged without it are merged anew', async () => {
      const { conducting, one } = await createThree();
      const { runId, t0 } = await storeRun(one.store, { t0: Date.now() - 400_000, agents: twoAgents });
      conducting.here.add(2);
      conducting.gateway.summaries(2, { runId }, seconds(t0, 1, 130));
      await conducting.metrics.flush();
      isDeaf = true;
      await one.measured(1, runId, seconds(t0, 1, 125));
      await setRun(one.store, runId, { status: 4 });
      await new Promise((resolve) => setTimeout(resolve, 5500));
      const isMerged = (keys: Awaited<ReturnType<typeof sampleKeys>>) =>
        keys.some(({ agentID }) => agentID === everyAgent);
      await expect.poll(async () => isMerged(await sampleKeys(one.store.read, runId))).toBe(true);
      expect(await requestsOf(conducting, runId)).toBe(sumTo(130));
      isDeaf = false;
      await one.measured(1, runId, seconds(t0, 126, 130));
      await expect.poll(() => requestsOf(conducting, runId)).toBe(2 * sumTo(130));
      await setRun(one.store, runId, { status: 7 });
      await conducting.metrics.finish(runId);
      expect(await requestsOf(conducting, runId)).toBe(2 * sumTo(130));
    });

    it('is waited for at the end of the run, although its last message was lost', async () => {
      const { conducting, one } = await createThree();
      const outcome = { end: 'planned', lastSeq: 4, error: '' } as never;
      const { runId, t0 } = await storeRun(one.store, { agents: { 1: [jobOf({ outcome })] } });
      await one.measured(1, runId, seconds(t0, 1, 2));
      isDeaf = true;
      await one.measured(1, runId, seconds(t0, 3, 4));
      expect(await conducting.metrics.missingSeconds(runId)).toEqual(new Map());
      expect(await requestsOf(conducting, runId)).toBe(10);
    });

    it('stores nothing more of an agent that has connected to another controller, however long it was held up', async () => {
      const { conducting, one, two } = await createThree();
      const { runId, t0 } = await storeRun(one.store);
      await one.measured(1, runId, seconds(t0, 1, 1));
      const held = holdUp(one.store, 'before');
      const late = one.measured(1, runId, seconds(t0, 2, 5));
      await held.reached;
      one.here.delete(1);
      await two.measured(1, runId, seconds(t0, 2, 3));
      held.goOn();
      await late;
      await two.measured(1, runId, seconds(t0, 4, 6));
      expect(await storedSeqs(one.store, runId)).toEqual([1, 2, 3, 4, 5, 6]);
      expect([one.gateway.acknowledged(1, runId), two.gateway.acknowledged(1, runId)]).toEqual([1, 6]);
      await conducting.metrics.flush();
      expect(await requestsOf(conducting, runId)).toBe(sumTo(6));
    });

    it('waits for what another one is just storing of an agent that came from there', async () => {
      const { conducting, one, two } = await createThree();
      const { runId, t0 } = await storeRun(one.store);
      await one.measured(1, runId, seconds(t0, 1, 1));
      const held = holdUp(one.store, 'after');
      const late = one.measured(1, runId, seconds(t0, 2, 4));
      await held.reached;
      // As agents do that have heard of no acknowledgement.
      const moved = two.measured(1, runId, seconds(t0, 2, 6));
      held.goOn();
      await Promise.all([late, moved]);
      expect(await storedSeqs(one.store, runId)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(two.gateway.acknowledged(1, runId)).toBe(6);
      await conducting.metrics.flush();
      expect(await requestsOf(conducting, runId)).toBe(sumTo(6));
    });

    it('hands an agent over to the one with the run, which knows then what is stored', async () => {
      const { conducting, one } = await createThree();
      const { runId, t0 } = await storeRun(one.store);
      isDeaf = true;
      await one.measured(1, runId, seconds(t0, 1, 3));
      conducting.here.add(1);
      conducting.gateway.summaries(1, { runId }, seconds(t0, 1, 5));
      await conducting.metrics.flush();
      expect(await storedSeqs(one.store, runId)).toEqual([1, 2, 3, 4, 5]);
      expect(conducting.gateway.acknowledged(1, runId)).toBe(5);
      expect(await requestsOf(conducting, runId)).toBe(sumTo(5));
    });

    it('stores what comes after the end as anyone does', async () => {
      const { conducting, one } = await createThree();
      const { runId, t0 } = await storeRun(one.store);
      await one.measured(1, runId, seconds(t0, 1, 2));
      await conducting.metrics.flush();
      await setRun(one.store, runId, { status: 7, finishedAt: new Date(t0 + 10_000).toISOString() });
      await conducting.metrics.finish(runId);
      // It has not heard yet that the run is over.
      await one.measured(1, runId, seconds(t0, 3, 4));
      expect(one.gateway.acknowledged(1, runId)).toBe(4);
      owner = undefined;
      expect(await storedSeqs(one.store, runId)).toEqual([1, 2, 3, 4]);
      await one.metrics.finish(runId);
      expect(await requestsOf(conducting, runId)).toBe(sumTo(4));
    });
  },
);
