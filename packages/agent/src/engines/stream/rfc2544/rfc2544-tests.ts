import { maxConfirmations, type Rfc2544Plan, type Rfc2544Record } from '@rushhour/protocol';
import { gapBytes } from '../sizes.ts';
import { findLineRateBps } from '../stream-path.ts';
import { Search } from './rfc2544-search.ts';
import type { TrialOptions, TrialResult } from './rfc2544-trial.ts';

type ReportedRecord<Kind extends Rfc2544Record['kind']> = Omit<
  Extract<Rfc2544Record, { kind: Kind }>,
  'side' | 'frameSize'
>;
type Limit = ReportedRecord<'throughput'>['limit'];

export interface SizeTestsParts {
  readonly plan: Rfc2544Plan;
  readonly frameSize: number;
  readonly device: string;
  /** Maximum rate; undefined: as fast as possible. */
  readonly orderedFps: number | undefined;
  report(
    record:
      | ReportedRecord<'throughput'>
      | ReportedRecord<'latency'>
      | ReportedRecord<'frameLoss'>
      | ReportedRecord<'backToBack'>,
  ): void;
  note(remark: string): void;
  /** Undefined when the run has ended. */
  run(test: Rfc2544Plan['tests'][number], length: Omit<TrialOptions, 'frameSize'>): Promise<TrialResult | undefined>;
}

/** A throughput after its confirmation. */
interface Confirmed {
  readonly fps: number;
  readonly trials: number;
  readonly lowestFailed: TrialResult | undefined;
}

// Share of the requested rate that counts as reached.
const almost = 0.98;
const lossStepsPct = [100, 90, 80, 70, 60, 50, 40, 30, 20, 10];

/** All tests for one frame size. */
export class SizeTests {
  readonly #parts: SizeTestsParts;
  readonly #lineFps: number | undefined;
  /** Highest offered rate, after the first trial. */
  #topFps: number | undefined;
  #throughputFps: number | undefined;

  constructor(parts: SizeTestsParts) {
    this.#parts = parts;
    const lineBps = findLineRateBps(parts.device);
    this.#lineFps = lineBps && lineBps / (8 * (parts.frameSize + gapBytes));
  }

  /** Throughput first, because other tests use its result. */
  async run(): Promise<void> {
    const { tests } = this.#parts.plan;
    if (tests.includes('throughput')) await this.#throughput();
    if (tests.includes('latency')) await this.#latency();
    if (tests.includes('frameLoss')) await this.#frameLoss();
    if (tests.includes('backToBack')) await this.#backToBack();
  }

  async #throughput(): Promise<void> {
    const { plan, orderedFps, frameSize, report } = this.#parts;
    const search = new Search(plan, { first: orderedFps ?? Number.POSITIVE_INFINITY, minStep: 1 });
    let lowestFailed: TrialResult | undefined;
    for (let rate = search.next(); rate !== undefined; rate = search.next()) {
      const trial = await this.#parts.run('throughput', { rate: Number.isFinite(rate) ? rate : undefined });
      if (trial === undefined) return;
      this.#topFps ??= trial.offeredFps;
      search.note({ offered: trial.offeredFps, arrived: trial.arrivedFps, passed: trial.passed });
      if (!trial.passed && trial.offeredFps <= search.high) lowestFailed = trial;
    }
    const confirmed = await this.#confirm(search, lowestFailed);
    if (confirmed === undefined) return;
    const { fps, trials } = confirmed;
    this.#throughputFps = fps;
    const limit = this.#limitOf(fps, confirmed.lowestFailed);
    this.#noteLimit(fps, limit);
    const linePct = this.#lineFps === undefined ? null : (fps / this.#lineFps) * 100;
    report({ kind: 'throughput', fps, bps: fps * 8 * frameSize, linePct, trials: search.trials + trials, limit });
  }

  /**
   * Repeats the trial at the rate that was found over the standard's length: in a short one, a token bucket or a queue
   * passes more than the path carries. Steps down until a trial passes; undefined when the run has ended.
   */
  async #confirm(search: Search, failed: TrialResult | undefined): Promise<Confirmed | undefined> {
    const { trialSec, confirmSec = 0, resolutionPct } = this.#parts.plan;
    const isNeeded = confirmSec > trialSec || (confirmSec > 0 && Number.isFinite(search.high));
    let lowestFailed = failed;
    let rate = search.low;
    if (!isNeeded || rate === 0) return { fps: rate, trials: 0, lowestFailed };
    const isUnlimited = this.#isUnlimited && !Number.isFinite(search.high);
    for (let trials = 1; trials <= maxConfirmations; trials++) {
      const isTop = isUnlimited && lowestFailed === undefined;
      const options = { rate: isTop ? undefined : rate, seconds: Math.max(trialSec, confirmSec) };
      const trial = await this.#parts.run('throughput', options);
      if (trial === undefined) return undefined;
      if (trial.passed) return { fps: Math.min(search.low, trial.offeredFps), trials, lowestFailed };
      lowestFailed = trial;
      const stepShare = (resolutionPct / 100) * 2 ** (trials - 1);
      rate = Math.max(0, Math.min(rate * (1 - stepShare), trial.arrivedFps * (1 - stepShare / 2)));
    }
    return { fps: 0, trials: maxConfirmations, lowestFailed };
  }

  #limitOf(fps: number, lowestFailed: TrialResult | undefined): Limit {
    if (lowestFailed !== undefined) return lowestFailed.drops > 0 ? 'receiver' : 'path';
    if (this.#lineFps !== undefined && fps >= almost * this.#lineFps) return 'line';
    const { orderedFps } = this.#parts;
    return orderedFps !== undefined && fps >= almost * orderedFps ? 'ordered' : 'generator';
  }

  #noteLimit(fps: number, limit: Limit): void {
    const { frameSize, note } = this.#parts;
    const rate = `${Math.round(fps)} frames of ${frameSize} bytes a second`;
    if (limit === 'generator') note(`the sender could not offer more than ${rate}: the path may carry more`);
    if (limit === 'receiver') note(`beyond ${rate} the receiving agent was too slow: the path may carry more`);
    if (fps === 0) note(`no rate without loss was found for frames of ${frameSize} bytes`);
  }

  /** At the measured throughput, or at the configured rate. */
  async #latency(): Promise<void> {
    const rate = this.#throughputFps ?? this.#parts.orderedFps;
    if (rate === undefined || rate === 0) return;
    const trial = await this.#parts.run('latency', { rate });
    if (trial === undefined || trial.received === 0) return;
    const { offeredFps, received, minUs, avgUs, p50Us, p99Us, maxUs } = trial;
    this.#parts.report({ kind: 'latency', offeredFps, frames: received, minUs, avgUs, p50Us, p99Us, maxUs });
  }

  /** Decreases the rate in steps of 10 % until two trials in a row have no loss. */
  async #frameLoss(): Promise<void> {
    let flawless = 0;
    for (const ratePct of lossStepsPct) {
      const top = this.#parts.orderedFps ?? this.#topFps;
      const rate = top === undefined || (ratePct === 100 && this.#isUnlimited) ? undefined : (top * ratePct) / 100;
      const trial = await this.#parts.run('frameLoss', { rate });
      if (trial === undefined) return;
      this.#topFps ??= trial.offeredFps;
      const { offeredFps, sent, received, lossPct } = trial;
      this.#parts.report({ kind: 'frameLoss', ratePct, offeredFps, sent, received, lossPct });
      flawless = lossPct === 0 ? flawless + 1 : 0;
      if (flawless === 2) return;
    }
  }

  get #isUnlimited(): boolean {
    return this.#parts.orderedFps === undefined;
  }

  /** The longest burst at the highest rate without loss. */
  async #backToBack(): Promise<void> {
    const { plan, orderedFps, report } = this.#parts;
    const top = this.#topFps ?? orderedFps ?? (await this.#parts.run('backToBack', { rate: undefined }))?.offeredFps;
    if (top === undefined) return;
    this.#topFps = top;
    const longest = Math.max(1, Math.floor(top * plan.burstSec));
    const found: number[] = [];
    for (let repeat = 0; repeat < plan.burstRepeats; repeat++) {
      const frames = await this.#longestBurst(longest);
      if (frames === undefined) return;
      found.push(frames);
    }
    const frames = found.reduce((sum, one) => sum + one, 0) / found.length;
    report({ kind: 'backToBack', frames, burstFps: top, repeats: found.length, isLongest: frames >= longest });
  }

  async #longestBurst(longest: number): Promise<number | undefined> {
    const search = new Search(this.#parts.plan, { first: longest, minStep: 1 });
    for (let length = search.next(); length !== undefined; length = search.next()) {
      const frames = Math.max(1, Math.round(length));
      const trial = await this.#parts.run('backToBack', { rate: this.#parts.orderedFps, frames });
      if (trial === undefined) return undefined;
      search.note({ offered: frames, arrived: trial.received, passed: trial.passed });
    }
    return search.low;
  }
}
