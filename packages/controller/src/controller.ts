import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentStatus, statusNameOf } from '@rushhour/contract';
import { isLoopbackHost } from '@rushhour/protocol';
import { type Logger, pino } from 'pino';
import { createAgents } from './agents/gateway/agents.ts';
import { createInstaller } from './agents/installer.ts';
import { startLocalAgents } from './agents/local-agents.ts';
import { createApprovalService } from './ai/approvals/approval-service.ts';
import { ensureLibrary, libraryIds } from './assets/applications/ensure-library.ts';
import { ensureBuiltinDictionaries } from './assets/dictionaries/ensure-builtin.ts';
import { createFileService, type FileService } from './assets/files/file-service.ts';
import { type Bus, localBus } from './bus/local.ts';
import { openLink } from './bus/open-link.ts';
import { choresOf } from './chores.ts';
import type { Config } from './config.ts';
import { StartError } from './errors.ts';
import { buildApp } from './http/app.ts';
import { prepareFirstStart } from './people/first-start.ts';
import { createRecordings } from './plan/load/recordings.ts';
import { createTaskCopies } from './plan/load/sample-copies.ts';
import { createRunService } from './run-service.ts';
import { ensureBuiltinSamples } from './security/malware/ensure-builtin.ts';
import { createVault } from './security/malware/vault.ts';
import { ensureBuiltinSignatures } from './security/signatures/ensure-builtin.ts';
import type { Blobs } from './store/blobs/blobs.ts';
import { createFolderBlobs } from './store/blobs/folder.ts';
import { createHashPool, type HashPool } from './store/blobs/hash-pool.ts';
import { lockDataFolder, prepareDataFolder } from './store/data-folder.ts';
import { assertDatabasePresent, bindStore, markedFolder } from './store/installation.ts';
import { countUsers } from './store/people/users.ts';
import { databaseFile, openStore, type Store } from './store/store.ts';
import { loadControllerId } from './store/system/controller-id.ts';
import { loadSettings } from './store/system/settings.ts';
import { build } from './system/build.ts';
import { startChores } from './system/chore-runner.ts';
import { createDispatcher } from './system/delivery/dispatcher.ts';
import { createHealth } from './system/health.ts';
import { allBuiltin } from './tasks/templates/builtin/all-builtin.ts';
import { mixTemplates } from './tasks/templates/builtin/traffic/mixes.ts';
import { ensureBuiltinTemplates } from './tasks/templates/ensure-builtin.ts';

/** Contents of files: in the data folder, or in an object store, whose client is loaded only where it is used. */
const openBlobs = async ({ s3Url, dataDir }: Config, hashes: HashPool) => {
  const folder = join(dataDir, 'files');
  if (s3Url === undefined) return createFolderBlobs({ folder, hashes });
  const { createS3Blobs } = await import('./store/blobs/s3.ts');
  return createS3Blobs({ url: s3Url, folder, hashes });
};

/** Binds the data folder and the bucket to the installation of the database. */
const bindStores = async ({ dataDir, adoptData: adopt }: Config, store: Store, blobs: Blobs, log: Logger) => {
  const installation = await loadControllerId(store.database);
  const binding = { installation, isFresh: (await countUsers(store.read)) === 0, adopt };
  await bindStore(markedFolder(dataDir), binding);
  const { marked } = blobs;
  const bindBucket = async () => {
    if (marked) await bindStore(marked, binding);
  };
  // Without the object store the controller starts; its contents are not swept before the bucket is known to be ours.
  await bindBucket().catch((error: unknown) => {
    if (error instanceof StartError) throw error;
    log.error({ err: error }, `could not read the installation of ${marked?.name}`);
  });
  return bindBucket;
};

const openFiles = async (config: Config, store: Store, log: Logger) => {
  const hashes = createHashPool();
  const onError = (error: unknown) => log.error({ err: error }, 'files');
  const blobs = await openBlobs(config, hashes);
  const bindBucket = await bindStores(config, store, blobs, log).catch(async (error: unknown) => {
    await hashes.close();
    throw error;
  });
  const files = createFileService({ store, blobs, onError });
  const recover = async () => {
    await bindBucket();
    const report = await files.recover();
    const isLoss = report.trashed > 0 || report.restored > 0;
    log[isLoss ? 'warn' : 'info'](report, 'swept file contents: orphans went to the trash');
  };
  let recovery: Promise<unknown> | undefined;
  return {
    files,
    /** In the background: requests need not wait for it. */
    startRecovery: () => {
      hashes.start();
      recovery = recover().catch(onError);
    },
    close: async () => {
      await recovery;
      await files.close();
      await hashes.close();
    },
  };
};

const unreadMs = 50;

const openBus = async ({ databaseUrl }: Config, log: Logger): Promise<Bus> =>
  databaseUrl ? (await import('./bus/postgres.ts')).postgresBus(databaseUrl, log) : localBus();

/** Mixes of applications refer to those of the library, which the first start stores only later. */
const ensureTemplates = async (store: Store) =>
  ensureBuiltinTemplates(store, [...allBuiltin, ...mixTemplates(await libraryIds(store.read))]);

/** In the background: the first start of a release writes a hundred applications. */
const storeLibrary = async (store: Store, files: FileService, log: Logger) => {
  try {
    if (await ensureLibrary({ store, files })) await ensureTemplates(store);
  } catch (error) {
    log.error({ err: error }, 'could not store the library of applications');
  }
};

/** Built-in records of every installation. Without the object store the samples are left for the next start. */
const ensureBuiltin = async (
  store: Store,
  log: Logger,
  deps: Omit<Parameters<typeof ensureBuiltinSamples>[0], 'store'>,
) => {
  await ensureBuiltinDictionaries(store);
  await ensureTemplates(store);
  await ensureBuiltinSignatures(store);
  await ensureBuiltinSamples({ store, ...deps }).catch((error: unknown) =>
    log.error({ err: error }, 'could not store the built-in test files'),
  );
};

/** Database, events and files of one installation. What was opened before a refusal is closed again. */
const openStorage = async (config: Config, log: Logger) => {
  const { dataDir, databaseUrl, adoptData } = config;
  await using opened = new AsyncDisposableStack();
  if (databaseUrl === undefined) {
    prepareDataFolder(dataDir);
    opened.defer(lockDataFolder(dataDir));
    assertDatabasePresent(dataDir, databaseFile(dataDir), adoptData);
  }
  const store = opened.adopt(await openStore(config), (it) => it.close());
  const bus = opened.adopt(await openBus(config, log), (it) => it.close());
  const installation = await loadControllerId(store.database);
  const secret = store.secrets.derive('messages between controllers', installation);
  const link = opened.adopt(await openLink({ ...config, installation, secret, log }), async (it) => it?.close());
  const storage = opened.adopt(await openFiles(config, store, log), (it) => it.close());
  const kept = opened.move();
  return { store, bus, link, storage, close: () => kept.disposeAsync() };
};

/** Everything below HTTP, in the order of its dependencies; `close` stops it in reverse. */
const openServices = async (config: Config, log: Logger) => {
  const { store, bus, link, storage, close: closeStorage } = await openStorage(config, log);
  const settings = await loadSettings(store.read, store.secrets, bus);
  const { files } = storage;
  const credentials = await prepareFirstStart(store, config.admin);
  const vault = createVault({ blobs: files.blobs, secrets: store.secrets });
  await ensureBuiltin(store, log, { files, vault });
  const copies = createTaskCopies({ store, vault });
  const recordings = createRecordings({ store, blobs: files.blobs });
  const blobs = recordings.beside(copies.beside(files.blobs));
  const { packageKeys, trustedProxies } = config;
  const agents = await createAgents({ store, settings, bus, log, blobs, packageKeys, trustedProxies, link });
  const health = createHealth({
    store,
    dataDir: config.dataDir,
    isSchedulerAlive: () => chores.isAlive(),
    agentsOnline: () => agents.gateway.onlineCount(),
  });
  const { dumps, close, ...runService } = createRunService({
    ...{ config, store, settings, bus, log, agents, files, copies, recordings },
    diskUsedPct: health.diskUsedPct,
  });
  const { runs, planner } = runService;
  const installer = createInstaller({ ...config, log });
  const addressFor = (host: string | undefined) => installer.addressFor(host).url;
  const { approvals, drafts } = createApprovalService({ store, settings, bus, runs, planner, addressFor });
  const { auditCheckpoints } = config;
  const dispatcher = createDispatcher({ store, settings, log, version: build.version });
  const chores = startChores(
    choresOf({ store, settings, files, runs, dumps, approvals, dispatcher, log, auditCheckpoints }),
    log,
  );
  const services = { store, settings, bus, health, files, agents, installer, ...runService, approvals, drafts, vault };
  return { services, credentials, storage, chores, stopRuns: close, closeStorage };
};

/** Starts everything in order; `close` stops it in reverse. */
export const startController = async (config: Config) => {
  const log = createLog(config.logLevel);
  const { services, credentials, storage, chores, stopRuns, closeStorage } = await openServices(config, log);
  const { store, settings, bus, files, agents, runs, metrics, health } = services;
  const app = await buildApp({ ...appOptionsOf(config), log, ...services });
  let localAgents: ReturnType<typeof startLocalAgents> | undefined;
  let library: Promise<void> | undefined;
  const close = async () => {
    health.setReady(false);
    agents.refuse();
    // Requests that arrived but were not read yet count as in flight.
    await sleep(unreadMs);
    await localAgents?.close();
    await library;
    await stopRuns();
    await agents.close();
    await app.close();
    await chores.stop();
    await closeStorage();
  };
  try {
    await runs.recover();
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await close();
    throw explainListenError(error, config);
  }
  if (config.tls === undefined && !isLoopbackHost(config.host))
    log.warn({ host: config.host }, 'without TLS passwords and results travel in the clear; set RUSHHOUR_TLS_CERT');
  health.setReady(true);
  logStates(bus, log);
  storage.startRecovery();
  if (config.library) library = storeLibrary(store, files, log);
  const { port } = app.server.address() as AddressInfo;
  const { tls, dataDir, localAgents: count = 0, agentUser: user, packageKeys = [] } = config;
  const localUrl = urlOf(config, reachable(config.host), port);
  localAgents = startLocalAgents({
    ...{ count, url: localUrl, tls, dataDir, user, packageKeys, store, log },
    controllerKey: agents.controllerKey,
  });
  const url = urlOf(config, config.host, port);
  return { url, credentials, store, settings, bus, files, agents, runs, metrics, log, library, close };
};

/** One JSON object a line, as agents write them: time in ISO 8601, level by name, source and message. */
const createLog = (level: string): Logger =>
  pino(
    {
      ...{ level, messageKey: 'message', base: { source: 'controller' } },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: true }),
  );

/** Every state of a run, and of an agent, is a line of the log. */
const logStates = (bus: Bus, log: Logger) => {
  bus.subscribe('task.status', ({ id, status }) => {
    const state = statusNameOf(status);
    log.info({ taskID: id, state }, `task ${id} is ${state}`);
  });
  bus.subscribe('agent.status', ({ id, status }) => {
    const state = agentStateOf(status);
    log.info({ agentID: id, state }, `agent ${id} is ${state}`);
  });
};

const agentStateOf = (status: number) => Object.entries(agentStatus).find(([, value]) => value === status)?.[0];

const appOptionsOf = ({ tls, trustedProxies, host, allowedHosts = [], publicUrl }: Config) => ({
  ...{ tls, trustedProxies, host },
  allowedHosts: publicUrl === undefined ? allowedHosts : [...allowedHosts, new URL(publicUrl).hostname],
});

const listenProblems: Record<string, string> = {
  EADDRINUSE: 'is used by another program: stop that program or set RUSHHOUR_PORT',
  EADDRNOTAVAIL: 'is not an address of this machine: set RUSHHOUR_HOST',
  EACCES: 'may be used only by root: set RUSHHOUR_PORT to 1024 or more',
};

const explainListenError = (error: unknown, { host, port }: Config) => {
  const problem = listenProblems[(error as NodeJS.ErrnoException).code ?? ''];
  return problem === undefined ? error : new StartError(`port ${port} of ${host} ${problem}`, { cause: error });
};

const urlOf = ({ tls }: Config, host: string, port: number) =>
  `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** An address of this machine that reaches what listens at `host`. */
const reachable = (host: string) => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host);

export type Controller = Awaited<ReturnType<typeof startController>>;
