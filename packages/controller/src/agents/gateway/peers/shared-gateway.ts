import { setTimeout as sleep } from 'node:timers/promises';
import type { Question, RunReport, ToAgent } from '@rushhour/protocol';
import type { Logger } from 'pino';
import type { PeerLink } from '../../../bus/peer-link.ts';
import type { SettingsStore } from '../../../store/system/settings.ts';
import { type AgentGateway, type AgentListener, AgentRefused, AgentUnreachable } from '../gateway.ts';
import { createListeners, type Registry } from '../registry.ts';
import { PeerDirectory } from './peer-directory.ts';
import { type AskFailure, isNeighbour, messageVersion, type OwnedRun, type PeerMessage } from './peer-messages.ts';
import type { MeasurementListener, PeerRuns, StoredSeconds } from './peer-runs.ts';
import { createSpread } from './spread.ts';

interface Deps {
  registry: Registry;
  link: PeerLink;
  settings: SettingsStore;
  log: Logger;
}

const beatMs = 1000;
const beatsPerList = 5;
/** Of the beats between two lists, the one at which agents are spread: all controllers are known by then. */
const spreadBeat = 3;
/** A pause of this process beyond this is not counted as silence of the others. */
const ownPauseMs = 2000;
const askMs = 10_000;
/** How long the answer may take beyond that of the agent. */
const linkMs = 2000;
const helloMs = 2000;
const helloPollMs = 20;

type Asked = Pick<PromiseWithResolvers<unknown>, 'resolve' | 'reject'>;

const failureOf = (error: unknown): AskFailure => ({
  kind: error instanceof AgentRefused ? 'refused' : 'unreachable',
  message: error instanceof Error ? error.message : String(error),
});

/**
 * The agents of all controllers of an installation. Commands and questions go to the controller that an agent is
 * connected to; what agents report goes to the controller that conducts the run, and only there. What they measure is
 * stored where they are connected.
 */
export class SharedGateway implements AgentGateway, PeerRuns {
  readonly #deps: Deps;
  readonly #directory = new PeerDirectory();
  readonly #spread = createSpread();
  readonly #listeners: ReturnType<typeof createListeners>;
  readonly #asked = new Map<number, Asked>();
  readonly #timer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;
  /** Runs that this controller conducts. */
  readonly #owned = new Map<number, number>();
  /** Controllers of a version that is no neighbour. */
  readonly #strangers = new Set<string>();
  #measurements: MeasurementListener | undefined;
  #lastNumber = 0;
  #isConducting = false;
  #conductor: string | undefined;
  #checkedAt = performance.now();
  #beats = 0;

  constructor(deps: Deps) {
    const { registry, link, log } = deps;
    this.#deps = deps;
    this.#listeners = createListeners(log);
    this.#unsubscribe = registry.subscribe(this.#own());
    link.receive((from, message) => this.#receive(from, message as PeerMessage));
    link.onResumed(() => {
      this.#message({ type: 'hello', hasMissed: true });
      registry.renewBusy();
    });
    this.#timer = setInterval(() => this.#beat(), beatMs);
  }

  /** Resolves when the other controllers have said which agents they have; with none there is nothing to wait for. */
  async meet(): Promise<readonly number[]> {
    const { link, log } = this.#deps;
    const others = await link.countOthers();
    log.info({ medium: link.medium, others }, 'agents of all controllers can be used');
    this.#message({ type: 'hello' });
    const giveUpAt = performance.now() + helloMs;
    while (this.#directory.peerCount < others && performance.now() < giveUpAt) await sleep(helloPollMs);
    return this.#directory.agentIds;
  }

  isOnline(agentId: number) {
    return this.#deps.registry.isOnline(agentId) || this.#directory.homeOf(agentId) !== undefined;
  }

  isHere(agentId: number) {
    return this.#deps.registry.isOnline(agentId);
  }

  roundTripMs(agentId: number) {
    return this.#deps.registry.roundTripMs(agentId) ?? this.#directory.roundTripMs(agentId);
  }

  send(agentId: number, message: ToAgent): boolean {
    const home = this.#directory.homeOf(agentId);
    if (home === undefined) return this.#deps.registry.send(agentId, message);
    this.#message({ type: 'send', agentId, message }, home);
    return true;
  }

  async ask(agentId: number, question: Question, timeoutMs = askMs): Promise<unknown> {
    const home = this.#directory.homeOf(agentId);
    if (home === undefined) return this.#deps.registry.ask(agentId, question, timeoutMs);
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const message = `no answer to ${question.kind} within ${timeoutMs} ms`;
    const timer = setTimeout(() => reject(new AgentUnreachable(message)), timeoutMs + linkMs);
    this.#asked.set(number, { resolve, reject });
    this.#message({ type: 'ask', number, agentId, question, timeoutMs }, home);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#asked.delete(number);
    }
  }

  subscribe(listener: AgentListener) {
    return this.#listeners.add(listener);
  }

  get id() {
    return this.#deps.link.id;
  }

  get hasPeers() {
    return this.#directory.peerCount > 0;
  }

  isElsewhere(runId: number) {
    return this.#directory.isElsewhere(runId);
  }

  publishStored(seconds: StoredSeconds) {
    const owner = this.#directory.ownerOf(seconds.runId);
    // Who conducts it next reads it from the store.
    if (owner) this.#message({ type: 'stored', ...seconds }, owner);
    return owner !== undefined;
  }

  listen(listener: MeasurementListener) {
    this.#measurements = listener;
  }

  /** Whether this controller conducts; the others learn it at once. */
  setConducting(isConducting: boolean): void {
    if (this.#isConducting === isConducting) return;
    this.#isConducting = isConducting;
    this.#message({ type: 'beat', isConducting });
  }

  /** Which runs this controller conducts; the others learn it before any command for them. */
  setOwned(runs: readonly OwnedRun[], isOwned: boolean): void {
    for (const [id, fence] of runs) {
      if (isOwned) this.#owned.set(id, fence);
      else this.#owned.delete(id);
    }
    if (isOwned) this.#directory.forgetRuns(runs);
    this.#message({ type: isOwned ? 'owned' : 'disowned', runs });
  }

  /** What agents said while their runs had no owner is lost: they report it again in a new session. */
  renew(agentIds: readonly number[]): void {
    this.#deps.registry.renew(agentIds);
    this.#message({ type: 'renew', agentIds });
  }

  /** The agents go elsewhere. */
  close(): void {
    clearInterval(this.#timer);
    this.#unsubscribe();
    this.#listeners.clear();
    this.#message({ type: 'bye' });
  }

  #message(message: PeerMessage, to?: string): void {
    const isVersioned = message.type === 'hello' || message.type === 'list' || message.type === 'beat';
    const version = { version: messageVersion, takesStored: true };
    this.#deps.link.send(to, isVersioned ? { ...message, ...version } : message);
  }

  /** What agents of this controller do. */
  #own(): AgentListener {
    const { registry } = this.#deps;
    const notify = this.#listeners.notify;
    return {
      connected: (agentId, arrival) => {
        this.#directory.arrived(agentId);
        const roundTripMs = registry.roundTripMs(agentId) ?? 0;
        this.#message({ type: 'connected', agentId, arrival, roundTripMs });
        notify((listener) => listener.connected?.(agentId, arrival));
      },
      suspect: (agentId) => {
        this.#message({ type: 'suspect', agentId });
        notify((listener) => listener.suspect?.(agentId));
      },
      back: (agentId) => {
        this.#message({ type: 'back', agentId });
        notify((listener) => listener.back?.(agentId));
      },
      lost: (agentId, reason) => {
        this.#message({ type: 'lost', agentId, reason });
        notify((listener) => listener.lost?.(agentId, reason));
      },
      report: (agentId, report) => this.#report(agentId, report),
      // Captures are fetched by the controller that has the agent.
      dumps: (agentId, dumps) => notify((listener) => listener.dumps?.(agentId, dumps)),
    };
  }

  #report(agentId: number, report: RunReport): void {
    const { conductor } = this.#directory;
    const owner = this.#directory.ownerOf(report.runId);
    if (report.type === 'summaries' && this.isHere(agentId) && this.isElsewhere(report.runId))
      this.#measurements?.measured(agentId, report);
    // Without an owner at the moment: agents report it again when the run has one.
    else if (owner === '') return;
    else if (owner !== undefined) this.#message({ type: 'report', agentId, report }, owner);
    else if (this.#isConducting) this.#listeners.notify((listener) => listener.report?.(agentId, report));
    else if (conductor !== undefined) this.#message({ type: 'report', agentId, report }, conductor);
  }

  /** Measurements show that an agent is at work, wherever they were stored. */
  #takeStored(seconds: StoredSeconds): void {
    const { runId, epoch, parts } = seconds;
    for (const { agentId, order } of parts) {
      const sign: RunReport = { type: 'summaries', runId, epoch, order, summaries: [] };
      this.#listeners.notify((listener) => listener.report?.(agentId, sign));
    }
    this.#measurements?.stored(seconds);
  }

  #beat(): void {
    const now = performance.now();
    const pauseMs = now - this.#checkedAt;
    this.#checkedAt = now;
    if (pauseMs > ownPauseMs) this.#directory.excuse(pauseMs);
    this.#beats += 1;
    if (this.#beats % beatsPerList === 0) this.#sendList();
    else this.#message({ type: 'beat', isConducting: this.#isConducting, load: this.#load() });
    if (this.#beats % beatsPerList === spreadBeat) this.#spreadAgents(now);
    for (const peer of this.#directory.silent(now)) this.#part(peer, 'is silent');
    const lostMs = this.#deps.settings.current().agents.lostAfterSec * 1000;
    for (const agentId of this.#directory.takeLost(now, lostMs)) this.#lose(agentId);
  }

  #load() {
    return this.#spread.measure(this.#deps.registry.onlineCount());
  }

  /** Agents connect anew, so that a balancer may choose another controller for them. */
  #spreadAgents(now: number): void {
    const { registry, log } = this.#deps;
    const chosen = this.#spread.choose(registry.all(), this.#directory.loads, now);
    if (chosen.length === 0) return;
    log.info({ agents: chosen.length }, 'other controllers have less work: agents are asked to connect to them');
    registry.move(chosen);
  }

  #sendList(to?: string): void {
    const present = [...this.#deps.registry.all()].filter(({ connection }) => connection?.isOpen);
    const agents = present.map(({ agentId, roundTripMs }) => [agentId, roundTripMs] as const);
    this.#message({ type: 'list', isConducting: this.#isConducting, agents, runs: [...this.#owned] }, to);
  }

  #lose(agentId: number): void {
    const { registry, link } = this.#deps;
    if (this.isOnline(agentId) || registry.find(agentId) !== undefined) return;
    if (this.#isConducting && this.#directory.isFirst(link.id)) registry.declareOffline(agentId);
    this.#listeners.notify((listener) => listener.lost?.(agentId, 'the controller it was connected to is gone'));
  }

  #part(peer: string, how: string): void {
    this.#deps.log.warn({ peer }, `another controller ${how}`);
    for (const agentId of this.#directory.leave(peer, performance.now())) {
      this.#listeners.notify((listener) => listener.suspect?.(agentId));
    }
  }

  #receive(from: string, message: PeerMessage): void {
    if (message.type === 'bye') this.#part(from, 'stopped');
    else if (this.#understands(from, message)) this.#take(from, message);
  }

  /** What a controller says whose version is too far away is not taken: its words may mean something else. */
  #understands(from: string, message: PeerMessage): boolean {
    const version = 'version' in message ? (message.version ?? 1) : undefined;
    if (version === undefined || isNeighbour(version)) return !this.#strangers.has(from);
    if (!this.#strangers.has(from)) {
      const versions = { peer: from, version, own: messageVersion };
      this.#deps.log.error(versions, 'the version of another controller is no neighbour: upgrade in single steps');
    }
    this.#strangers.add(from);
    return false;
  }

  #take(from: string, message: Exclude<PeerMessage, { type: 'bye' }>): void {
    this.#directory.heard(from, performance.now(), 'isConducting' in message ? message : {});
    if (message.type === 'hello') this.#greet(from, message.hasMissed);
    else if (message.type === 'list') this.#takeList(from, message.agents, message.runs);
    else if ('runs' in message) this.#takeOwner(from, message);
    else if (message.type === 'stored') this.#takeStored(message);
    else if (message.type === 'renew') this.#deps.registry.renew(message.agentIds);
    else if (message.type === 'send') this.#deps.registry.send(message.agentId, message.message);
    else if (message.type === 'ask') void this.#answer(from, message);
    else if (message.type === 'answer') this.#settle(message);
    else if (message.type !== 'beat') this.#foreign(from, message);
    this.#followConductor();
  }

  /** What was on its way to the sender may be lost: agents in runs tell it again. */
  #greet(from: string, hasMissed = false): void {
    this.#sendList(from);
    if (hasMissed) this.#deps.registry.renewBusy();
  }

  #takeOwner(from: string, { type, runs }: Extract<PeerMessage, { type: 'owned' | 'disowned' }>): void {
    if (type === 'owned') this.#directory.own(runs, from);
    else this.#directory.disown(runs, from);
  }

  #takeList(from: string, agents: readonly (readonly [number, number])[], runs?: readonly OwnedRun[]): void {
    const { registry } = this.#deps;
    if (runs !== undefined) this.#directory.setRuns(from, runs);
    this.#directory.setAgents(
      from,
      agents.filter(([id]) => !registry.isOnline(id)),
    );
  }

  /** What an agent of another controller did. */
  #foreign(from: string, message: Extract<PeerMessage, { agentId: number }>): void {
    const { agentId } = message;
    const notify = this.#listeners.notify;
    if (message.type === 'connected') {
      this.#deps.registry.forgetMoved(agentId);
      this.#directory.put(agentId, from, message.roundTripMs);
      notify((listener) => listener.connected?.(agentId, message.arrival));
    } else if (message.type === 'lost') {
      if (!this.#directory.take(agentId, from)) return;
      notify((listener) => listener.lost?.(agentId, message.reason));
    } else if (message.type === 'suspect') notify((listener) => listener.suspect?.(agentId));
    else if (message.type === 'back') notify((listener) => listener.back?.(agentId));
    else if (message.type === 'report') this.#report(agentId, message.report);
  }

  /** For a controller that may not conduct itself: what agents said to the conductor before may be lost. */
  #followConductor(): void {
    const { conductor } = this.#directory;
    if (this.#isConducting || conductor === undefined || conductor === this.#conductor) return;
    this.#conductor = conductor;
    this.#deps.log.info({ conductor }, 'another controller conducts');
    this.#deps.registry.renewBusy();
  }

  async #answer(to: string, { number, agentId, question, timeoutMs }: Extract<PeerMessage, { type: 'ask' }>) {
    try {
      const result = await this.#deps.registry.ask(agentId, question, timeoutMs);
      this.#message({ type: 'answer', number, result }, to);
    } catch (error) {
      this.#message({ type: 'answer', number, failure: failureOf(error) }, to);
    }
  }

  #settle({ number, result, failure }: Extract<PeerMessage, { type: 'answer' }>): void {
    const asked = this.#asked.get(number);
    if (failure === undefined) asked?.resolve(result);
    else asked?.reject(new (failure.kind === 'refused' ? AgentRefused : AgentUnreachable)(failure.message));
  }
}
