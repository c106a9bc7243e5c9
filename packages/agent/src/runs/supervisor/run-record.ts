import type { HeldRun, JobOutcome, RunReport, Summary, ToController } from '@rushhour/protocol';
import type { Problem } from '../child/child-messages.ts';
import { replaySeconds } from '../job/sampler.ts';

/** The way to the controller, open or not. */
export interface Uplink {
  /** False when there is no session or too much is under way in it. */
  readonly hasRoom: boolean;
  send(message: ToController): boolean;
}

interface KeptSummary {
  readonly summary: Summary;
  readonly bytes: number;
}

interface JobRecord {
  kept: KeptSummary[];
  acknowledgedSeq: number;
  sentSeq: number;
  lastSeq: number;
  outcome: JobOutcome | null;
  isOutcomeSent: boolean;
}

/** A run as it is kept on disk. */
export interface SavedRun {
  readonly runId: number;
  readonly epoch: number;
  readonly endedByDeadMan: boolean;
  readonly problems: readonly Problem[];
  readonly orders: readonly {
    readonly summaries: readonly Summary[];
    readonly acknowledgedSeq: number;
    readonly lastSeq: number;
    readonly outcome: JobOutcome | null;
  }[];
}

type Event = Omit<Extract<RunReport, { type: 'event' }>, 'type' | 'runId' | 'epoch'>;

const mostBatchBytes = 1024 * 1024;
const mostQueued = 1000;

const keep = (summary: Summary): KeptSummary => ({ summary, bytes: JSON.stringify(summary).length });

/** What is known about a run and what the controller has been told of it. Everything can be told again. */
export class RunRecord {
  readonly runId: number;
  readonly epoch: number;
  state: HeldRun['state'] = 'preparing';
  endedByDeadMan = false;
  /** Why it could not be prepared. */
  problems: readonly Problem[] = [];
  readonly #jobs: JobRecord[];
  /** Told once, in order; what cannot be told now waits. */
  #queue: RunReport[] = [];
  #startedAt = 0;
  #isEndSent = false;

  constructor(of: { readonly runId: number; readonly epoch: number }, jobs: number) {
    this.runId = of.runId;
    this.epoch = of.epoch;
    this.#jobs = Array.from({ length: jobs }, () => ({
      kept: [],
      acknowledgedSeq: 0,
      sentSeq: 0,
      lastSeq: 0,
      outcome: null,
      isOutcomeSent: false,
    }));
  }

  static from(saved: SavedRun): RunRecord {
    const record = new RunRecord(saved, 0);
    record.state = 'ended';
    record.endedByDeadMan = saved.endedByDeadMan;
    record.problems = saved.problems;
    for (const { summaries, acknowledgedSeq, lastSeq, outcome } of saved.orders) {
      const kept = summaries.map(keep);
      record.#jobs.push({ kept, acknowledgedSeq, lastSeq, outcome, sentSeq: acknowledgedSeq, isOutcomeSent: false });
    }
    return record;
  }

  get saved(): SavedRun {
    const { runId, epoch, endedByDeadMan, problems } = this;
    const jobs = this.#jobs.map(({ kept, acknowledgedSeq, lastSeq, outcome }) => {
      return { summaries: kept.map(({ summary }) => summary), acknowledgedSeq, lastSeq, outcome };
    });
    return { runId, epoch, endedByDeadMan, problems, orders: jobs };
  }

  get held(): HeldRun {
    const { runId, epoch, state, endedByDeadMan } = this;
    return {
      runId,
      epoch,
      state,
      endedByDeadMan,
      orders: this.#jobs.map(({ lastSeq, outcome }) => ({ lastSeq, outcome })),
    };
  }

  /** Places of the jobs that have not ended. */
  get openJobs(): number[] {
    return this.#jobs.flatMap(({ outcome }, index) => (outcome === null ? [index] : []));
  }

  /** False when the oldest one that was not acknowledged had to go. */
  add(jobIndex: number, summary: Summary): boolean {
    const record = this.#jobs[jobIndex] as JobRecord;
    record.kept.push(keep(summary));
    record.lastSeq = summary.seq;
    if (record.kept.length <= replaySeconds) return true;
    record.kept.shift();
    return false;
  }

  endJob(jobIndex: number, outcome: Omit<JobOutcome, 'lastSeq'>): void {
    const record = this.#jobs[jobIndex] as JobRecord;
    record.outcome ??= { ...outcome, lastSeq: record.lastSeq };
  }

  acknowledge(jobIndex: number, seq: number): void {
    const record = this.#jobs[jobIndex];
    if (record === undefined) return;
    record.acknowledgedSeq = Math.max(record.acknowledgedSeq, Math.min(seq, record.lastSeq));
    record.kept = record.kept.filter(({ summary }) => summary.seq > record.acknowledgedSeq);
  }

  event(event: Event): void {
    this.#queue.push({ type: 'event', ...this.#of, ...event });
    if (this.#queue.length > mostQueued) this.#queue.shift();
  }

  started(at: number): void {
    this.#startedAt = at;
    this.tellState();
  }

  /** Tells again where the run stands; for a command that came twice, and after a reconnection. */
  tellState(): void {
    if (this.problems.length > 0) {
      const problems = this.problems.map(({ order, message }) => ({ order, message }));
      this.#queue.push({ type: 'prepareFailed', ...this.#of, problems });
    } else if (this.state === 'prepared' || this.state === 'armed') this.#queue.push({ type: 'prepared', ...this.#of });
    else if (this.#startedAt > 0) this.#queue.push({ type: 'started', ...this.#of, at: this.#startedAt });
    this.#isEndSent = false;
  }

  /** The session is a new one: whatever was not acknowledged is told again. */
  rewind(): void {
    for (const job of this.#jobs) {
      job.sentSeq = job.acknowledgedSeq;
      job.isOutcomeSent = false;
    }
    this.tellState();
  }

  /** Tells the controller whatever it has not been told in this session, as far as there is room. */
  pump(uplink: Uplink): void {
    while (uplink.hasRoom && this.#queue[0] !== undefined && uplink.send(this.#queue[0])) this.#queue.shift();
    for (const [order, record] of this.#jobs.entries()) this.#pumpJob(uplink, record, order);
    const isAllTold = this.#queue.length === 0 && this.#jobs.every(({ isOutcomeSent }) => isOutcomeSent);
    if (this.state !== 'ended' || this.#isEndSent || !isAllTold) return;
    this.#isEndSent = uplink.send({ type: 'ended', ...this.#of, endedByDeadMan: this.endedByDeadMan });
  }

  get #of() {
    return { runId: this.runId, epoch: this.epoch };
  }

  #pumpJob(uplink: Uplink, record: JobRecord, jobIndex: number): void {
    while (uplink.hasRoom) {
      const batch = this.#batchOf(record);
      if (batch.length === 0) break;
      if (!uplink.send({ type: 'summaries', ...this.#of, order: jobIndex, summaries: batch })) return;
      record.sentSeq = (batch.at(-1) as Summary).seq;
    }
    if (record.outcome === null || record.isOutcomeSent || record.sentSeq < record.lastSeq) return;
    record.isOutcomeSent = uplink.send({ type: 'orderEnded', ...this.#of, order: jobIndex, outcome: record.outcome });
  }

  #batchOf({ kept, sentSeq }: JobRecord): Summary[] {
    const batch: Summary[] = [];
    let bytes = 0;
    // Nearly always only the newest is unsent, and it stands at the end.
    for (let i = kept.findLastIndex(({ summary }) => summary.seq <= sentSeq) + 1; i < kept.length; i++) {
      const next = kept[i] as KeptSummary;
      bytes += next.bytes;
      if (batch.length > 0 && bytes > mostBatchBytes) break;
      batch.push(next.summary);
    }
    return batch;
  }
}
