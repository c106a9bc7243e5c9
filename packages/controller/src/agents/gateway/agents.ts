import { createPublicKey } from 'node:crypto';
import type { Server } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentFacts, publicKeyText, releaseKeys } from '@rushhour/protocol';
import type { Logger } from 'pino';
import type { Bus } from '../../bus/local.ts';
import type { PeerLink } from '../../bus/peer-link.ts';
import { createSchemaCheck } from '../../schema-check.ts';
import { type HealthReading, keepHealth } from '../../store/agents/agent-health.ts';
import { busyAgents } from '../../store/agents/agent-work.ts';
import {
  agents as agentTable,
  keepFacts,
  keepSightings,
  markOfflineExcept,
  type Sighting,
} from '../../store/agents/agents.ts';
import { BlobError } from '../../store/blobs/blob-error.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import type { Executor } from '../../store/engine/database.ts';
import { attemptsWithHash } from '../../store/runs/run-attempts.ts';
import type { Store } from '../../store/store.ts';
import { loadControllerId } from '../../store/system/controller-id.ts';
import { loadInstallationKey } from '../../store/system/installation-key.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { createAdmission } from './admission/admission.ts';
import { createAddressReader } from './admission/client-address.ts';
import { createEndpoint } from './endpoint.ts';
import { createFilePush } from './files/file-push.ts';
import { createFileSender } from './files/file-sender.ts';
import { type AgentGateway, AgentRefused } from './gateway.ts';
import { createLogBook } from './log-book.ts';
import type { OwnedRun } from './peers/peer-messages.ts';
import { type Presence, statusOf } from './peers/presence.ts';
import { SharedGateway } from './peers/shared-gateway.ts';
import { Registry } from './registry.ts';
import { openSession } from './session.ts';
import { createWriteBatch, type WriteBatch } from './write-batch.ts';

const heartbeatFlushMs = 10_000;

/** Periodically writes, for all agents in one batch, the time of the last message and the health of the machine. */
const startHeartbeatFlusher = (registry: Registry, batch: WriteBatch, log: Logger) => {
  const flush = async () => {
    const seen = [...registry.all()].filter(({ isFresh }) => isFresh).map(sightingOf);
    const readings = [...registry.all()].flatMap(readingOf);
    if (seen.length === 0 && readings.length === 0) return;
    await batch
      .write(async (tx) => {
        if (seen.length > 0) await keepSightings(tx, seen);
        if (readings.length > 0) await keepHealth(tx, readings);
      })
      .catch((error) => log.error({ err: error }, 'could not write the health of agents'));
  };
  const timer = setInterval(() => void flush(), heartbeatFlushMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await flush();
    },
  };
};

const sightingOf = (presence: Presence): Sighting => {
  presence.isFresh = false;
  return {
    id: presence.agentId,
    lastSeenAt: new Date(Date.now() - (performance.now() - presence.heardAt)).toISOString(),
    clockOffsetMs: presence.clockOffsetMs,
    roundTripMs: presence.roundTripMs,
    status: statusOf(presence),
  };
};

const readingOf = ({ agentId: agentID, health }: Presence): HealthReading[] => {
  if (health === undefined || health.isStored) return [];
  health.isStored = true;
  return [{ agentID, at: health.at, health: health.reading }];
};

const soonMs = 50;
const busyPollMs = 2000;

interface BusyWatchDeps {
  read: Executor;
  bus: Bus;
  log: Logger;
  onChange(busy: ReadonlySet<number>): void;
}

/** Tracks which agents take part in runs: reads on every change of a run and at an interval. */
const startBusyWatch = ({ read, bus, log, onChange }: BusyWatchDeps) => {
  let soon: NodeJS.Timeout | undefined;
  const look = () =>
    busyAgents(read)
      .then(onChange)
      .catch((error) => log.error({ err: error }, 'could not read which agents are busy'));
  const lookSoon = () => {
    soon ??= setTimeout(() => {
      soon = undefined;
      void look();
    }, soonMs);
  };
  const endings = [bus.subscribe('run.changed', lookSoon), bus.subscribe('task.status', lookSoon)];
  const timer = setInterval(() => void look(), busyPollMs);
  return {
    look,
    stop: () => {
      for (const end of endings) end();
      clearInterval(timer);
      clearTimeout(soon);
    },
  };
};

/** Contents for agents: stored files and the attempt files stored with runs. */
const withAttempts = ({ read }: Pick<Store, 'read'>, blobs: Pick<Blobs, 'read'>): Pick<Blobs, 'read'> => ({
  read: async (sha256, range) => {
    try {
      return await blobs.read(sha256, range);
    } catch (error) {
      const isGone = error instanceof BlobError && error.code === 'NOT_FOUND';
      const attempts = isGone ? await attemptsWithHash(read, sha256) : undefined;
      if (attempts === undefined) throw error;
      return Readable.from([attempts.subarray(range?.start ?? 0, range?.end)]);
    }
  },
});

/** Ends the sessions of agents that were blocked or removed while events of other controllers were missed. */
const recheckAccess = async (read: Executor, registry: Registry) => {
  const present = [...registry.all()].map(({ agentId }) => agentId);
  const rows = new Map((await agentTable.findMany(read, present)).map((row) => [row.id, row]));
  for (const id of present) {
    const row = rows.get(id);
    if (row === undefined) registry.disconnectAndBlock(id, 'removed');
    else if (row.isBlocked) registry.disconnectAndBlock(id, 'blocked');
  }
};

interface Deps {
  store: Store;
  settings: SettingsStore;
  bus: Bus;
  log: Logger;
  blobs: Pick<Blobs, 'read'>;
  /** Keys of the configuration that may sign upgrade packages. */
  packageKeys?: readonly string[] | undefined;
  /** Addresses and ranges of proxies whose word about their clients counts. */
  trustedProxies?: readonly string[] | undefined;
  /** Set when several controllers may share the database. */
  link?: PeerLink | undefined;
}

const checkMs = 250;
const closeGraceMs = 500;
const rescanMs = 15_000;
const factsCheck = createSchemaCheck(AgentFacts, 'first');

type StoreFacts = (agentId: number, facts: AgentFacts) => Promise<void>;

/** The agent looks at its machine again; what it finds is on disk when this resolves. */
const rescanAgent = async (gateway: AgentGateway, storeFacts: StoreFacts, agentId: number) => {
  const facts = await gateway.ask(agentId, { kind: 'rescan' }, rescanMs);
  const [issue] = factsCheck(facts);
  if (issue) throw new AgentRefused(`the agent answered no facts: ${issue.path} ${issue.message}`);
  await storeFacts(agentId, facts as AgentFacts);
};

/** Keeps the registry current: which agents are silent, take part in runs, or were blocked or removed. */
const startRegistryUpdates = async ({ store, bus, log }: Deps, registry: Registry) => {
  const busyWatch = startBusyWatch({ read: store.read, bus, log, onChange: (busy) => registry.setBusy(busy) });
  await busyWatch.look();
  const endRecheck = bus.subscribe('bus.resumed', () => {
    recheckAccess(store.read, registry).catch((error) =>
      log.error({ err: error }, 'could not check which agents were blocked'),
    );
  });
  const timer = setInterval(() => registry.check(), checkMs);
  return {
    stop: () => {
      clearInterval(timer);
      busyWatch.stop();
      endRecheck();
    },
  };
};

/** Agents of this controller, and of the others where there can be others; all other agents are offline. */
const openRegistry = async ({ store, settings, bus, log, link }: Deps, batch: WriteBatch) => {
  const registry = new Registry({ bus, batch, settings, log });
  const shared = link && new SharedGateway({ registry, link, settings, log });
  const elsewhere = (await shared?.meet()) ?? [];
  await store.database.transaction((tx) => markOfflineExcept(tx, elsewhere));
  return { registry, shared };
};

interface Closing {
  registry: Registry;
  shared: SharedGateway | undefined;
  updates: { stop(): void };
  endpoint: { close(): void };
  heartbeats: { stop(): Promise<void> };
  logs: { close(): Promise<void> };
  batch: WriteBatch;
}

const closeAgents = async ({ registry, shared, updates, endpoint, heartbeats, logs, batch }: Closing) => {
  updates.stop();
  registry.closeAll();
  if (registry.onlineCount() > 0) await sleep(closeGraceMs);
  shared?.close();
  endpoint.close();
  await heartbeats.stop();
  await logs.close();
  await batch.settled();
};

/** What concerns other controllers; nothing happens where there can be none. */
const sharedParts = (shared: SharedGateway | undefined) => ({
  /** Measurements of runs that controllers share. */
  peers: shared,
  setConducting: (isConducting: boolean) => shared?.setConducting(isConducting),
  /** Reports about these runs are for this controller, or no longer. */
  setOwned: (runs: readonly OwnedRun[], isOwned: boolean) => shared?.setOwned(runs, isOwned),
  /** Agents connect anew, wherever they are connected, and report again what was not acknowledged. */
  renew: (agentIds: readonly number[]) => shared?.renew(agentIds),
});

/** Everything about agents: their channel, who is there, and what others may ask of them. */
export const createAgents = async (deps: Deps) => {
  const { store, settings, bus, log, blobs, packageKeys = [], trustedProxies = [] } = deps;
  const controllerId = await loadControllerId(store.database);
  const key = await loadInstallationKey(store.database, store.secrets);
  const batch = createWriteBatch(store.database);
  const { registry, shared } = await openRegistry(deps, batch);
  const everywhere = shared ?? registry;
  const logs = createLogBook({ batch, read: store.read, log });
  const admission = createAdmission({ store, settings, bus, batch, registry, log });
  const files = createFilePush({ store, batch, registry, log });

  const storeFacts: StoreFacts = (agentID, facts) => batch.write((tx) => keepFacts(tx, agentID, facts));
  const session = {
    ...{ admission, registry, controllerId, key, logs, log, packageKeys: [...packageKeys] },
    files: createFileSender(withAttempts(store, blobs), log),
    keepFacts: (agentID: number, facts: AgentFacts) =>
      void storeFacts(agentID, facts).catch((error) => log.error({ err: error, agentID }, 'facts were not written')),
  };
  const endpoint = createEndpoint((arriving) => openSession(arriving, session), createAddressReader(trustedProxies));
  const heartbeats = startHeartbeatFlusher(registry, batch, log);
  const updates = await startRegistryUpdates(deps, registry);

  return {
    /** Agents that are connected to this controller. */
    gateway: registry,
    /** Agents of all controllers. */
    everywhere,
    ...sharedParts(shared),
    files,
    /** The key that proves this installation to agents; join tokens carry it. */
    controllerKey: publicKeyText(createPublicKey(key)),
    /** Keys whose packages are sent to agents. */
    packageKeys: [...releaseKeys, ...packageKeys],
    log,
    attach: (server: Server) => endpoint.attach(server),
    refuse: endpoint.refuse,
    rescan: (agentId: number) => rescanAgent(everywhere, storeFacts, agentId),
    close: () => closeAgents({ registry, shared, updates, endpoint, heartbeats, logs, batch }),
  };
};

export type Agents = Awaited<ReturnType<typeof createAgents>>;
