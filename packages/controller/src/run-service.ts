import type { Logger } from 'pino';
import type { Agents } from './agents/agents.ts';
import type { Bus } from './bus/local.ts';
import { planCaptures } from './collections/applications/plan-captures.ts';
import { planTables } from './collections/dictionaries/plan-tables.ts';
import { planDictionaries } from './collections/dictionaries/plan-values.ts';
import type { FileService } from './collections/files/file-service.ts';
import { checkTask } from './collections/tasks/check/check-task.ts';
import { thresholdIssues } from './collections/tasks/thresholds.ts';
import type { Config } from './config.ts';
import type { Recordings } from './har/recordings.ts';
import { planSamples } from './malware/plan-samples.ts';
import type { TaskCopies } from './malware/task-copies.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createRuns } from './runs/create-runs.ts';
import { createDumpKeeper } from './runs/dumps/dump-keeper.ts';
import { createPlanner } from './runs/plan/create-planner.ts';
import { createCalendar } from './runs/schedules/calendar.ts';
import { startScheduler } from './runs/schedules/scheduler.ts';
import type { Store } from './store/index.ts';
import type { SettingsStore } from './store/settings.ts';

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

/** Joins what makes runs: plans, measurements and the conductor. None of them knows the others. */
export const createRunService = ({
  config,
  store,
  settings,
  bus,
  log,
  agents,
  files,
  copies,
  recordings,
  diskUsedPct,
}: Parts) => {
  const { gateway } = agents;
  const planner = createPlanner({
    store,
    settings,
    dictionaries: planDictionaries(files),
    tables: planTables(files),
    samples: planSamples(copies),
    recordings: recordings.plan,
    captures: planCaptures(files.blobs),
  });
  const metrics = createMetrics({ store, gateway, log });
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
  });
  const { blobs, isUsed } = files;
  const dumps = createDumpKeeper({ store, settings, log, gateway, blobs, isUsed });
  const scheduler = startScheduler({ store, bus, log, runs });
  return {
    planner,
    calendar: createCalendar({ store, planner }),
    metrics,
    runs,
    dumps,
    close: async () => {
      await scheduler.close();
      await runs.close();
      await dumps.close();
      await metrics.close();
    },
  };
};
