import { createPublicKey } from 'node:crypto';
import { agentStatus } from '@rushhour/contract';
import { type Greeting, isSessionSignature, type Proof, protocolVersion } from '@rushhour/protocol';
import type { Logger } from 'pino';
import type { Bus } from '../../../bus/local.ts';
import { createKeyedQueue } from '../../../concurrency/keyed-queue.ts';
import {
  type AgentRow,
  agents,
  factColumns,
  findAgentByUuid,
  keepArrival,
  keepFacts,
  keepStatus,
} from '../../../store/agents/agents.ts';
import type { Store } from '../../../store/store.ts';
import { notify } from '../../../store/system/notifications.ts';
import type { SettingsStore } from '../../../store/system/settings.ts';
import type { Connection } from '../connection.ts';
import { createArrivalLimit } from '../message-limits.ts';
import { type Presence, statusOf } from '../peers/presence.ts';
import type { Registry } from '../registry.ts';
import type { WriteBatch } from '../write-batch.ts';
import { assertUsableToken, enrol } from './enrolment.ts';
import { Refusal } from './refusal.ts';

const partsOf = (version: string) => (/^v?(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1) ?? []).map(Number);

/** Whether a version such as `1.4.2-rc1` is not older than another; what is no version is older than any. */
export const isNotOlder = (version: string, oldest: string) => {
  const [given, wanted] = [partsOf(version), partsOf(oldest)];
  if (given.length === 0) return wanted.every((part) => part === 0);
  for (const [at, part] of wanted.entries()) if (given[at] !== part) return (given[at] ?? 0) > part;
  return true;
};

const alarmIntervalMs = 600_000;

/** Tells people that an identity was copied; once in a while and not at every attempt. */
const createCloneAlarm = ({ store, bus, log }: { store: Store; bus: Bus; log: Logger }) => {
  const raisedAt = new Map<number, number>();
  return async (agent: { id: number; name: string }, addresses: { first: string; second: string }) => {
    log.warn({ agentID: agent.id, ...addresses }, 'two agents show the same identity');
    if (performance.now() - (raisedAt.get(agent.id) ?? Number.NEGATIVE_INFINITY) < alarmIntervalMs) return;
    raisedAt.set(agent.id, performance.now());
    const origin = { userId: null, address: addresses.second, requestId: 'agent channel', operation: 'agents.clone' };
    await store.change(origin, async (tx) => {
      tx.touch('agents', agent.id);
      tx.deny(addresses);
      await notify(tx, bus, {
        severity: 'warning',
        kind: 'agent.clone',
        message: `A second agent at ${addresses.second} shows the identity of agent "${agent.name}" at ${addresses.first} and was refused. Enrol it anew if it is a copy of that machine.`,
        entity: { type: 'agent', id: agent.id },
        audience: { permission: 'agents.read' },
      });
    });
  };
};

const maxAudited = 10;
const auditIntervalMs = 60_000;

/** Audits refused enrolments; a few for each address and minute, so that strangers cannot fill the table. */
const createRefusalAudit = ({ store, log }: { store: Store; log: Logger }) => {
  let audited = new Map<string, number>();
  let since = performance.now();
  return async (uuid: string, { code, message }: Refusal, address: string): Promise<void> => {
    if (performance.now() - since > auditIntervalMs) {
      audited = new Map();
      since = performance.now();
    }
    const count = (audited.get(address) ?? 0) + 1;
    audited.set(address, count);
    if (count > maxAudited) return;
    const origin = { userId: null, address, requestId: `enrol ${uuid}`, operation: 'agents.enrol' };
    await store
      .change(origin, async (tx) => tx.deny({ uuid, code, reason: message }))
      .catch((error) => log.error({ err: error, address }, 'could not audit a refused enrolment'));
  };
};

const keyOf = (publicKey: string) => {
  try {
    return createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
};

/** Checks that the agent holds the key it shows, and answers the key in its one spelling. */
const provenKey = (shown: { publicKey: string; signature: string }, digest: string): string => {
  const key = keyOf(shown.publicKey);
  if (key?.asymmetricKeyType !== 'ed25519') throw new Refusal('BAD_KEY', 'the public key is not an Ed25519 key');
  if (!isSessionSignature(digest, key, shown.signature))
    throw new Refusal('BAD_SIGNATURE', 'the signature does not fit the key');
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
};

interface Deps {
  store: Store;
  settings: SettingsStore;
  bus: Bus;
  batch: WriteBatch;
  registry: Registry;
  log: Logger;
}

/** Longest wait for a sign of life of the first when a second agent shows the same identity. */
const maxPingMs = 2000;

interface Context extends Deps {
  readonly mayArrive: ReturnType<typeof createArrivalLimit>;
  alarm: ReturnType<typeof createCloneAlarm>;
}

const findKnown = async ({ store }: Context, { uuid, publicKey }: Proof): Promise<AgentRow | undefined> => {
  const known = await findAgentByUuid(store.read, uuid);
  if (known && known.publicKey !== publicKey)
    throw new Refusal('UNKNOWN_AGENT', 'the key is not the one it enrolled with');
  return known;
};

const identify = async (context: Context, greeting: Greeting, proof: Proof, address: string): Promise<AgentRow> => {
  const { store } = context;
  const known = await findKnown(context, proof);
  // An agent whose welcome got lost enrols again: its key proves who it is, no other use of the token is taken.
  if (known) return known;
  if (greeting.type === 'hello') throw unknown();
  assertCompatible(context, greeting);
  const id = await enrol(store, greeting, proof, address);
  return (await agents.find(store.read, id)) as AgentRow;
};

const assertProtocol = async ({ registry, batch }: Context, protocol: number, agent: AgentRow | undefined) => {
  if (protocol === protocolVersion) return;
  if (agent && !registry.find(agent.id)) {
    await batch.write((tx) => keepStatus(tx, agent.id, agentStatus.incompatible));
    registry.announce(agent.id, agentStatus.incompatible);
  }
  throw otherProtocol(protocol);
};

const assertCompatible = ({ settings }: Context, { facts }: Greeting) => {
  const { minVersion } = settings.current().agents;
  if (!isNotOlder(facts.version, minVersion)) {
    throw new Refusal('INCOMPATIBLE', `version ${facts.version} is older than ${minVersion}`, true);
  }
};

/**
 * The same identity on a second connection, while the first answers: one of them is a copy. The boot id proves
 * nothing, a copy may know it; an agent that reconnects has given up its first connection, which answers no more.
 */
const assertNoClone = async ({ registry, alarm }: Context, agent: AgentRow, address: string) => {
  const present = registry.find(agent.id);
  if (!present?.connection) return;
  const { heartbeatMs } = registry.limits();
  if (performance.now() - present.heardAt > 2 * heartbeatMs) return;
  if (!(await present.connection.isAlive(Math.min(heartbeatMs, maxPingMs)))) return;
  await alarm(agent, { first: present.connection.address, second: address });
  throw new Refusal('CLONE', 'another agent with this identity is connected', true);
};

const keep = async ({ batch, registry }: Context, agent: AgentRow, greeting: Greeting, status: number) => {
  let isThere = false;
  const hasNews = !isSame(agent, greeting);
  await batch.write(async (tx) => {
    const now = new Date().toISOString();
    isThere = await keepArrival(tx, { id: agent.id, bootId: greeting.bootId, status, now });
    if (isThere && hasNews) await keepFacts(tx, agent.id, greeting.facts);
  });
  if (!isThere || registry.isBarred(agent.id)) throw blocked();
};

const letIn = async (context: Context, greeting: Greeting, proof: Proof, connection: Connection) => {
  const { registry } = context;
  const agent = await identify(context, greeting, proof, connection.address);
  if (agent.isBlocked) throw blocked();
  try {
    assertCompatible(context, greeting);
  } catch (refusal) {
    if (!registry.find(agent.id)) {
      await keep(context, agent, greeting, agentStatus.incompatible);
      registry.announce(agent.id, agentStatus.incompatible);
    }
    throw refusal;
  }
  await assertNoClone(context, agent, connection.address);
  const presence = presenceOf(agent, greeting.bootId, connection, registry);
  await keep(context, agent, greeting, statusOf(presence));
  return presence;
};

/** Checks who an agent is before it may say more: a known agent, or one with a valid token. */
const prove = async (context: Context, proof: Proof, digest: string, protocol: number): Promise<Proof> => {
  const proven = { ...proof, publicKey: provenKey(proof, digest) };
  if (!context.mayArrive(proof.uuid)) throw new Refusal('TOO_OFTEN', 'it connects too often', true);
  const known = await findKnown(context, proven);
  await assertProtocol(context, protocol, known);
  if (known?.isBlocked) throw blocked();
  if (known === undefined && proof.token === undefined) throw unknown();
  if (known === undefined) await assertUsableToken(context.store.read, proof.token ?? '');
  return proven;
};

/** Decides which agents may connect. */
export const createAdmission = (deps: Deps) => {
  const context: Context = { ...deps, alarm: createCloneAlarm(deps), mayArrive: createArrivalLimit() };
  const admissions = createKeyedQueue<string>();

  return {
    prove: (proof: Proof, digest: string, protocol: number) => prove(context, proof, digest, protocol),
    /** Records that an agent was refused at its enrolment. */
    refused: createRefusalAudit(deps),
    /** Answers who it is, or throws a `Refusal`. Its arrival is on disk then. */
    admit: (greeting: Greeting, proof: Proof, connection: Connection): Promise<Presence> =>
      admissions.run(proof.uuid, () => letIn(context, greeting, proof, connection)),
  };
};

const unknown = () => new Refusal('UNKNOWN_AGENT', 'this agent is not enrolled, or was removed');

export const otherProtocol = (protocol: number) =>
  new Refusal(
    'INCOMPATIBLE',
    `it speaks protocol ${protocol}, the controller ${protocolVersion}: install the version of the controller on its machine; it stays enrolled`,
    true,
  );

const blocked = () => new Refusal('BLOCKED', 'this agent is blocked', true);

const isSame = (agent: AgentRow, { facts }: Greeting) => {
  const columns = factColumns(facts);
  const stored = Object.fromEntries(Object.keys(columns).map((name) => [name, agent[name as keyof typeof columns]]));
  return JSON.stringify(columns) === JSON.stringify(stored);
};

const presenceOf = (agent: AgentRow, bootId: string, connection: Connection, registry: Registry): Presence => {
  const before = registry.find(agent.id);
  return {
    agentId: agent.id,
    bootId,
    connection,
    heardAt: performance.now(),
    isFresh: true,
    isSuspect: false,
    isBusy: registry.isBusy(agent.id),
    isUpgrading: before?.bootId === bootId && before.isUpgrading,
    clockOffsetMs: agent.clockOffsetMs,
    roundTripMs: agent.roundTripMs,
    health: before?.health,
  };
};
