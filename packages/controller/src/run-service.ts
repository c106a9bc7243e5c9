import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Agents } from './agents/gateway/agents.ts';
import type { FileService } from './assets/files/file-service.ts';
import type { Bus } from './bus/local.ts';
import type { Config } from './config.ts';
import { Exporter } from './metrics/export/exporter.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { createPlanner } from './plan/core/create-planner.ts';
import { readCampaignFiles } from './plan/load/campaign-files.ts';
import { readCaptureSessions } from './plan/load/capture-sessions.ts';
import { readDictionaryTables, readDictionaryValues } from './plan/load/dictionaries.ts';
import { readFuzzBaselines } from './plan/load/fuzz-baselines.ts';
import type { Recordings } from './plan/load/recordings.ts';
import type { TaskCopies } from './plan/load/sample-copies.ts';
import { readSamples } from './plan/load/samples.ts';
import { createCaptureStore } from './runs/captures/capture-store.ts';
import { startClockUpdates } from './runs/lifecycle/clock-updates.ts';
import { createRuns, type Runs } from './runs/lifecycle/create-runs.ts';
import { createCalendar } from './runs/schedules/calendar.ts';
import { startScheduler } from './runs/schedules/scheduler.ts';
import type { Executor } from './store/engine/database.ts';
import type { Store } from './store/store.ts';
import type { SettingsStore } from './store/system/settings.ts';
import { checkTask } from './tasks/check/check-task.ts';
import { thresholdIssues } from './tasks/check/threshold-rules.ts';

interface Parts {
  config: Config;
  store: Store;
  settings: SettingsStore;
  bus: Bus;
  log: Logger;
  agents: Agents;
  files: FileService;
  copies: TaskCopies;
  recordings: Recordings;
  diskUsedPct(): Promise<number>;
}

const plannerOf = ({ store, settings, files, copies, recordings }: Parts) =>
  createPlanner({
    store,
    settings,
    dictionaries: readDictionaryValues(files),
    tables: readDictionaryTables(files),
    samples: readSamples(copies),
    recordings: recordings.plan,
    captures: readCaptureSessions(files.blobs),
    baselines: readFuzzBaselines(files.blobs),
    campaignFiles: readCampaignFiles(files.blobs),
  });

/** Other parts that follow which controller conducts a run. */
const followOwners = (agents: Agents, metrics: Metrics) => ({
  onConducting: agents.setConducting,
  onOwned: agents.setOwned,
  renewAgents: agents.renew,
  onMoved: (runIds: readonly number[]) => metrics.forget(runIds),
});

/** Wires plans, metrics and the conductor together; they do not import each other. */
export const createRunService = (parts: Parts) => {
  const { config, store, settings, bus, log, agents, files, diskUsedPct } = parts;
  const { everywhere: gateway } = agents;
  const planner = plannerOf(parts);
  const assertMayIngest = (tx: Executor, runId: number) => runs.assertMayIngest(tx, runId);
  const metrics = createMetrics({ store, gateway, log, assertMayIngest, peers: agents.peers });
  const folder = join(config.dataDir, 'metrics');
  const exporter = new Exporter({ store, settings, metrics, log, folder });
  const runs: Runs = createRuns({
    store,
    blobs: files.blobs,
    settings,
    bus,
    log,
    gateway,
    planner,
    metrics,
    checkDefinition: (definition) => checkTask(store.read, definition as never),
    checkThresholds: (definition, thresholds) => thresholdIssues(definition as never, thresholds),
    diskUsedPct,
    databaseUrl: config.databaseUrl,
    ...followOwners(agents, metrics),
  });
  const { blobs, isUsed } = files;
  const dumps = createCaptureStore({ store, settings, log, gateway, blobs, isUsed });
  const clock = startClockUpdates({ store, log, writer: runs.writer, owns: runs.owns });
  const scheduler = startScheduler({ store, bus, log, runs });
  return {
    planner,
    calendar: createCalendar({ store, planner }),
    metrics,
    exporter,
    runs,
    dumps,
    close: async () => {
      await clock.close();
      await scheduler.close();
      await runs.close();
      await dumps.close();
      await exporter.close();
      await metrics.close();
    },
  };
};
