import type { Logger } from 'pino';
import type { Approvals } from './ai/approvals/approvals.ts';
import type { FileService } from './assets/files/file-service.ts';
import { sweepIdempotencyKeys } from './http/idempotency.ts';
import { sweepAccessTokens } from './people/access-tokens.ts';
import { sweepSessions } from './people/sessions.ts';
import type { CaptureStore } from './runs/captures/capture-store.ts';
import type { Runs } from './runs/lifecycle/create-runs.ts';
import { sweepHealth } from './store/agents/agent-health.ts';
import { sweepLogs } from './store/agents/agent-logs.ts';
import { sweepDrafts } from './store/ai/ai-drafts.ts';
import { foldCounts } from './store/engine/kept-counts.ts';
import { createSamplePartitions } from './store/runs/sample-partitions.ts';
import type { Store } from './store/store.ts';
import { createCheckpointWriter } from './store/system/audit-checkpoints.ts';
import { sweepDeliveries } from './store/system/deliveries.ts';
import { sweepNotifications } from './store/system/notifications.ts';
import type { SettingsStore } from './store/system/settings.ts';
import type { Chore } from './system/chore-runner.ts';
import type { createDispatcher } from './system/delivery/dispatcher.ts';
import { sweepTaskImports } from './tasks/transfer/release.ts';

const hourMs = 3_600_000;

interface Parts {
  store: Store;
  settings: SettingsStore;
  files: FileService;
  runs: Runs;
  dumps: CaptureStore;
  approvals: Approvals;
  dispatcher: ReturnType<typeof createDispatcher>;
  log: Logger;
  /** See `Config`. */
  auditCheckpoints: string | undefined;
}

/** The periodic chores. */
export const choresOf = ({
  store,
  settings,
  files,
  runs,
  dumps,
  approvals,
  dispatcher,
  log,
  auditCheckpoints,
}: Parts): Chore[] => [
  {
    name: 'space',
    everyMs: hourMs / 4,
    run: async () => {
      const bytes = (await store.database.shrink?.()) ?? 0;
      if (bytes > 0) log.info({ bytes }, 'the database file gave free space back to the disk');
    },
  },
  { name: 'sessions', everyMs: hourMs, run: () => store.database.transaction(sweepSessions) },
  { name: 'access tokens', everyMs: hourMs, run: () => store.database.transaction(sweepAccessTokens) },
  { name: 'uploads', everyMs: hourMs / 4, run: () => files.expireUploads() },
  {
    name: 'trash',
    everyMs: hourMs,
    run: async () => {
      const removed = await files.emptyTrash(settings.current().retention.trashDays);
      if (removed > 0) log.info({ removed }, 'deleted file contents whose days in the trash were over');
    },
  },
  {
    name: 'imports',
    everyMs: hourMs / 12,
    run: () => sweepTaskImports({ store, blobs: files.blobs }),
  },
  { name: 'idempotency keys', everyMs: hourMs, run: () => sweepIdempotencyKeys(store) },
  {
    name: 'notifications',
    everyMs: hourMs,
    run: async () => {
      const { notificationsDays } = settings.current().retention;
      await sweepNotifications(store.database, notificationsDays);
      await sweepDeliveries(store.database, notificationsDays);
    },
  },
  {
    name: 'audit checkpoints',
    everyMs: hourMs,
    run: createCheckpointWriter(store, auditCheckpoints, (checkpoint) => log.info({ checkpoint }, 'audit checkpoint')),
  },
  { name: 'deliveries', everyMs: 2000, run: () => dispatcher.run() },
  { name: 'approvals', everyMs: 10_000, run: () => approvals.sweep() },
  { name: 'restarts', everyMs: 2000, run: () => approvals.continueRestarts() },
  { name: 'drafts', everyMs: hourMs, run: () => sweepDrafts(store.database) },
  { name: 'runs', everyMs: hourMs, run: () => runs.sweep() },
  { name: 'counts', everyMs: hourMs / 60, run: () => foldCounts(store.database) },
  { name: 'partitions', everyMs: hourMs, run: () => createSamplePartitions(store.database) },
  { name: 'dumps', everyMs: 5000, run: () => dumps.sweep() },
  { name: 'health of agents', everyMs: hourMs / 6, run: () => sweepHealth(store.database) },
  {
    name: 'logs of agents',
    everyMs: hourMs,
    run: () => sweepLogs(store.database, settings.current().retention.logsDays),
  },
];
