import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Agents } from './agents/gateway/agents.ts';
import type { FileService } from './assets/files/file-service.ts';
import type { Bus } from './bus/local.ts';
import type { Config } from './config.ts';
import { Exporter } from './metrics/export/exporter.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createPlanner } from './plan/core/create-planner.ts';
import { readCaptureSessions } from './plan/load/capture-sessions.ts';
import { readDictionaryTables, readDictionaryValues } from './plan/load/dictionaries.ts';
import { readFuzzBaselines } from './plan/load/fuzz-baselines.ts';
import type { Recordings } from './plan/load/recordings.ts';
import type { TaskCopies } from './plan/load/sample-copies.ts';
import { readSamples } from './plan/load/samples.ts';
import { createCaptureStore } from './runs/captures/capture-store.ts';
import { startClockUpdates } from './runs/lifecycle/clock-updates.ts';
import { createRuns } from './runs/lifecycle/create-runs.ts';
import { createRunWriter } from './runs/lifecycle/run-writer.ts';
import { createCalendar } from './runs/schedules/calendar.ts';
import { startScheduler } from './runs/schedules/scheduler.ts';
import type { Store } from './store/store.ts';
import type { SettingsStore } from './store/system/settings.ts';
import { checkTask } from './tasks/check/check-task.ts';
import { thresholdIssues } from './tasks/thresholds.ts';

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
  });

/** Wires plans, metrics and the conductor together; they do not import each other. */
export const createRunService = (parts: Parts) => {
  const { config, store, settings, bus, log, agents, files, diskUsedPct } = parts;
  const { everywhere: gateway } = agents;
  const planner = plannerOf(parts);
  const metrics = createMetrics({ store, gateway, log });
  const folder = join(config.dataDir, 'metrics');
  const exporter = new Exporter({ store, settings, metrics, log, folder });
  const runs = createRuns({
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
    onConducting: agents.setConducting,
  });
  const { blobs, isUsed } = files;
  const dumps = createCaptureStore({ store, settings, log, gateway, blobs, isUsed });
  const clock = startClockUpdates({ store, log, writer: createRunWriter({ store, bus }) });
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
