import { X509Certificate } from 'node:crypto';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentFacts } from '@rushhour/protocol';
import type { Logger } from 'pino';
import type { Bus } from '../../bus/local.ts';
import { createSchemaCheck } from '../../schema-check.ts';
import { keepFacts, markAllOffline } from '../../store/agents/agents.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import type { Store } from '../../store/store.ts';
import { loadControllerId } from '../../store/system/controller-id.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { createAdmission } from './admission.ts';
import { withAttempts } from './attempts-content.ts';
import { startBusyWatch } from './busy-watch.ts';
import { createEndpoint } from './endpoint.ts';
import { createFilePush } from './file-push.ts';
import { createFileSender } from './file-sender.ts';
import { AgentRefused } from './gateway.ts';
import { createLogBook } from './log-book.ts';
import { startPulse } from './pulse.ts';
import { Registry } from './registry.ts';
import { openSession } from './session.ts';
import { createWriteBatch } from './write-batch.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
  bus: Bus;
  log: Logger;
  blobs: Pick<Blobs, 'read'>;
  tls?: { cert: string } | undefined;
}

const checkMs = 250;
const farewellMs = 500;
const rescanMs = 15_000;
const factsCheck = createSchemaCheck(AgentFacts, 'first');

/** Everything about agents: their channel, who is there, and what others may ask of them. */
export const createAgents = async ({ store, settings, bus, log, blobs, tls }: Deps) => {
  await store.database.transaction(markAllOffline);
  const controllerId = await loadControllerId(store.database);
  const batch = createWriteBatch(store.database);
  const registry = new Registry({ bus, batch, settings, log });
  const logs = createLogBook(batch, log);
  const admission = createAdmission({ store, settings, bus, batch, registry, log });
  const files = createFilePush({ store, batch, registry, log });
  const sender = createFileSender(withAttempts(store, blobs), log);

  const storeFacts = (agentId: number, facts: AgentFacts) => batch.write((tx) => keepFacts(tx, agentId, facts));
  const session = {
    ...{ admission, registry, controllerId, files: sender, logs, log },
    keepFacts: (agentId: number, facts: AgentFacts) =>
      void storeFacts(agentId, facts).catch((error) => log.error({ err: error, agentId }, 'facts were not written')),
  };
  const endpoint = createEndpoint((socket, address) => openSession(socket, address, session));
  const pulse = startPulse(registry, batch, log);
  const busyWatch = startBusyWatch({ read: store.read, bus, log, onChange: (busy) => registry.setBusy(busy) });
  await busyWatch.look();
  const timer = setInterval(() => registry.check(), checkMs);

  return {
    gateway: registry,
    files,
    log,
    /** SHA-256 of the certificate that agents will see, in lower-case hex; empty without TLS. */
    fingerprint: tls ? new X509Certificate(tls.cert).fingerprint256.replaceAll(':', '').toLowerCase() : '',
    attach: (server: Server) => endpoint.attach(server),
    /** The agent looks at its machine again; what it finds is on disk when this resolves. */
    rescan: async (agentId: number) => {
      const facts = await registry.ask(agentId, { kind: 'rescan' }, rescanMs);
      const [issue] = factsCheck(facts);
      if (issue) throw new AgentRefused(`the agent answered no facts: ${issue.path} ${issue.message}`);
      await storeFacts(agentId, facts as AgentFacts);
    },
    close: async () => {
      clearInterval(timer);
      busyWatch.stop();
      registry.closeAll();
      if (registry.onlineCount() > 0) await sleep(farewellMs);
      endpoint.close();
      await pulse.stop();
      await logs.close();
      await batch.settled();
    },
  };
};

export type Agents = Awaited<ReturnType<typeof createAgents>>;
