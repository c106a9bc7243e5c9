import type { HeldRun, JobOutcome, RunReport, Summary, ToController } from '@rushhour/protocol';
import type { Problem } from '../child/child-messages.ts';

/** The session with the controller, open or not. */
export interface Uplink {
  /** False without a session or if its send buffer is full. */
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

/** A run as stored on disk. */
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

const maxBatchBytes = 1024 * 1024;
const maxQueued = 1000;
/** Seconds of summaries kept until they are acknowledged. */
const replaySeconds = 15 * 60;

const keep = (summary: Summary): KeptSummary => ({ summary, bytes: JSON.stringify(summary).length });

/** The state of a run and what was reported to the controller. Everything can be reported again. */
export class RunRecord {
  readonly runId: number;
  readonly epoch: number;
  state: HeldRun['state'] = 'preparing';
  endedByDeadMan = false;
  problems: readonly Problem[] = [];
  readonly #orders: JobRecord[];
  /** Reported once, in order. */
  #queue: RunReport[] = [];
  #startedAt = 0;
  #isEndSent = false;

  constructor(of: { readonly runId: number; readonly epoch: number }, orders: number) {
    this.runId = of.runId;
    this.epoch = of.epoch;
    this.#orders = Array.from({ length: orders }, () => ({
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
      record.#orders.push({ kept, acknowledgedSeq, lastSeq, outcome, sentSeq: acknowledgedSeq, isOutcomeSent: false });
    }
    return record;
  }

  get saved(): SavedRun {
    const { runId, epoch, endedByDeadMan, problems } = this;
    const orders = this.#orders.map(({ kept, acknowledgedSeq, lastSeq, outcome }) => {
      return { summaries: kept.map(({ summary }) => summary), acknowledgedSeq, lastSeq, outcome };
    });
    return { runId, epoch, endedByDeadMan, problems, orders };
  }

  get held(): HeldRun {
    const { runId, epoch, state, endedByDeadMan } = this;
    return {
      runId,
      epoch,
      state,
      endedByDeadMan,
      orders: this.#orders.map(({ lastSeq, outcome }) => ({ lastSeq, outcome })),
    };
  }

  /** Indexes of the jobs that have not ended. */
  get openOrders(): number[] {
    return this.#orders.flatMap(({ outcome }, index) => (outcome === null ? [index] : []));
  }

  /** False if the oldest unacknowledged summary had to be dropped. */
  add(order: number, summary: Summary): boolean {
    const record = this.#orders[order] as JobRecord;
    record.kept.push(keep(summary));
    record.lastSeq = summary.seq;
    if (record.kept.length <= replaySeconds) return true;
    record.kept.shift();
    return false;
  }

  endOrder(order: number, outcome: Omit<JobOutcome, 'lastSeq'>): void {
    const record = this.#orders[order] as JobRecord;
    record.outcome ??= { ...outcome, lastSeq: record.lastSeq };
  }

  acknowledge(order: number, seq: number): void {
    const record = this.#orders[order];
    if (record === undefined) return;
    record.acknowledgedSeq = Math.max(record.acknowledgedSeq, Math.min(seq, record.lastSeq));
    record.kept = record.kept.filter(({ summary }) => summary.seq > record.acknowledgedSeq);
  }

  event(event: Event): void {
    this.#queue.push({ type: 'event', ...this.#of, ...event });
    if (this.#queue.length > maxQueued) this.#queue.shift();
  }

  started(at: number): void {
    this.#startedAt = at;
    this.reportState();
  }

  /** Reports the state of the run again: for repeated commands and after a reconnect. */
  reportState(): void {
    if (this.problems.length > 0) {
      const problems = this.problems.map(({ order, message }) => ({ order, message }));
      this.#queue.push({ type: 'prepareFailed', ...this.#of, problems });
    } else if (this.state === 'prepared' || this.state === 'armed') this.#queue.push({ type: 'prepared', ...this.#of });
    else if (this.#startedAt > 0) this.#queue.push({ type: 'started', ...this.#of, at: this.#startedAt });
    this.#isEndSent = false;
  }

  /** Reports everything unacknowledged again in a new session. */
  rewind(): void {
    for (const order of this.#orders) {
      order.sentSeq = order.acknowledgedSeq;
      order.isOutcomeSent = false;
    }
    this.reportState();
  }

  /** Sends everything not yet sent in this session, as far as there is room. */
  pump(uplink: Uplink): void {
    while (uplink.hasRoom && this.#queue[0] !== undefined && uplink.send(this.#queue[0])) this.#queue.shift();
    for (const [order, record] of this.#orders.entries()) this.#pumpOrder(uplink, record, order);
    const isAllSent = this.#queue.length === 0 && this.#orders.every(({ isOutcomeSent }) => isOutcomeSent);
    if (this.state !== 'ended' || this.#isEndSent || !isAllSent) return;
    this.#isEndSent = uplink.send({ type: 'ended', ...this.#of, endedByDeadMan: this.endedByDeadMan });
  }

  get #of() {
    return { runId: this.runId, epoch: this.epoch };
  }

  #pumpOrder(uplink: Uplink, record: JobRecord, order: number): void {
    while (uplink.hasRoom) {
      const batch = this.#batchOf(record);
      if (batch.length === 0) break;
      if (!uplink.send({ type: 'summaries', ...this.#of, order, summaries: batch })) return;
      record.sentSeq = (batch.at(-1) as Summary).seq;
    }
    if (record.outcome === null || record.isOutcomeSent || record.sentSeq < record.lastSeq) return;
    record.isOutcomeSent = uplink.send({ type: 'orderEnded', ...this.#of, order, outcome: record.outcome });
  }

  #batchOf({ kept, sentSeq }: JobRecord): Summary[] {
    const batch: Summary[] = [];
    let bytes = 0;
    // Usually only the newest, at the end, is unsent.
    for (let i = kept.findLastIndex(({ summary }) => summary.seq <= sentSeq) + 1; i < kept.length; i++) {
      const next = kept[i] as KeptSummary;
      bytes += next.bytes;
      if (batch.length > 0 && bytes > maxBatchBytes) break;
      batch.push(next.summary);
    }
    return batch;
  }
}
