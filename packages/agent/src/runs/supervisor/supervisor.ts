import type { AgentLimits, HeldRun, NeededFile, RunCommand } from '@rushhour/protocol';
import { clockNow } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import { AgentRun, type AgentRunDeps } from './agent-run.ts';
import type { ResultsFolder } from './results-folder.ts';
import { RunRecord } from './run-record.ts';

export interface SupervisorDeps extends Omit<AgentRunDeps, 'limits' | 'onEnd' | 'uplink'> {
  readonly uplink: AgentRunDeps['uplink'] & { readonly isOpen: boolean; readonly silentMs: number };
  readonly results: ResultsFolder;
}

/** An ended run that the controller has not released yet: of this process, or loaded from disk. */
interface Ended {
  readonly record: RunRecord;
  isSaved: boolean;
}

const tickMs = 250;
const aliveEveryMs = 1000;
const saveAgainMs = 10_000;

/**
 * All runs on this agent: handles commands of the controller, keeps results until it has them, and ends runs if it is
 * silent.
 */
export class Supervisor {
  readonly #deps: SupervisorDeps;
  readonly #log: Log;
  readonly #active = new Map<number, AgentRun>();
  readonly #ended = new Map<number, Ended>();
  /** Released runs whose processes still exist. */
  readonly #exiting = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #limits: AgentLimits = { heartbeatMs: 2000, deadManMs: 60_000, allowedTargets: [] };
  /** Serialises writes and removals of files. */
  #disk: Promise<void> = Promise.resolve();
  #aliveAt = 0;
  #savedAt = 0;

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
    this.#log = deps.log.of('runs');
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  /** Loads results that earlier processes left on disk. */
  async load(): Promise<void> {
    for (const saved of await this.#deps.results.load((problem) => this.#log.error(problem))) {
      this.#ended.set(saved.runId, { record: RunRecord.from(saved), isSaved: true });
      this.#log.info(`loaded unsent results of run ${saved.runId}`);
    }
  }

  set limits(limits: AgentLimits) {
    this.#limits = limits;
  }

  get held(): HeldRun[] {
    return this.#records().map(({ held }) => held);
  }

  /** Files used by active runs. */
  get filesInUse(): readonly NeededFile[] {
    return [...this.#active.values()].flatMap(({ files }) => files);
  }

  sessionOpened(): void {
    for (const record of this.#records()) record.rewind();
    this.#pumpAll();
  }

  sessionClosed(): void {
    for (const ended of this.#ended.values()) this.#save(ended);
  }

  handle(command: RunCommand): void {
    const { runId, epoch } = command;
    const active = this.#active.get(runId);
    const record = active?.record ?? this.#ended.get(runId)?.record;
    if (command.type === 'prepare') this.#prepare(command, record);
    else if (record?.epoch !== epoch) this.#handleUnknown(command, record);
    else if (command.type === 'acknowledge') record.acknowledge(command.order, command.seq);
    else if (command.type === 'forget' || command.type === 'abandon') this.#forget(command);
    else if (active === undefined) this.#repeat(record);
    else if (command.type === 'start') active.start(command.at);
    else if (command.type === 'stop') active.stop(command.mode, command.orders);
    else if (command.type === 'changeLoad') active.changeLoad(command.order, command.change);
    else if (command.type === 'command') active.command(command);
    else if (command.type === 'capture') void active.changeCapture(command.capture);
    else active[command.type]();
  }

  /** Reports an invalid `prepare` as failed, so that the controller does not wait for it. */
  refuse(of: { runId: number; epoch: number }, message: string): void {
    this.#deps.uplink.send({ type: 'prepareFailed', ...of, problems: [{ order: 0, message }] });
  }

  /** Reports an event of the machine to all active runs. */
  announce(event: Parameters<AgentRun['event']>[0]): void {
    for (const run of this.#active.values()) run.event(event);
  }

  /** Ends and releases all runs. */
  async reset(): Promise<void> {
    const runs = [...this.#active.values()];
    for (const record of this.#records()) this.#remove(record);
    for (const run of runs) void this.#drop(run);
    await Promise.all(this.#exiting);
    await this.#disk;
  }

  /** Ends all runs and keeps their results. */
  async close(): Promise<void> {
    const runs = [...this.#active.values()];
    for (const run of runs) run.stop('graceful');
    await Promise.all([...runs.map((run) => run.over), ...this.#exiting]);
    clearInterval(this.#timer);
    for (const ended of this.#ended.values()) this.#save(ended);
    await this.#disk;
  }

  #prepare(command: Extract<RunCommand, { type: 'prepare' }>, record: RunRecord | undefined): void {
    const { runId, epoch } = command;
    if (record === undefined) this.#begin(command, Promise.resolve());
    else if (record.epoch > epoch) this.#log.warn(`run ${runId}: epoch ${epoch} is over`);
    else if (record.epoch === epoch) this.#repeat(record);
    else {
      const before = this.#active.get(runId);
      this.#remove(record);
      // The ports of the earlier epoch have to be free first.
      this.#begin(command, before === undefined ? Promise.resolve() : this.#drop(before));
    }
  }

  #begin(command: Extract<RunCommand, { type: 'prepare' }>, after: Promise<void>): void {
    const run = new AgentRun(command, { ...this.#deps, limits: () => this.#limits, onEnd: () => this.#endOf(run) });
    this.#active.set(command.runId, run);
    void run.prepare(after);
  }

  #handleUnknown({ type, runId, epoch }: RunCommand, record: RunRecord | undefined): void {
    if (record !== undefined && record.epoch > epoch) {
      this.#log.debug(`run ${runId}: ${type} of epoch ${epoch}, which is over`);
      return;
    }
    this.#log.warn(`${type} for run ${runId}, which this agent does not know`);
    if (type === 'start') this.refuse({ runId, epoch }, 'this agent does not know the run');
    if (type === 'stop') this.#deps.uplink.send({ type: 'ended', runId, epoch, endedByDeadMan: false });
  }

  #endOf(run: AgentRun): void {
    if (this.#active.get(run.record.runId) !== run) return;
    this.#active.delete(run.record.runId);
    const ended = { record: run.record, isSaved: false };
    this.#ended.set(run.record.runId, ended);
    if (!this.#deps.uplink.isOpen) this.#save(ended);
  }

  #forget({ runId }: { runId: number }): void {
    const active = this.#active.get(runId);
    const record = active?.record ?? this.#ended.get(runId)?.record;
    if (record !== undefined) this.#remove(record);
    if (active !== undefined) void this.#drop(active);
  }

  #drop(run: AgentRun): Promise<void> {
    const exiting = run.drop().finally(() => this.#exiting.delete(exiting));
    this.#exiting.add(exiting);
    return exiting;
  }

  #remove(record: RunRecord): void {
    this.#active.delete(record.runId);
    this.#ended.delete(record.runId);
    this.#disk = this.#disk.then(() => this.#deps.results.remove(record));
  }

  #save(ended: Ended): void {
    if (ended.isSaved) return;
    this.#savedAt = performance.now();
    this.#disk = this.#disk.then(async () => {
      if (this.#ended.get(ended.record.runId) !== ended) return;
      await this.#deps.results.save(ended.record.saved).then(
        () => {
          ended.isSaved = true;
        },
        (error: Error) => this.#reportUnsaved(ended.record, error),
      );
    });
  }

  #reportUnsaved(record: RunRecord, error: Error): void {
    const message = `results are kept in memory only: ${error.message}`;
    this.#log.error(`run ${record.runId}: ${message}`);
    const at = clockNow() + this.#deps.clock.offsetMs;
    record.event({ at, kind: 'resultsNotOnDisk', severity: 'warning', message });
  }

  #repeat(record: RunRecord): void {
    record.reportState();
    record.pump(this.#deps.uplink);
  }

  #records(): RunRecord[] {
    return [...this.#active.values(), ...this.#ended.values()].map(({ record }) => record);
  }

  #pumpAll(): void {
    for (const run of this.#active.values()) run.pump();
    for (const { record } of this.#ended.values()) record.pump(this.#deps.uplink);
  }

  #tick(): void {
    const now = performance.now();
    const { silentMs, isOpen } = this.#deps.uplink;
    this.#pumpAll();
    if (now - this.#aliveAt > aliveEveryMs) {
      this.#aliveAt = now;
      for (const run of this.#active.values()) run.keepAlive();
    }
    if (silentMs > this.#limits.deadManMs) for (const run of this.#active.values()) run.endByDeadMan(silentMs);
    if (!isOpen && now - this.#savedAt > saveAgainMs) for (const ended of this.#ended.values()) this.#save(ended);
  }
}
