import type { AgentLimits, Capture, Job, JobOutcome, LoadChange, NeededFile, RunCommand } from '@rushhour/protocol';
import type { Dumps } from '../../captures/captures.ts';
import type { Log } from '../../log/log.ts';
import { defaultAllowedTargets } from '../../net/addresses/target-guard.ts';
import type { FromChild, Problem } from '../child/child-messages.ts';
import { RunChild } from './run-child.ts';
import { RunRecord, type Uplink } from './run-record.ts';
import { effectiveTargets } from './target-limits.ts';

export type StopMode = 'graceful' | 'abort';
type Prepare = Extract<RunCommand, { type: 'prepare' }>;

export interface AgentRunDeps {
  /** Where compiled code is kept between processes. */
  readonly cacheFolder: string;
  readonly log: Log;
  readonly uplink: Uplink;
  readonly clock: { readonly offsetMs: number };
  readonly limits: () => AgentLimits;
  /** Brings the files onto this machine; answers their paths by hash. */
  readonly fetch: (files: readonly NeededFile[]) => Promise<ReadonlyMap<string, string>>;
  readonly dumps: Pick<Dumps, 'change' | 'end'>;
  readonly onEnd: (run: AgentRun) => void;
  /** Its process could not tidy up after itself. */
  readonly onCrash: () => void;
  /** How long a process may take to end its jobs before it is killed. */
  readonly killAfterMs?: Readonly<Record<StopMode, number>>;
}

const defaultKillAfterMs = { graceful: 12_000, abort: 3000 };
const exitAfterMs = 4000;
/** The agent ends a silent run itself; the process does so only when the agent is stuck. */
const childPatienceMs = 5000;

const otherFailed = 'another job could not be prepared';
const wasKilled = 'did not end in time and was killed; its last second may be missing';

const plainOutcome = (status: JobOutcome['status'], error = '', notes: string[] = []) => {
  return { status, error, notes, saturatedSeconds: {} };
};

/** One run on this agent: the process that makes its traffic, and the record of what it did. */
export class AgentRun {
  readonly record: RunRecord;
  readonly files: readonly NeededFile[];
  readonly #deps: AgentRunDeps;
  readonly #jobs: readonly Job[];
  readonly #log: Log;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #stopping = new Set<number>();
  readonly #over = Promise.withResolvers<void>();
  #child: RunChild | undefined;
  #capture: Capture | undefined;
  #isKilled = false;
  #isDropped = false;
  #hasLost = false;

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

  /** Resolves when its process is gone. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  async prepare(after: Promise<void>): Promise<void> {
    await after;
    const jobs = this.#jobs;
    const problems: Problem[] = [];
    const limited = jobs.map((job, index) => this.#limit(job, index, problems));
    const paths = await this.#deps.fetch(this.files).catch((error: Error) => {
      const hash = this.files.find(({ sha256 }) => error.message.includes(sha256))?.sha256 ?? '';
      const jobIndex = jobs.findIndex(({ config }) => JSON.stringify(config).includes(hash));
      problems.push({ order: Math.max(0, jobIndex), code: 'FILE_MISSING', message: error.message });
      return new Map<string, string>();
    });
    if (this.isActive && problems.length === 0 && this.#capture) await this.changeCapture(this.#capture);
    if (!this.isActive) return;
    if (problems.length > 0) this.#failToPrepare(problems);
    else this.#fork(limited, paths);
  }

  /** Packets are captured so from now on; what stands against it is told, and the run goes on. */
  async changeCapture(capture: Capture | null): Promise<void> {
    const problems = await this.#deps.dumps
      .change(this.record, this.#jobs, capture)
      .catch((error: Error) => [`packets are not captured: ${error.message}`]);
    for (const message of problems) {
      this.#log.warn(message);
      this.event({ kind: 'captureFailed', severity: 'warning', message });
    }
    // The run may have ended before the capture had begun.
    if (!this.isActive) await this.#deps.dumps.end(this.record);
  }

  /** `at` is on the clock of the controller. */
  start(at: number): void {
    if (this.record.state === 'prepared') {
      this.record.state = 'armed';
      this.#child?.send({ type: 'start', at: at - this.#deps.clock.offsetMs });
    } else this.repeat();
  }

  pause(): void {
    this.#child?.send({ type: 'pause' });
  }

  resume(): void {
    this.#child?.send({ type: 'resume' });
  }

  changeLoad(jobIndex: number, change: LoadChange): void {
    this.#child?.send({ type: 'changeLoad', order: jobIndex, change });
  }

  stop(mode: StopMode, jobIndexes: readonly number[] = this.record.openJobs): void {
    for (const jobIndex of jobIndexes) this.#stopping.add(jobIndex);
    if (!this.isActive) this.repeat();
    else if (this.#child === undefined) this.#end(() => plainOutcome('stopped'));
    else this.#stopChild(this.#child, mode, jobIndexes);
  }

  /** The controller has been silent for too long. */
  endByDeadMan(silentMs: number): void {
    if (this.record.endedByDeadMan) return;
    this.record.endedByDeadMan = true;
    const message = `no contact with the controller for ${Math.round(silentMs / 1000)} s: the run is ended`;
    this.#log.error(message);
    this.#event({ kind: 'deadMan', severity: 'error', message });
    this.stop('graceful');
  }

  /** Ends it at once and says nothing more about it. */
  async drop(): Promise<void> {
    this.#isDropped = true;
    if (this.#child === undefined) this.#end(() => plainOutcome('stopped'));
    else if (this.isActive) this.stop('abort');
    await this.over;
  }

  /** A command came twice: nothing changes, but its sender hears again where the run stands. */
  repeat(): void {
    this.record.tellState();
    this.pump();
  }

  pump(): void {
    if (!this.#isDropped) this.record.pump(this.#deps.uplink);
  }

  /** To be called every second: the process ends its traffic when it hears nothing from the agent. */
  keepAlive(): void {
    this.#child?.send({ type: 'alive' });
  }

  event(event: { kind: string; severity: 'info' | 'warning' | 'error'; message: string }): void {
    this.#event(event);
    this.pump();
  }

  #fork(jobs: readonly Job[], files: ReadonlyMap<string, string>): void {
    this.#child = new RunChild(this.#deps.cacheFolder, {
      message: (message) => this.#take(message),
      line: (text) => this.#log.warn(text),
      exited: (how) => this.#exited(how),
    });
    this.#log.info(`prepares ${jobs.length} jobs in process ${this.#child.pid}`);
    const silenceMs = this.#deps.limits().deadManMs + childPatienceMs;
    this.#child.send({ type: 'prepare', orders: jobs, files, silenceMs, isCaptured: this.#capture !== undefined });
  }

  #stopChild(child: RunChild, mode: StopMode, jobIndexes: readonly number[]): void {
    this.#log.info(`${mode} stop of ${jobIndexes.length} jobs`);
    child.send({ type: 'stop', mode, orders: jobIndexes });
    const isOpen = () => this.record.openJobs.some((jobIndex) => jobIndexes.includes(jobIndex));
    this.#killAfter((this.#deps.killAfterMs ?? defaultKillAfterMs)[mode], isOpen);
  }

  #limit(job: Job, index: number, problems: Problem[]): Job {
    try {
      const { allowedTargets } = this.#deps.limits();
      return {
        ...job,
        allowedTargets: effectiveTargets(job.allowedTargets ?? defaultAllowedTargets, allowedTargets),
      };
    } catch (error) {
      problems.push({ order: index, code: 'BAD_CONFIGURATION', message: (error as Error).message });
      return job;
    }
  }

  #take(message: FromChild): void {
    const { record } = this;
    const { offsetMs } = this.#deps.clock;
    if (message.type === 'prepared') {
      record.state = 'prepared';
      record.tellState();
    } else if (message.type === 'prepareFailed') {
      for (const { order, message: problem } of message.problems) this.#log.error(`job ${order}: ${problem}`);
      record.problems = message.problems;
      record.tellState();
    } else if (message.type === 'started') {
      if (record.state === 'armed') record.state = 'running';
      record.started(message.at + offsetMs);
    } else if (message.type === 'summary') {
      const { summary, order } = message;
      if (!record.add(order, { ...summary, at: summary.at + offsetMs })) this.#sayLost();
    } else if (message.type === 'orderEnded') this.#takeOutcome(message);
    else this.#takeEvent(message);
    this.pump();
  }

  #takeOutcome({
    order,
    outcome: { status, error = '', notes, saturatedSeconds },
  }: FromChild & { type: 'orderEnded' }) {
    this.record.endJob(order, { status, error, notes: [...notes], saturatedSeconds: { ...saturatedSeconds } });
    this.#log.info(`job ${order} ${status}${error && `: ${error}`}`);
    if (this.record.openJobs.length === 0) this.#killAfter(exitAfterMs, () => true);
  }

  #takeEvent({ type: _, ...event }: FromChild & { type: 'event' }): void {
    if (event.kind === 'paused') this.record.state = 'paused';
    if (event.kind === 'resumed') this.record.state = 'running';
    this.#log.info(`${event.kind}: ${event.message}`);
    this.#event(event);
  }

  #event(event: { kind: string; severity: 'info' | 'warning' | 'error'; message: string; order?: number }): void {
    this.record.event({ at: Date.now() + this.#deps.clock.offsetMs, ...event });
  }

  #sayLost(): void {
    if (this.#hasLost) return;
    this.#hasLost = true;
    const message = 'the controller acknowledges nothing: the oldest summaries are lost';
    this.#event({ kind: 'summariesLost', severity: 'error', message });
  }

  #killAfter(ms: number, isNeeded: () => boolean): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (!isNeeded()) return;
      this.#log.warn(`process ${this.#child?.pid} does not end and is killed`);
      this.#isKilled = true;
      this.#child?.kill();
    }, ms);
    this.#timers.add(timer);
  }

  #exited(how: string): void {
    const { openJobs: openOrders, problems, state } = this.record;
    const isCrash = openOrders.length > 0 && problems.length === 0 && !this.#isKilled;
    if (isCrash || this.#isKilled) this.#deps.onCrash();
    if (isCrash && state === 'preparing') {
      this.#failToPrepare(openOrders.map((jobIndex) => ({ order: jobIndex, code: 'ENGINE_CRASHED', message: how })));
      return;
    }
    if (isCrash) {
      this.#log.error(how);
      this.#event({ kind: 'engineCrashed', severity: 'error', message: how });
    }
    this.#end((jobIndex) => {
      if (problems.length > 0) return this.#unprepared(jobIndex);
      if (this.#isKilled && this.#stopping.has(jobIndex)) return plainOutcome('stopped', '', [wasKilled]);
      return plainOutcome('failed', how);
    });
  }

  #failToPrepare(problems: readonly Problem[]): void {
    for (const { order, message } of problems) this.#log.error(`job ${order}: ${message}`);
    this.record.problems = problems;
    this.record.tellState();
    this.#end((jobIndex) => this.#unprepared(jobIndex));
  }

  /** The end of a job of a run that could not be prepared, by its own fault or that of another. */
  #unprepared(jobIndex: number): Omit<JobOutcome, 'lastSeq'> {
    const own = this.record.problems.find((problem) => problem.order === jobIndex);
    return own === undefined ? plainOutcome('stopped', '', [otherFailed]) : plainOutcome('failed', own.message);
  }

  #end(outcomeOf: (jobIndex: number) => Omit<JobOutcome, 'lastSeq'>): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const jobIndex of this.record.openJobs) this.record.endJob(jobIndex, outcomeOf(jobIndex));
    this.record.state = 'ended';
    void this.#deps.dumps.end(this.record);
    this.pump();
    if (!this.#isDropped) this.#deps.onEnd(this);
    this.#over.resolve();
  }
}
