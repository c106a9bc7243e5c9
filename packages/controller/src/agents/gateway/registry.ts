import { agentStatus, type Settings } from '@rushhour/contract';
import type { AgentLimits, DumpState, RunReport, ToAgent, ToController } from '@rushhour/protocol';
import type { Logger } from 'pino';
import type { Bus } from '../../bus/local.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { type Connection, closeCode } from './connection.ts';
import { type AgentGateway, type AgentListener, AgentUnreachable, type Arrival } from './gateway.ts';
import { meaningOf, type Presence, statusOf } from './peers/presence.ts';
import { createStatusBoard } from './status-board.ts';
import type { WriteBatch } from './write-batch.ts';

/** Listeners to events of agents. A listener that throws does not keep the others from being called. */
export const createListeners = (log: Logger) => {
  const listeners = new Set<AgentListener>();
  return {
    add: (listener: AgentListener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    notify: (call: (listener: AgentListener) => void) => {
      for (const listener of listeners) {
        try {
          call(listener);
        } catch (error) {
          log.error({ err: error }, 'a listener of agents failed');
        }
      }
    },
    clear: () => listeners.clear(),
  };
};

/** The limits and intervals that agents apply. */
const limitsOf = ({ agents, tasks }: Settings): AgentLimits => ({
  heartbeatMs: agents.heartbeatSec * 1000,
  deadManMs: agents.deadManSec * 1000,
  allowedTargets: tasks.allowedTargets,
});

type Heartbeat = Extract<ToController, { type: 'heartbeat' }>;

interface Deps {
  bus: Bus;
  batch: WriteBatch;
  settings: SettingsStore;
  log: Logger;
}

const closeReasons = {
  blocked: { code: 'BLOCKED', status: agentStatus.blocked, reason: 'this agent was blocked' },
  removed: { code: 'UNKNOWN_AGENT', status: agentStatus.offline, reason: 'this agent was removed' },
} as const;

/** A pause of our own beyond this is not counted as silence of the agents. */
const ownPauseMs = 1000;
/** Files of one agent that are remembered. */
const maxOffers = 20_000;

/** Who is there: one presence for each agent, and everybody who wants to know about them. */
export class Registry implements AgentGateway {
  readonly #deps: Deps;
  readonly #presences = new Map<number, Presence>();
  readonly #listeners: ReturnType<typeof createListeners>;
  readonly #statuses: ReturnType<typeof createStatusBoard>;
  /** Blocked or removed; they cannot come in, whatever was on its way. */
  readonly #barred = new Set<number>();
  /** Files that agents may request. */
  readonly #offers = new Map<number, Set<string>>();
  #busy: ReadonlySet<number> = new Set();
  #checkedAt = performance.now();
  #limits = '';
  readonly #unsubscribe: () => void;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#statuses = createStatusBoard(deps);
    this.#listeners = createListeners(deps.log);
    this.#limits = JSON.stringify(this.limits());
    this.#unsubscribe = deps.bus.subscribe('agent.access', ({ id, access, status }) =>
      access === 'allowed' ? this.#unbar(id, status) : this.disconnectAndBlock(id, access),
    );
  }

  limits() {
    return limitsOf(this.#deps.settings.current());
  }

  all(): IterableIterator<Presence> {
    return this.#presences.values();
  }

  find(agentId: number) {
    return this.#presences.get(agentId);
  }

  onlineCount() {
    return [...this.all()].filter(({ connection }) => connection?.isOpen).length;
  }

  isBusy(agentId: number) {
    return this.#busy.has(agentId);
  }

  isBarred(agentId: number) {
    return this.#barred.has(agentId);
  }

  isOnline(agentId: number) {
    return this.find(agentId)?.connection?.isOpen ?? false;
  }

  isHere(agentId: number) {
    return this.isOnline(agentId);
  }

  /** Whether the agent was asked to fetch this file. */
  isOffered(agentId: number, sha256: string) {
    return this.#offers.get(agentId)?.has(sha256) ?? false;
  }

  #offer(agentId: number, files: readonly { sha256: string }[]) {
    if (files.length === 0) return;
    const offers = this.#offers.get(agentId) ?? new Set();
    this.#offers.set(agentId, offers);
    for (const { sha256 } of files) offers.delete(sha256);
    for (const { sha256 } of files) offers.add(sha256);
    // The oldest first: files of runs that ended long ago.
    for (const sha256 of offers) {
      if (offers.size <= maxOffers) break;
      offers.delete(sha256);
    }
  }

  send(agentId: number, message: ToAgent) {
    if (message.type === 'prepare') this.#offer(agentId, message.files);
    return this.find(agentId)?.connection?.send(message) ?? false;
  }

  roundTripMs(agentId: number) {
    return this.find(agentId)?.roundTripMs;
  }

  async ask(agentId: number, question: Parameters<AgentGateway['ask']>[1], timeoutMs?: number) {
    const connection = this.find(agentId)?.connection;
    if (connection === undefined) throw new AgentUnreachable('the agent is not connected');
    if (question.kind === 'fetchFile' || question.kind === 'upgrade') this.#offer(agentId, [question]);
    return connection.ask(question, timeoutMs);
  }

  subscribe(listener: AgentListener) {
    return this.#listeners.add(listener);
  }

  /** Takes in an agent whose arrival is on disk. A connection it had before ends. */
  enter(presence: Presence, arrival: Arrival) {
    const { agentId, connection } = presence;
    const before = this.find(agentId)?.connection;
    if (before && before !== connection) before.close(closeCode.replaced, 'connected anew');
    this.#presences.set(agentId, presence);
    this.#statuses.publish(agentId, statusOf(presence));
    if (!connection?.isOpen) presence.connection = undefined;
    else this.#listeners.notify((listener) => listener.connected?.(agentId, arrival));
  }

  /** Any message is a sign of life. */
  heard(presence: Presence, heartbeat?: Heartbeat) {
    presence.heardAt = performance.now();
    presence.isFresh = true;
    if (heartbeat) {
      presence.clockOffsetMs = heartbeat.clockOffsetMs;
      presence.roundTripMs = heartbeat.roundTripMs;
      if (heartbeat.health) presence.health = { at: Date.now(), reading: heartbeat.health, isStored: false };
    }
    if (!presence.isSuspect) return;
    presence.isSuspect = false;
    this.#restate(presence);
    this.#listeners.notify((listener) => listener.back?.(presence.agentId));
  }

  report(agentId: number, report: RunReport) {
    this.#listeners.notify((listener) => listener.report?.(agentId, report));
  }

  dumps(agentId: number, dumps: readonly DumpState[]) {
    this.#listeners.notify((listener) => listener.dumps?.(agentId, dumps));
  }

  /** A connection ended. Unless the agent announced it, the agent has a grace period to reconnect. */
  leave(presence: Presence, connection: Connection, code: number) {
    if (presence.connection !== connection) return;
    presence.connection = undefined;
    const isDeparture = code === closeCode.departed && !presence.isUpgrading;
    if (isDeparture && this.find(presence.agentId) === presence) this.lose(presence.agentId, 'the agent was stopped');
  }

  lose(agentId: number, reason: string) {
    const presence = this.find(agentId);
    if (presence === undefined) return;
    this.#presences.delete(agentId);
    presence.connection?.terminate();
    presence.connection = undefined;
    this.#deps.log.info({ agentID: agentId, reason }, 'agent lost');
    this.#statuses.put(agentId, agentStatus.offline);
    this.#listeners.notify((listener) => listener.lost?.(agentId, reason));
  }

  /** Lets an agent that was blocked or removed in no more; its session ends. */
  disconnectAndBlock(agentId: number, cause: keyof typeof closeReasons) {
    const { code, status, reason } = closeReasons[cause];
    this.#barred.add(agentId);
    this.#offers.delete(agentId);
    this.#statuses.publish(agentId, status);
    const presence = this.find(agentId);
    if (presence === undefined) return;
    this.#presences.delete(agentId);
    presence.connection?.send({ type: 'refused', code, reason, retry: cause === 'blocked' });
    presence.connection?.close(closeCode.refused, reason);
    this.#listeners.notify((listener) => listener.lost?.(agentId, reason));
  }

  #unbar(agentId: number, status: number) {
    this.#barred.delete(agentId);
    this.#statuses.publish(agentId, status);
  }

  /** Says that an agent which is not let in was seen; the status is on disk. */
  announce(agentId: number, status: number) {
    this.#statuses.publish(agentId, status);
  }

  /** The agent is connected to another controller now: nothing is to be said of it here. */
  forgetMoved(agentId: number) {
    const presence = this.find(agentId);
    if (presence === undefined) return;
    this.#presences.delete(agentId);
    this.#statuses.forget(agentId);
    presence.connection?.close(closeCode.replaced, 'connected to another controller');
    presence.connection = undefined;
  }

  /** Agents in runs connect anew, and tell again what was not acknowledged. */
  renewBusy() {
    this.renew([...this.all()].filter(({ isBusy }) => isBusy).map(({ agentId }) => agentId));
  }

  renew(agentIds: readonly number[]) {
    for (const id of agentIds) this.find(id)?.connection?.close(closeCode.restarting, 'another controller conducts');
  }

  /** These agents connect anew; a balancer may choose another controller for them. */
  move(agentIds: readonly number[]) {
    for (const id of agentIds)
      this.find(id)?.connection?.close(closeCode.restarting, 'another controller has less work');
  }

  /** For an agent that was connected to a controller that is gone. */
  declareOffline(agentId: number) {
    this.#statuses.forget(agentId);
    this.#statuses.put(agentId, agentStatus.offline);
  }

  setUpgrading(agentId: number, isUpgrading: boolean) {
    const presence = this.find(agentId);
    if (presence === undefined) return;
    presence.isUpgrading = isUpgrading;
    this.#restate(presence);
  }

  setBusy(busy: ReadonlySet<number>) {
    this.#busy = busy;
    for (const presence of this.all()) {
      if (presence.isBusy === busy.has(presence.agentId)) continue;
      presence.isBusy = busy.has(presence.agentId);
      this.#restate(presence);
    }
  }

  /** Judges everybody's silence and passes on limits that were changed. */
  check() {
    const now = performance.now();
    const pauseMs = now - this.#checkedAt;
    this.#checkedAt = now;
    const { suspectAfterSec, lostAfterSec } = this.#deps.settings.current().agents;
    const patience = { suspectMs: suspectAfterSec * 1000, lostMs: lostAfterSec * 1000 };
    for (const presence of this.all()) {
      if (pauseMs > ownPauseMs) presence.heardAt += pauseMs;
      const meaning = meaningOf(now - presence.heardAt, patience);
      if (meaning === 'lost') this.lose(presence.agentId, `silent for ${lostAfterSec} seconds`);
      else if (meaning === 'suspect' && !presence.isSuspect) this.#suspect(presence);
    }
    this.#passLimits();
  }

  closeAll() {
    for (const { connection } of this.all()) connection?.close(closeCode.restarting, 'the controller is stopping');
    this.#listeners.clear();
    this.#unsubscribe();
  }

  #suspect(presence: Presence) {
    presence.isSuspect = true;
    this.#restate(presence);
    this.#listeners.notify((listener) => listener.suspect?.(presence.agentId));
  }

  #restate(presence: Presence) {
    this.#statuses.put(presence.agentId, statusOf(presence));
  }

  #passLimits() {
    const limits = this.limits();
    const text = JSON.stringify(limits);
    if (text === this.#limits) return;
    this.#limits = text;
    for (const { connection } of this.all()) connection?.send({ type: 'limits', limits });
  }
}
