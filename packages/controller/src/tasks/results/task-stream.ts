import { isTerminal, type RunEvent } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import type { SharedReads } from '../../concurrency/shared-reads.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { Selection } from '../../metrics/read/run-reader.ts';
import { UnknownMetric } from '../../metrics/read/unknown-metric.ts';
import type { Runs } from '../../runs/lifecycle/create-runs.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { RunEventRecord } from '../../store/runs/run-events.ts';
import { newestRunEvent, newestRunLog, runEventsAfter, runLogsAfter } from '../../store/runs/run-history.ts';
import { logLineOf } from './log-line.ts';
import { createAlarm } from './stream-alarm.ts';
import { readTaskStatus, type TaskStatus } from './task-status.ts';

/** A client's position in a run. It refers to stored data only, so it survives restarts of the controller. */
interface StreamCursor {
  readonly runId: number;
  /** Second since the common start. */
  readonly second: number;
  /** Sequence number of the last event. */
  readonly event: number;
  /** Id of the last log line. */
  readonly log: number;
}

/** As the id of an event: `<run>-<second>-<event>-<log>`. */
const cursorText = ({ runId, second, event, log }: StreamCursor) => [runId, second, event, log].join('-');

/** Undefined for a foreign id. */
const parseCursor = (text: string): StreamCursor | undefined => {
  if (!/^\d{1,15}(-\d{1,15}){3}$/.test(text)) return undefined;
  const [runId = 0, second = 0, event = 0, log = 0] = text.split('-').map(Number);
  return { runId, second, event, log };
};

export interface StreamDeps {
  read: Executor;
  bus: Bus;
  metrics: Metrics;
  runs: Pick<Runs, 'queuePositionOf'>;
  /** Clients that follow the same task share its reads. */
  share: SharedReads;
}

export interface StreamOptions {
  taskId: number;
  /** Empty: every type. */
  types: ReadonlySet<string>;
  selection: Selection;
  /** The client's position. */
  since: string | undefined;
  signal: AbortSignal;
}

type EventName = 'status' | 'metrics' | 'event' | 'log' | 'threshold' | 'resync' | 'end';
interface StreamEvent {
  id?: string;
  event: EventName;
  data: unknown;
}
type Events = AsyncGenerator<StreamEvent, void>;

/** Seconds that are sent again after a break; a client that missed more reads the series. */
const maxMissed = 600;
/** A client may have received a second that is no longer final: a returning agent delivers late samples. */
const slackSec = 60;
const unread = { second: 0, event: 0, log: 0 };

export const eventOf = ({ runID: _, severity, ...event }: RunEventRecord): RunEvent => ({
  ...event,
  severity: severity as RunEvent['severity'],
});

/** The parts of a status whose change is reported: others change every second. */
const newsOf = ({ elapsedSec: _, remainingSec: __, progress: ___, ...rest }: TaskStatus) => JSON.stringify(rest);

/** Live events of a task. The stream ends with the run; without a run it waits for the first. */
export class TaskStream {
  readonly #deps: StreamDeps;
  readonly #options: StreamOptions;
  #cursor: StreamCursor = { runId: 0, ...unread };
  #lastStatus = '';
  /** True if the last read returned data: there may be more. */
  #hasMore = false;

  constructor(deps: StreamDeps, options: StreamOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  async *events(): Events {
    const { taskId, signal } = this.#options;
    const alarm = createAlarm(this.#deps, taskId, signal);
    try {
      const { runId } = await this.#status();
      if (!(await this.#begin(runId))) yield this.#event('resync', { runId });
      while (!signal.aborted) {
        const news = alarm.next();
        const status = await this.#status();
        if (status.runId !== null && status.runId !== this.#cursor.runId) {
          this.#cursor = { runId: status.runId, ...unread };
        }
        alarm.follow(this.#cursor.runId);
        const isOver = isTerminal(status.status);
        this.#hasMore = false;
        yield* this.#news(status);
        yield* this.#happenings();
        yield* this.#seconds(isOver);
        yield* this.#lines();
        if (isOver && !this.#hasMore) return yield this.#event('end', status);
        if (!this.#hasMore) await news;
      }
    } finally {
      alarm.stop();
    }
  }

  /** False when the client must read everything again: its position is unknown or too old. */
  async #begin(runId: number | null): Promise<boolean> {
    const { read, metrics } = this.#deps;
    const { since } = this.#options;
    if (runId === null) return since === undefined;
    const now: StreamCursor = {
      runId,
      second: (await metrics.progressOf(runId)).second,
      event: await newestRunEvent(read, runId),
      log: await newestRunLog(read, runId),
    };
    this.#cursor = now;
    if (since === undefined) return true;
    const given = parseCursor(since);
    const isKnown = given?.runId === runId && given.event <= now.event && given.second <= now.second + slackSec;
    if (!isKnown) return false;
    const isNear = now.second - given.second <= maxMissed;
    this.#cursor = isNear ? given : { ...given, second: now.second };
    return isNear;
  }

  #status(): Promise<TaskStatus> {
    const { taskId } = this.#options;
    return this.#deps.share(`status ${taskId}`, () => readTaskStatus(this.#deps, taskId));
  }

  #wants(name: EventName): boolean {
    return this.#options.types.size === 0 || this.#options.types.has(name);
  }

  #event(event: EventName, data: unknown): StreamEvent {
    return { id: cursorText(this.#cursor), event, data };
  }

  async *#news(status: TaskStatus): Events {
    const news = newsOf(status);
    if (news !== this.#lastStatus && this.#wants('status')) yield this.#event('status', status);
    this.#lastStatus = news;
  }

  async *#happenings(): Events {
    const { read, share } = this.#deps;
    const { runId, event: last } = this.#cursor;
    const events = await share(`events ${runId} ${last}`, () => runEventsAfter(read, runId, last));
    for (const event of events) {
      this.#cursor = { ...this.#cursor, event: event.seq };
      const name = event.type.startsWith('threshold') ? 'threshold' : 'event';
      if (this.#wants(name)) yield this.#event(name, eventOf(event));
    }
    this.#hasMore ||= events.length > 0;
  }

  async *#seconds(isOver: boolean): Events {
    if (!this.#wants('metrics')) return;
    const { metrics } = this.#deps;
    const { runId, second } = this.#cursor;
    const { second: settled, newest } = await metrics.progressOf(runId);
    const toSec = isOver ? newest : settled;
    const fromSec = Math.max(second + 1, toSec - maxMissed + 1);
    if (fromSec > toSec) return;
    for (const snapshot of await this.#snapshots(runId, fromSec, toSec)) {
      this.#cursor = { ...this.#cursor, second: snapshot.seq };
      yield this.#event('metrics', snapshot);
    }
    this.#cursor = { ...this.#cursor, second: toSec };
  }

  async #snapshots(runId: number, fromSec: number, toSec: number) {
    try {
      return await this.#deps.metrics.snapshots(runId, { ...this.#options.selection, fromSec, toSec });
    } catch (error) {
      // Another run of the task may have other plugins: the requested metric is simply absent.
      if (error instanceof UnknownMetric) return [];
      throw error;
    }
  }

  async *#lines(): Events {
    if (!this.#wants('log')) return;
    const { read, share } = this.#deps;
    const { runId, log } = this.#cursor;
    const lines = await share(`logs ${runId} ${log}`, () => runLogsAfter(read, runId, log));
    for (const line of lines) {
      this.#cursor = { ...this.#cursor, log: line.id };
      yield this.#event('log', logLineOf(line));
    }
    this.#hasMore ||= lines.length > 0;
  }
}
