import type { ReplayPart } from '@rushhour/protocol';
import type { Samples } from '../../engine.ts';
import type { Alarm } from '../../net/loop/alarm.ts';
import { kernelEventLoop } from '../../net/loop/kernel-event-loop.ts';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import type { FrameFeed } from './frame-feed.ts';
import type { Timetable } from './timetable.ts';

const sliceMs = 1;
const downRetryMs = 5;

export interface PlayerOptions {
  readonly feed: FrameFeed;
  readonly timetable: Timetable | undefined;
  /** Frames of both sides in one loop. */
  readonly frames: number;
  /** Number of loops in the stock. */
  readonly copies: number;
  readonly part: Pick<ReplayPart, 'loops' | 'loopDelayMs' | 'renewEvery' | 'mostFrames'>;
  readonly samples: Samples;
  /** Loops are counted on one side only. */
  readonly countsLoops: boolean;
  readonly onDown: () => void;
}

/** Sends the frames of one side, loop after loop, at their due times. */
export class Player {
  readonly done: Promise<void>;
  readonly #options: PlayerOptions;
  readonly #alarm: Alarm;
  readonly #over = Promise.withResolvers<void>();
  readonly #meters;
  readonly #dueMs: Float64Array;
  /** Planned duration of a loop; 0 without a schedule. */
  readonly #loopMs: number;
  /** Frames of this side in one loop, and of both sides in the whole stock. */
  readonly #single: number;
  readonly #frames: number;
  /** Total number of frames of both sides. */
  readonly #max: number;
  /** Start of the current loop. */
  #begun = 0;
  #loop = 0;
  #next = 0;
  /** Number of frames to send in the current loop; fewer in the last loop when the total is limited. */
  #end = 0;
  /** Frames sent or lost in all loops. */
  #taken = 0;
  #isOver = false;

  constructor(options: PlayerOptions) {
    this.#options = options;
    this.done = this.#over.promise;
    this.done.catch(() => {});
    this.#alarm = kernelEventLoop.createAlarm(() => this.#sendDue());
    const { samples, feed, timetable, frames, copies, part } = options;
    this.#loopMs = timetable?.loopMs ?? 0;
    this.#single = feed.stock.count / copies;
    this.#frames = frames * copies;
    const asked = part.loops === 0 ? Number.POSITIVE_INFINITY : part.loops * frames;
    this.#max = Math.min(asked, part.mostFrames ?? Number.POSITIVE_INFINITY);
    this.#meters = {
      sent: samples.counter('pcap-replay.sent'),
      failed: samples.counter('pcap-replay.failed'),
      linkDown: samples.counter('pcap-replay.errors.linkDown'),
      txBytes: samples.counter('pcap-replay.txBytes'),
      loops: samples.counter('pcap-replay.loops'),
      flows: samples.gauge('pcap-replay.flows'),
      lag: samples.histogram(generatorLoadMetrics.scheduleLag),
      overdue: samples.gauge(generatorLoadMetrics.overdue),
    };
    this.#dueMs = Float64Array.from(timetable === undefined ? [] : feed.stock.order, (index) =>
      Number(timetable?.dueMs[index]),
    );
  }

  /** `origin`: start of the first loop, in `performance.now` time. */
  start(origin: number): void {
    this.#begun = origin;
    this.#end = this.#endOfLoop(0);
    if (this.#loopMs > 0)
      this.#options.samples.gauge('pcap-replay.targetLoad').set((1000 * this.#single) / this.#loopMs);
    this.#alarm.set(origin);
  }

  /** Number of loops that were begun. */
  get loops(): number {
    return this.#loop + (this.#next > 0 ? 1 : 0);
  }

  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#alarm.cancel();
    this.#meters.flows.set(0);
    if (this.#loopMs > 0) this.#options.samples.counter('pcap-replay.dropped').add(this.#overdue(performance.now()));
    this.#over.resolve();
  }

  #sendDue(): void {
    if (this.#isOver) return;
    try {
      const until = performance.now() + sliceMs;
      let now = performance.now();
      this.#recordDelay(now);
      do {
        if (!this.#step(now)) return;
        now = performance.now();
      } while (now < until);
      this.#alarm.set(0);
    } catch (error) {
      this.#isOver = true;
      this.#over.reject(error);
    }
  }

  /** Sends due frames; false when nothing more is due. */
  #step(now: number): boolean {
    if (this.#next >= this.#end && !this.#startNextLoop(now)) return false;
    const due = this.#dueEnd(now);
    if (due === this.#next) {
      this.#alarm.set(this.#timeOf(this.#next));
      return false;
    }
    const { taken, lost, refused } = this.#options.feed.send(this.#next, due);
    this.#count(taken, lost);
    if (refused === undefined) return true;
    if (refused === 'full') this.#alarm.set(0);
    else {
      // Frames due while the link is down are lost, as they would be in the network.
      this.#meters.failed.add(due - this.#next);
      this.#meters.linkDown.add(due - this.#next);
      this.#taken += due - this.#next;
      this.#next = due;
      this.#options.onDown();
      this.#alarm.set(now + downRetryMs);
    }
    return false;
  }

  #timeOf(index: number): number {
    return this.#begun + (this.#dueMs[index] ?? 0);
  }

  #recordDelay(now: number): void {
    if (this.#loopMs === 0) return;
    this.#meters.overdue.set(this.#overdue(now));
    if (this.#next < this.#end && this.#timeOf(this.#next) <= now)
      this.#meters.lag.record((now - this.#timeOf(this.#next)) * 1000);
  }

  /** Number of frames of this side, in all loops, that are due and have not been sent. */
  #overdue(now: number): number {
    const loopMs = this.#loopMs;
    const elapsedMs = now - (this.#begun - this.#loop * loopMs);
    if (elapsedMs < 0) return 0;
    const whole = Math.min(Math.floor(elapsedMs / loopMs), Math.floor(this.#max / this.#frames));
    const due = countUpTo(this.#dueMs, elapsedMs - whole * loopMs);
    return whole * this.#single + Math.min(due, this.#endOfLoop(whole)) - this.#taken;
  }

  #dueEnd(now: number): number {
    const max = Math.min(this.#end, this.#next + this.#options.feed.batch);
    if (this.#dueMs.length === 0) return now < this.#begun ? this.#next : max;
    let end = this.#next;
    while (end < max && this.#timeOf(end) <= now) end++;
    return end;
  }

  #count(taken: number, lost: number): void {
    if (taken === 0) return;
    const { totalBytes, openFlows } = this.#options.feed.stock;
    const last = this.#next + taken - 1;
    const before = this.#next === 0 ? 0 : (totalBytes[this.#next - 1] as number);
    const bytes = (totalBytes[last] as number) - before;
    this.#meters.sent.add(taken - lost);
    this.#meters.failed.add(lost);
    // The driver does not report which frames were lost.
    this.#meters.txBytes.add(Math.round((bytes * (taken - lost)) / taken));
    this.#meters.flows.set(openFlows[last] as number);
    if (this.#options.countsLoops) {
      this.#meters.loops.add(Math.floor((last + 1) / this.#single) - Math.floor(this.#next / this.#single));
    }
    this.#next += taken;
    this.#taken += taken;
  }

  /** Starts the next loop; false after the last one. */
  #startNextLoop(now: number): boolean {
    const { part, timetable, feed } = this.#options;
    this.#loop++;
    this.#begun = timetable === undefined ? now + part.loopDelayMs : this.#begun + timetable.loopMs;
    this.#next = 0;
    this.#end = this.#endOfLoop(this.#loop);
    if (this.#end === 0) {
      this.stop();
      return false;
    }
    if (part.renewEvery > 0) feed.setGeneration(Math.floor(this.#loop / part.renewEvery));
    feed.rewind();
    return true;
  }

  #endOfLoop(loop: number): number {
    const left = this.#max - loop * this.#frames;
    const { order, count } = this.#options.feed.stock;
    if (left >= this.#frames) return count;
    const end = order.findIndex((index) => index >= left);
    return end === -1 ? count : end;
  }
}

/** How many of the ascending `values` are at most `limit`. */
const countUpTo = (values: Float64Array, limit: number): number => {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
};
