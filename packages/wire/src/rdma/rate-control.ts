/** Parameters of DCQCN (Zhu et al., SIGCOMM 2015). */
export interface Dcqcn {
  /** Weight of new alpha values. */
  readonly alphaG: number;
  readonly initialAlpha: number;
  readonly rateReduceMinUs: number;
  readonly timeResetUs: number;
  readonly byteReset: number;
  readonly additiveBps: number;
  readonly hyperBps: number;
}

export const defaultDcqcn: Dcqcn = {
  alphaG: 1 / 256,
  initialAlpha: 1,
  rateReduceMinUs: 50,
  timeResetUs: 55,
  byteReset: 10_485_760,
  additiveBps: 40e6,
  hyperBps: 400e6,
};

/** Alpha falls after so long without a notification. */
const alphaTimerUs = 55;
const fastSteps = 5;
const minBps = 10e6;
/** More steps at once change nothing any more. */
const maxSteps = 10_000;

/** The rate of one queue pair: falls with congestion notifications, rises again with time and bytes. */
export class RateControl {
  rateBps: number;
  alpha: number;
  readonly #maxBps: number;
  readonly #options: Dcqcn;
  #targetBps: number;
  #timeSteps = 0;
  #byteSteps = 0;
  #bytes = 0;
  #alphaAt = 0;
  #raisedAt = 0;
  #reducedAt = Number.NEGATIVE_INFINITY;
  #isReduced = false;

  constructor(maxBps: number, options: Dcqcn) {
    this.#maxBps = maxBps;
    this.#options = options;
    this.rateBps = maxBps;
    this.#targetBps = maxBps;
    this.alpha = options.initialAlpha;
  }

  /** A notification has arrived. */
  reduce(nowUs: number): void {
    this.advance(nowUs);
    const { alphaG, rateReduceMinUs } = this.#options;
    this.alpha = (1 - alphaG) * this.alpha + alphaG;
    this.#alphaAt = nowUs;
    if (nowUs - this.#reducedAt < rateReduceMinUs) return;
    this.#reducedAt = nowUs;
    this.#targetBps = this.rateBps;
    this.rateBps = Math.max(Math.min(minBps, this.#maxBps), this.rateBps * (1 - this.alpha / 2));
    this.#timeSteps = 0;
    this.#byteSteps = 0;
    this.#bytes = 0;
    this.#raisedAt = nowUs;
    this.#isReduced = true;
  }

  sent(bytes: number): void {
    if (!this.#isReduced || this.#options.byteReset === 0) return;
    this.#bytes += bytes;
    if (this.#bytes < this.#options.byteReset) return;
    this.#bytes = 0;
    this.#byteSteps++;
    this.#raise();
  }

  /** Runs the timers up to now. */
  advance(nowUs: number): void {
    if (!this.#isReduced) return;
    const { alphaG, timeResetUs } = this.#options;
    const falls = Math.min(Math.floor((nowUs - this.#alphaAt) / alphaTimerUs), maxSteps);
    if (falls > 0) {
      this.alpha *= (1 - alphaG) ** falls;
      this.#alphaAt = nowUs;
    }
    if (timeResetUs === 0) return;
    let raises = Math.min(Math.floor((nowUs - this.#raisedAt) / timeResetUs), maxSteps);
    if (raises > 0) this.#raisedAt = nowUs;
    for (; raises > 0 && this.#isReduced; raises--) {
      this.#timeSteps++;
      this.#raise();
    }
  }

  #raise(): void {
    const [lower, higher] = [Math.min(this.#timeSteps, this.#byteSteps), Math.max(this.#timeSteps, this.#byteSteps)];
    if (lower > fastSteps) this.#targetBps += this.#options.hyperBps;
    else if (higher > fastSteps) this.#targetBps += this.#options.additiveBps;
    this.#targetBps = Math.min(this.#targetBps, this.#maxBps);
    this.rateBps = (this.rateBps + this.#targetBps) / 2;
    if (this.rateBps < this.#maxBps * 0.999) return;
    this.rateBps = this.#maxBps;
    this.#isReduced = false;
  }
}
