import type {
  AgentLimits,
  Capture,
  Job,
  JobOutcome,
  LoadChange,
  NeededFile,
  PlaneCommand,
  RunCommand,
} from '@rushhour/protocol';
import type { CaptureStore } from '../../captures/capture-store.ts';
import { clockNow } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import { defaultAllowedTargets } from '../../net/addresses/resolve-targets.ts';
import type { FromChild, Problem } from '../child/child-messages.ts';
import { MissingFile, refersTo } from './missing-file.ts';
import { RunChild } from './run-child.ts';
import { RunRecord, type Uplink } from './run-record.ts';
import { effectiveTargets } from './target-limits.ts';

export type StopMode = 'graceful' | 'abort';
type Prepare = Extract<RunCommand, { type: 'prepare' }>;

export interface AgentRunDeps {
  /** Folder of the compile cache. */
  readonly cacheFolder: string;
  readonly log: Log;
  readonly uplink: Uplink;
  readonly clock: { readonly offsetMs: number };
  readonly limits: () => AgentLimits;
  /** Fetches the files; resolves with their paths by hash, rejects with a `MissingFile`. */
  readonly fetch: (files: readonly NeededFile[]) => Promise<ReadonlyMap<string, string>>;
  readonly captures: Pick<CaptureStore, 'change' | 'end'>;
  readonly onEnd: (run: AgentRun) => void;
  /** Its process was killed or crashed without cleaning up. */
  readonly onCrash: () => void;
  /** Time for the process to end its jobs before it is killed. */
  readonly killAfterMs?: Readonly<Record<StopMode, number>>;
}

const defaultKillAfterMs = { graceful: 12_000, abort: 3000 };
const exitAfterMs = 4000;
/** The agent ends a run without contact itself; the process does so only if the agent hangs. */
const childMarginMs = 5000;

const otherFailed = 'another job could not be prepared';
const wasKilled = 'did not end in time and was killed; its last second may be missing';

const plainOutcome = (status: JobOutcome['status'], error = '', notes: string[] = []) => {
  return { status, error, notes, saturatedSeconds: {} };
};

const maxStartWaitMs = 60_000;
/** Time the controller leaves at least between the start command and the common start. */
const startLeadMs = 1000;
/** Larger changes of the offset are steps of the controller's clock. */
const maxOffsetChangeMs = 1000;

/** The offset of the controller's clock for a common start; another one if its clock was set since it was measured. */
const offsetForStart = (at: number, offsetMs: number): number => {
  const waitMs = at - offsetMs - clockNow();
  return Math.abs(waitMs) <= maxStartWaitMs ? offsetMs : at - clockNow() - startLeadMs;
};

/** One run on this agent: the process that generates its traffic, and the record of its results. */
export class AgentRun {
  readonly record: RunRecord;
  readonly files: readonly NeededFile[];
  readonly #deps: AgentRunDeps;
  readonly #jobs: readonly Job[];
  readonly #log: Log;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #stopping = new Set<number>();
  /** The last command by job. */
  readonly #commandNumbers = new Map<number, number>();
  readonly #done = Promise.withResolvers<void>();
  #child: RunChild | undefined;
  #capture: Capture | undefined;
  #isKilled = false;
  #isDropped = false;
  #hasLost = false;
  #startOffsetMs: number | undefined;

  constructor(command: Prepare, deps: AgentRunDeps) {
    this.#deps = deps;
    this.record = new RunRecord(command, command.orders.length);
    this.files = command.files;
    this.#jobs = command.orders;
    this.#capture = command.capture;
    this.#log = deps.log.of('run', command.runId);
  }

  get isActive(): boolean {
    return this.record.state !== 'ended';
  }

  /** Resolves when its process has exited. */
  get over(): Promise<void> {
    return this.#done.promise;
  }

  async prepare(after: Promise<void>): Promise<void> {
    await after;
    const orders = this.#jobs;
    const problems: Problem[] = [];
    const limited = orders.map((order, index) => this.#limit(order, index, problems));
    const paths = await this.#deps.fetch(this.files).catch((error: Error) => {
      const order = error instanceof MissingFile ? orders.findIndex(({ config }) => refersTo(config, error.sha256)) : 0;
      problems.push({ order: Math.max(0, order), code: 'FILE_MISSING', message: error.message });
      return new Map<string, string>();
    });
    if (this.isActive && problems.length === 0 && this.#capture) await this.changeCapture(this.#capture);
    if (!this.isActive) return;
    if (problems.length > 0) this.#failToPrepare(problems);
    else this.#fork(limited, paths);
  }

  /** Changes the capture; problems are reported, and the run continues. */
  async changeCapture(capture: Capture | null): Promise<void> {
    const problems = await this.#deps.captures
      .change(this.record, this.#jobs, capture)
      .catch((error: Error) => [`packets are not captured: ${error.message}`]);
    for (const message of problems) {
      this.#log.warn(message);
      this.event({ kind: 'captureFailed', severity: 'warning', message });
    }
    // The run may have ended before the capture began.
    if (!this.isActive) await this.#deps.captures.end(this.record);
  }

  /** `at` is on the controller's clock. */
  start(at: number): void {
    if (this.record.state === 'prepared') {
      this.record.state = 'armed';
      this.#startOffsetMs = offsetForStart(at, this.#deps.clock.offsetMs);
      this.#child?.send({ type: 'start', at: at - this.#startOffsetMs });
    } else this.repeat();
  }

  pause(): void {
    this.#child?.send({ type: 'pause' });
  }

  resume(): void {
    this.#child?.send({ type: 'resume' });
  }

  changeLoad(order: number, change: LoadChange): void {
    this.#child?.send({ type: 'changeLoad', order, change });
  }

  /** A command that arrives again, as after a new connection, is ignored. */
  command({ order, number, command }: { order: number; number: number; command: PlaneCommand }): void {
    if (number <= (this.#commandNumbers.get(order) ?? 0)) return;
    this.#commandNumbers.set(order, number);
    this.#child?.send({ type: 'command', order, command });
  }

  stop(mode: StopMode, orders: readonly number[] = this.record.openOrders): void {
    for (const order of orders) this.#stopping.add(order);
    if (!this.isActive) this.repeat();
    else if (this.#child === undefined) this.#end(() => plainOutcome('stopped'));
    else this.#stopChild(this.#child, mode, orders);
  }

  /** Ends the run because the controller has been silent for too long. */
  endByDeadMan(silentMs: number): void {
    if (this.record.endedByDeadMan) return;
    this.record.endedByDeadMan = true;
    const message = `no contact with the controller for ${Math.round(silentMs / 1000)} s: the run is ended`;
    this.#log.error(message);
    this.#event({ kind: 'deadMan', severity: 'error', message });
    this.stop('graceful');
  }

  /** Aborts the run and reports nothing more about it. */
  async drop(): Promise<void> {
    this.#isDropped = true;
    if (this.#child === undefined) this.#end(() => plainOutcome('stopped'));
    else if (this.isActive) this.stop('abort');
    await this.over;
  }

  /** Handles a repeated command: changes nothing but reports the state again. */
  repeat(): void {
    this.record.reportState();
    this.pump();
  }

  pump(): void {
    if (!this.#isDropped) this.record.pump(this.#deps.uplink);
  }

  /** Call every second: the process ends its traffic if it hears nothing from the agent. */
  keepAlive(): void {
    this.#child?.send({ type: 'alive' });
  }

  event(event: { kind: string; severity: 'info' | 'warning' | 'error'; message: string }): void {
    this.#event(event);
    this.pump();
  }

  /** Controller clock minus agent clock. A step of the controller's clock does not move the seconds of the run. */
  get #offsetMs(): number {
    const { offsetMs } = this.#deps.clock;
    const atStart = this.#startOffsetMs ?? offsetMs;
    return Math.abs(offsetMs - atStart) > maxOffsetChangeMs ? atStart : offsetMs;
  }

  #fork(orders: readonly Job[], files: ReadonlyMap<string, string>): void {
    this.#child = new RunChild(this.#deps.cacheFolder, {
      message: (message) => this.#handle(message),
      line: (text) => this.#log.warn(text),
      exited: (reason) => this.#exited(reason),
    });
    this.#log.info(`preparing ${orders.length} jobs in process ${this.#child.pid}`);
    const silenceMs = this.#deps.limits().deadManMs + childMarginMs;
    const writesKeys = this.#capture?.keys ?? false;
    const isCaptured = this.#capture !== undefined;
    this.#child.send({ type: 'prepare', orders, files, silenceMs, isCaptured, writesKeys });
  }

  #stopChild(child: RunChild, mode: StopMode, orders: readonly number[]): void {
    this.#log.info(`${mode} stop of ${orders.length} jobs`);
    child.send({ type: 'stop', mode, orders });
    const isOpen = () => this.record.openOrders.some((order) => orders.includes(order));
    this.#killAfter((this.#deps.killAfterMs ?? defaultKillAfterMs)[mode], isOpen);
  }

  #limit(order: Job, index: number, problems: Problem[]): Job {
    try {
      const { allowedTargets } = this.#deps.limits();
      return {
        ...order,
        allowedTargets: effectiveTargets(order.allowedTargets ?? defaultAllowedTargets, allowedTargets),
      };
    } catch (error) {
      problems.push({ order: index, code: 'BAD_CONFIGURATION', message: (error as Error).message });
      return order;
    }
  }

  #handle(message: FromChild): void {
    const { record } = this;
    const offsetMs = this.#offsetMs;
    if (message.type === 'prepared') {
      record.state = 'prepared';
      record.reportState();
    } else if (message.type === 'prepareFailed') {
      for (const { order, message: problem } of message.problems) this.#log.error(`job ${order}: ${problem}`);
      record.problems = message.problems;
      record.reportState();
    } else if (message.type === 'started') {
      if (record.state === 'armed') record.state = 'running';
      record.started(message.at + offsetMs);
    } else if (message.type === 'summary') {
      const { summary, order } = message;
      if (!record.add(order, { ...summary, at: summary.at + offsetMs })) this.#reportLost();
    } else if (message.type === 'orderEnded') this.#handleOutcome(message);
    else this.#handleEvent(message);
    this.pump();
  }

  #handleOutcome({
    order,
    outcome: { status, error = '', notes, saturatedSeconds, shortfall },
  }: FromChild & { type: 'orderEnded' }) {
    this.record.endOrder(order, {
      ...{ status, error, notes: [...notes], saturatedSeconds: { ...saturatedSeconds } },
      ...(shortfall && { shortfall }),
    });
    this.#log.info(`job ${order} ${status}${error && `: ${error}`}`);
    if (this.record.openOrders.length === 0) this.#killAfter(exitAfterMs, () => true);
  }

  #handleEvent({ type: _, ...event }: FromChild & { type: 'event' }): void {
    if (event.kind === 'paused') this.record.state = 'paused';
    if (event.kind === 'resumed') this.record.state = 'running';
    this.#log.info(`${event.kind}: ${event.message}`);
    this.#event(event);
  }

  #event(event: { kind: string; severity: 'info' | 'warning' | 'error'; message: string; order?: number }): void {
    this.record.event({ at: clockNow() + this.#offsetMs, ...event });
  }

  #reportLost(): void {
    if (this.#hasLost) return;
    this.#hasLost = true;
    const message = 'the controller does not acknowledge summaries: the oldest were dropped';
    this.#event({ kind: 'summariesLost', severity: 'error', message });
  }

  #killAfter(ms: number, isNeeded: () => boolean): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (!isNeeded()) return;
      this.#log.warn(`process ${this.#child?.pid} does not exit and is killed`);
      this.#isKilled = true;
      this.#child?.kill();
    }, ms);
    this.#timers.add(timer);
  }

  #exited(reason: string): void {
    const { openOrders, problems, state } = this.record;
    const isCrash = openOrders.length > 0 && problems.length === 0 && !this.#isKilled;
    if (isCrash || this.#isKilled) this.#deps.onCrash();
    if (isCrash && state === 'preparing') {
      this.#failToPrepare(openOrders.map((order) => ({ order, code: 'ENGINE_CRASHED', message: reason })));
      return;
    }
    if (isCrash) {
      this.#log.error(reason);
      this.#event({ kind: 'engineCrashed', severity: 'error', message: reason });
    }
    this.#end((order) => {
      if (problems.length > 0) return this.#unprepared(order);
      if (this.#isKilled && this.#stopping.has(order)) return plainOutcome('stopped', '', [wasKilled]);
      return plainOutcome('failed', reason);
    });
  }

  #failToPrepare(problems: readonly Problem[]): void {
    for (const { order, message } of problems) this.#log.error(`job ${order}: ${message}`);
    this.record.problems = problems;
    this.record.reportState();
    this.#end((order) => this.#unprepared(order));
  }

  /** The outcome of a job in a run that could not be prepared. */
  #unprepared(order: number): Omit<JobOutcome, 'lastSeq'> {
    const own = this.record.problems.find((problem) => problem.order === order);
    return own === undefined ? plainOutcome('stopped', '', [otherFailed]) : plainOutcome('failed', own.message);
  }

  #end(outcomeOf: (order: number) => Omit<JobOutcome, 'lastSeq'>): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const order of this.record.openOrders) this.record.endOrder(order, outcomeOf(order));
    this.record.state = 'ended';
    void this.#deps.captures.end(this.record);
    this.pump();
    if (!this.#isDropped) this.#deps.onEnd(this);
    this.#done.resolve();
  }
}
