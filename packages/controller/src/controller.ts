import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { createAgents } from './agents/gateway/agents.ts';
import { startLocalAgents } from './agents/local-agents.ts';
import { createApprovalService } from './ai/approvals/approval-service.ts';
import { ensureBuiltinDictionaries } from './assets/dictionaries/ensure-builtin.ts';
import { createFileService } from './assets/files/file-service.ts';
import { localBus } from './bus/local.ts';
import { choresOf } from './chores.ts';
import type { Config } from './config.ts';
import { buildApp } from './http/app.ts';
import { prepareFirstStart } from './people/first-start.ts';
import { createRecordings } from './plan/load/recordings.ts';
import { createTaskCopies } from './plan/load/sample-copies.ts';
import { createRunService } from './run-service.ts';
import { ensureBuiltinSamples } from './security/malware/ensure-builtin.ts';
import { createVault } from './security/malware/vault.ts';
import { ensureBuiltinSignatures } from './security/signatures/ensure-builtin.ts';
import { createFolderBlobs } from './store/blobs/folder.ts';
import { createHashPool, type HashPool } from './store/blobs/hash-pool.ts';
import { openStore, type Store } from './store/store.ts';
import { loadSettings } from './store/system/settings.ts';
import { createHealth } from './system/health.ts';
import { startHousekeeping } from './system/housekeeping.ts';
import { ensureBuiltinTemplates } from './tasks/templates/ensure-builtin.ts';

/** Contents of files: in the data folder, or in an object store, whose client is loaded only where it is used. */
const openBlobs = async ({ s3Url, dataDir }: Config, hashes: HashPool) => {
  const folder = join(dataDir, 'files');
  if (s3Url === undefined) return createFolderBlobs({ folder, hashes });
  const { createS3Blobs } = await import('./store/blobs/s3.ts');
  return createS3Blobs({ url: s3Url, folder, hashes });
};

const openFiles = async (config: Config, store: Store, log: Logger) => {
  const hashes = createHashPool();
  const onError = (error: unknown) => log.error({ err: error }, 'files');
  const files = createFileService({ store, blobs: await openBlobs(config, hashes), onError });
  let recovery: Promise<unknown> | undefined;
  return {
    files,
    /** In the background: requests need not wait for it. */
    startRecovery: () => {
      hashes.start();
      recovery = files.recover().catch(onError);
    },
    close: async () => {
      await recovery;
      await files.close();
      await hashes.close();
    },
  };
};

const unreadMs = 50;

/** Starts everything in order; `close` stops it in reverse. */
export const startController = async (config: Config) => {
  const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true }));
  const store = await openStore(config);
  const bus = config.databaseUrl
    ? await (await import('./bus/postgres.ts')).postgresBus(config.databaseUrl, log)
    : localBus();
  const settings = await loadSettings(store.read, store.secrets, bus);
  const storage = await openFiles(config, store, log);
  const credentials = await prepareFirstStart(store, config.admin);
  await ensureBuiltinDictionaries(store);
  await ensureBuiltinTemplates(store);
  await ensureBuiltinSignatures(store);
  const vault = createVault({ blobs: storage.files.blobs, secrets: store.secrets });
  const copies = createTaskCopies({ store, vault });
  const recordings = createRecordings({ store, blobs: storage.files.blobs });
  // An unreachable object store does not prevent the start.
  await ensureBuiltinSamples({ store, files: storage.files, vault }).catch((error: unknown) =>
    log.error({ err: error }, 'could not store the built-in test files'),
  );
  const agents = await createAgents({
    store,
    settings,
    bus,
    log,
    blobs: recordings.beside(copies.beside(storage.files.blobs)),
    tls: config.tls,
  });
  const health = createHealth({
    store,
    dataDir: config.dataDir,
    isSchedulerAlive: () => housekeeping.isAlive(),
    agentsOnline: () => agents.gateway.onlineCount(),
  });
  const { planner, calendar, metrics, runs, dumps, ...conducting } = createRunService({
    ...{ config, store, settings, bus, log, agents },
    files: storage.files,
    copies,
    recordings,
    diskUsedPct: health.diskUsedPct,
  });
  const { approvals, drafts } = createApprovalService({ store, settings, bus, runs, planner });
  const housekeeping = startHousekeeping(
    choresOf({ store, settings, files: storage.files, runs, dumps, approvals }),
    log,
  );
  const services = {
    store,
    settings,
    bus,
    health,
    files: storage.files,
    agents,
    planner,
    calendar,
    metrics,
    runs,
    approvals,
    drafts,
    vault,
  };
  const app = await buildApp({ log, tls: config.tls, ...services });
  let localAgents: ReturnType<typeof startLocalAgents> | undefined;
  const close = async () => {
    health.setReady(false);
    // Requests that arrived but were not read yet count as in flight.
    await sleep(unreadMs);
    await localAgents?.close();
    await conducting.close();
    await agents.close();
    await app.close();
    await housekeeping.stop();
    await storage.close();
    await bus.close();
    await store.close();
  };
  try {
    await runs.recover();
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await close();
    throw error;
  }
  health.setReady(true);
  storage.startRecovery();
  const { port } = app.server.address() as AddressInfo;
  localAgents = startLocalAgents({
    count: config.localAgents ?? 0,
    url: `${config.tls ? 'https' : 'http'}://${reachable(config.host)}:${port}`,
    tls: config.tls,
    dataDir: config.dataDir,
    store,
    log,
  });
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return {
    url: `${config.tls ? 'https' : 'http'}://${host}:${port}`,
    credentials,
    store,
    settings,
    bus,
    files: storage.files,
    agents,
    runs,
    metrics,
    log,
    close,
  };
};

/** An address this machine can dial to reach what listens at `host`. */
const reachable = (host: string) => {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
};

export type Controller = Awaited<ReturnType<typeof startController>>;
