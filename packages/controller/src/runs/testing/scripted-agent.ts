import { randomUUID } from 'node:crypto';
import type { HeldRun, JobOutcome, RunCommand, RunReport, Series } from '@rushhour/protocol';

/** How an agent behaves in a test; what is not said it does as it should. */
export interface Script {
  prepare?: 'ok' | 'fail' | 'never';
  /** Shows no traffic at the common start. */
  isSilent?: boolean;
  /** Never says that it has ended. */
  neverEnds?: boolean;
  /** Clients end by themselves after so many seconds, whatever was ordered. */
  endsAfterSec?: number;
  /** The outcome of its jobs. */
  outcome?: Partial<JobOutcome>;
  /** Says less than it has: its last summary never arrives. */
  losesLastSummary?: boolean;
  /** What it measures in every second. */
  series?: readonly Series[];
}

interface PartialRun {
  runId: number;
  epoch: number;
  state: HeldRun['state'];
  orders: { isClient: boolean; seconds: number | null; seq: number; outcome: JobOutcome | null }[];
  startAt: number;
  pausedSeconds: number;
  endedByDeadMan: boolean;
  timer?: NodeJS.Timeout;
}

type RecordImporter = Extract<RunCommand, { type: 'prepare' }>;

/** An agent that speaks the protocol and makes no traffic. Its seconds last `secondMs`. */
export class ScriptedAgent {
  readonly id: number;
  bootId = randomUUID();
  script: Script;
  isOnline = true;
  readonly heard: RunCommand[] = [];
  resets = 0;
  /** Where its words go while it is online. */
  report: (report: RunReport) => void = () => {};
  readonly #secondMs: number;
  readonly #runs = new Map<number, PartialRun>();
  #unsent: RunReport[] = [];

  constructor(id: number, secondMs: number, script: Script = {}) {
    this.id = id;
    this.#secondMs = secondMs;
    this.script = script;
  }

  get held(): HeldRun[] {
    return [...this.#runs.values()].map(({ runId, epoch, state, orders, endedByDeadMan }) => ({
      ...{ runId, epoch, state, endedByDeadMan },
      orders: orders.map(({ seq, outcome }) => ({ lastSeq: seq, outcome })),
    }));
  }

  obey(command: RunCommand): void {
    this.heard.push(command);
    if (command.type === 'prepare') {
      this.#prepare(command);
      return;
    }
    const run = this.#runs.get(command.runId);
    if (run === undefined || run.epoch !== command.epoch) {
      const { runId, epoch } = command;
      if (command.type === 'stop') this.#say({ type: 'ended', runId, epoch, endedByDeadMan: false });
      return;
    }
    if (command.type === 'start') this.#start(run, command.at);
    else if (command.type === 'stop') this.#stop(run, command.orders);
    else if (command.type === 'pause' || command.type === 'resume') this.#setPaused(run, command.type);
    else if (command.type === 'abandon' || command.type === 'forget') this.drop(run.runId);
  }

  /** What was said while nobody listened is said now. */
  replay(): void {
    for (const report of this.#unsent.splice(0)) this.#say(report);
  }

  /** The process is gone, and with it everything it knew. */
  restart(): void {
    for (const runId of this.#runs.keys()) this.drop(runId);
    this.bootId = randomUUID();
  }

  endByDeadMan(): void {
    for (const run of this.#runs.values()) {
      run.endedByDeadMan = true;
      this.#stop(run);
    }
  }

  drop(runId: number): void {
    clearInterval(this.#runs.get(runId)?.timer);
    this.#runs.delete(runId);
  }

  close(): void {
    for (const runId of [...this.#runs.keys()]) this.drop(runId);
  }

  #say(report: RunReport): void {
    if (this.isOnline) queueMicrotask(() => this.report(report));
    else this.#unsent.push(report);
  }

  #prepare({ runId, epoch, orders }: RecordImporter): void {
    const known = this.#runs.get(runId);
    if (known?.epoch === epoch) return;
    this.drop(runId);
    const run: PartialRun = {
      ...{ runId, epoch, state: 'preparing', startAt: 0, pausedSeconds: 0, endedByDeadMan: false },
      orders: orders.map(({ config, duration }) => ({
        isClient: (config as { role: string }).role === 'client',
        seconds: duration.mode === 'time' ? duration.seconds : null,
        seq: 0,
        outcome: null,
      })),
    };
    this.#runs.set(runId, run);
    const { prepare = 'ok' } = this.script;
    if (prepare === 'never') return;
    if (prepare === 'fail') {
      this.#say({ type: 'prepareFailed', runId, epoch, problems: [{ order: 0, message: 'port 80 is taken' }] });
      return;
    }
    run.state = 'prepared';
    this.#say({ type: 'prepared', runId, epoch });
  }

  #start(run: PartialRun, at: number): void {
    if (run.state !== 'prepared') return;
    run.state = 'armed';
    run.startAt = at;
    if (this.script.isSilent) return;
    setTimeout(
      () => {
        if (run.state !== 'armed') return;
        run.state = 'running';
        this.#say({ type: 'started', runId: run.runId, epoch: run.epoch, at });
        run.timer = setInterval(() => this.#second(run), this.#secondMs);
      },
      Math.max(0, at - Date.now()),
    );
  }

  #second(run: PartialRun): void {
    if (run.state === 'paused') return;
    run.orders.forEach((job, index) => {
      if (job.outcome !== null) return;
      this.#summary(run, index);
      const end = job.isClient ? (this.script.endsAfterSec ?? job.seconds) : job.seconds;
      if (end !== null && job.seq >= end) this.#endJob(run, index, 'finished');
    });
    this.#checkEnd(run);
  }

  #summary(run: PartialRun, index: number): void {
    const job = run.orders[index];
    if (job === undefined) return;
    job.seq += 1;
    const summary = {
      seq: job.seq,
      at: Date.now(),
      spanMs: 1000,
      phase: 'steady' as const,
      series: [...(this.script.series ?? [])],
    };
    this.#say({ type: 'summaries', runId: run.runId, epoch: run.epoch, order: index, summaries: [summary] });
  }

  #endJob(run: PartialRun, index: number, status: JobOutcome['status']): void {
    const job = run.orders[index];
    if (job === undefined || job.outcome !== null) return;
    const lastSeq = job.seq + (this.script.losesLastSummary ? 1 : 0);
    job.outcome = { status, error: '', notes: [], saturatedSeconds: {}, lastSeq, ...this.script.outcome };
    this.#say({ type: 'orderEnded', runId: run.runId, epoch: run.epoch, order: index, outcome: job.outcome });
  }

  #checkEnd(run: PartialRun): void {
    if (this.script.neverEnds || run.state === 'ended' || run.orders.some(({ outcome }) => outcome === null)) return;
    clearInterval(run.timer);
    run.state = 'ended';
    this.#say({ type: 'ended', runId: run.runId, epoch: run.epoch, endedByDeadMan: run.endedByDeadMan });
  }

  #stop(run: PartialRun, jobIndexes: readonly number[] = run.orders.map((_, index) => index)): void {
    for (const index of jobIndexes) this.#endJob(run, index, 'stopped');
    this.#checkEnd(run);
  }

  #setPaused(run: PartialRun, to: 'pause' | 'resume'): void {
    const [from, state, kind] =
      to === 'pause' ? (['running', 'paused', 'paused'] as const) : (['paused', 'running', 'resumed'] as const);
    if (run.state !== from) return;
    run.state = state;
    const { runId, epoch } = run;
    this.#say({ type: 'event', runId, epoch, at: Date.now(), kind, severity: 'info', message: kind });
  }
}
