import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  defaultSettings,
  isTerminal,
  permissions,
  type Settings,
  type StartBody,
  type Threshold,
} from '@rushhour/contract';
import { pino } from 'pino';
import { localBus } from '../../bus/local.ts';
import { agents } from '../../store/agents/agents.ts';
import { runEventsOf } from '../../store/runs/run-events.ts';
import { activeRuns, runs as runTable } from '../../store/runs/runs.ts';
import { openStore } from '../../store/store.ts';
import { tasks } from '../../store/tasks/tasks.ts';
import { createDatabase } from '../../testing/postgres.ts';
import { createRuns } from '../lifecycle/create-runs.ts';
import type { Timing } from '../lifecycle/deadlines.ts';
import { readView } from '../lifecycle/run-view.ts';
import type { StartRequest } from '../queue/start-check.ts';
import type { Script } from './scripted-agent.ts';
import { type ScriptedGateway, scriptedGateway } from './scripted-gateway.ts';
import { scriptedMetrics } from './scripted-metrics.ts';
import { scriptedPlanner } from './scripted-planner.ts';

export const secondMs = 40;

const quickTiming: Partial<Timing> = {
  ...{ tickMs: 50, leadMs: 60, armedMs: 1500, marginMs: 2000 },
  ...{ retryMs: 200, leaseMs: 1000, lateMs: 2000, resetMs: 200, absentMs: 100 },
};

const quickTasks: Partial<Settings['tasks']> = {
  ...{ queueTimeoutSec: 5, prepareTimeoutSec: 5, maxPauseSec: 5, stopTimeoutSec: 3, recoveryGraceSec: 1 },
};

const origin = { userId: null, address: '', requestId: 'test', operation: 'test' };

interface LoadRequest {
  sources?: number[];
  targets?: number[];
  pluginId?: number;
  duration?: { mode: 'time' | 'count' | 'continuous'; seconds?: number };
  thresholds?: Threshold[];
}

/** A store, scripted agents, and a conductor that can be stopped and created again. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table of actions for tests
export const createRunLab = async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-runs-'));
  const databaseUrl = await createDatabase();
  const store = await openStore({ dataDir, databaseUrl });
  const bus = localBus();
  const log = pino({ level: process.env['TEST_LOG'] ?? 'silent' });
  const net: ScriptedGateway = scriptedGateway(secondMs);
  const planner = scriptedPlanner();
  const metrics = scriptedMetrics(store, net.gateway);
  const settingsOf = (): Settings => ({
    ...defaultSettings,
    agents: { ...defaultSettings.agents },
    tasks: { ...defaultSettings.tasks, ...quickTasks },
  });
  let current = settingsOf();
  let timing: Partial<Timing> = {};
  let diskUsedPct = 10;
  const conduct = () =>
    createRuns({
      ...{ store, bus, log, planner, databaseUrl, gateway: net.gateway, metrics: metrics.metrics },
      blobs: { read: async () => Readable.from([]) },
      settings: { current: () => current },
      timing: { ...quickTiming, ...timing },
      checkDefinition: async () => [],
      checkThresholds: () => [],
      diskUsedPct: async () => diskUsedPct,
    });
  let runs = conduct();
  await runs.recover();

  const world = {
    store,
    bus,
    net,
    planner,
    values: metrics.values,
    databaseUrl,
    get settings() {
      return current;
    },
    get runs() {
      return runs;
    },
    fillDisk: (percent: number) => {
      diskUsedPct = percent;
    },
    addAgent: async (script: Script = {}, row: object = {}): Promise<number> => {
      const id = await store.change(origin, (tx) =>
        agents.insert(tx, {
          ...{
            uuid: randomUUID(),
            name: `agent-${randomUUID().slice(0, 8)}`,
            publicKey: '',
            hostname: '',
            machineId: '',
          },
          ...{
            version: '1.0.0',
            os: '',
            kernel: '',
            arch: '',
            cpuCores: 1,
            memoryMb: 1,
            addresses: [],
            interfaces: [],
          },
          ...{ engines: [], system: { caps: [], hugepages: 0, dpdk: false, rdmaDevices: [] }, bootId: '', status: 1 },
          ...{
            isBlocked: false,
            tags: '',
            comment: '',
            clockOffsetMs: 0,
            roundTripMs: 0,
            maxConcurrentTasks: 0,
            maxBps: 0,
          },
          ...{ reservedReason: '', fence: 0, needsReset: false, enrolledAt: tx.now },
          ...row,
        }),
      );
      const agent = net.add(id, script);
      await store.change(origin, (tx) => agents.update(tx, id, { bootId: agent.bootId }));
      return id;
    },
    changeAgent: (id: number, row: object) => store.change(origin, (tx) => agents.update(tx, id, row)),
    addTask: ({ sources = [], targets = [], pluginId = 1, duration, thresholds = [] }: LoadRequest): Promise<number> =>
      store.change(origin, (tx) =>
        tasks.insert(tx, {
          ...{
            comment: 'test',
            status: 0,
            error: '',
            accessPlane: [],
            controlPlane: [],
            configurationSecrets: {},
            dumps: {},
          },
          ...{ thresholds, scheduleEnabled: false },
          configuration: [
            {
              plugin: { id: pluginId },
              values: {
                sources: sources.map((id) => ({ agent: { id } })),
                targets: targets.map((id) => ({ agent: { id } })),
                requestsPerSecond: 100,
                ...(duration && { duration }),
              },
            },
          ],
        }),
      ),
    startWith: (taskId: number, options: Partial<StartRequest>) =>
      runs.start(origin, {
        ...{ taskId, body: {}, userId: null, permissions: new Set([permissions['system.admin']]), by: 'user' },
        ...options,
      }),
    start: async (taskId: number, body: StartBody = {}, held: readonly number[] = [permissions['system.admin']]) =>
      (await world.startWith(taskId, { body, permissions: new Set(held) })).runId,
    stop: (taskId: number, mode: 'graceful' | 'abort' = 'graceful') =>
      runs.stopTask(origin, taskId, { mode, reason: 'user' }),
    change: <T>(work: Parameters<typeof store.change<T>>[1]) => store.change(origin, work),
    run: async (runId: number) => {
      const run = await runTable.find(store.read, runId);
      if (run === undefined) throw new Error(`no run ${runId}`);
      return run;
    },
    task: async (taskId: number) => {
      const task = await tasks.find(store.read, taskId);
      if (task === undefined) throw new Error(`no task ${taskId}`);
      return task;
    },
    agentsOf: async (runId: number) => (await readView(store.read, runId))?.agents ?? [],
    statuses: async (runId: number) =>
      (await runEventsOf(store.read, runId, 'status')).map(({ data }) => Number(data['status'])),
    events: async (runId: number, type: string) => runEventsOf(store.read, runId, type),
    /** Waits until the run has the status. */
    reach: (runId: number, status: number) =>
      eventually(async () => {
        const run = await world.run(runId);
        if (run.status !== status) throw new Error(`run ${runId} is ${run.status}, not ${status}: ${run.error}`);
        return run;
      }),
    end: (runId: number) =>
      eventually(async () => {
        const run = await world.run(runId);
        if (!isTerminal(run.status)) throw new Error(`run ${runId} is ${run.status}`);
        return run;
      }),
    /** The controller ends and another one begins on the same store. */
    crash: () => runs.close(),
    revive: async () => {
      runs = conduct();
      await runs.recover();
    },
    /** The same controller with other time spans, until the next `reset`. */
    retime: async (other: Partial<Timing>) => {
      timing = other;
      await runs.close();
      await world.revive();
    },
    /** Ends what a test left behind. */
    reset: async () => {
      current = settingsOf();
      planner.issues = [];
      metrics.values.clear();
      diskUsedPct = 10;
      for (const { taskID } of await activeRuns(store.read)) await world.stop(taskID, 'abort').catch(() => {});
      await eventually(async () => {
        if ((await activeRuns(store.read)).length > 0) throw new Error('runs are still active');
      });
      if (Object.keys(timing).length > 0) await world.retime({});
    },
    another: conduct,
    close: async () => {
      await runs.close();
      net.close();
      metrics.close();
      await store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return world;
};

export type RunLab = Awaited<ReturnType<typeof createRunLab>>;

/** Tries until it works. */
export const eventually = async <T>(attempt: () => Promise<T>): Promise<T> => {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  }
};
