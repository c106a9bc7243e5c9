import { SequenceTracker } from '../stream/receiver.ts';

/** The rate of a flow is that of its last packets. */
const windowPackets = 20;
const windowMask = 2 ** windowPackets - 1;
/** Below 95 % of the rate, the flow is interrupted. */
const toleratedLosses = 1;
/** A flow without packets for so many intervals, and at least so long, is silent. */
const silence = { intervals: 4, minUs: 50_000 } as const;

/** A time without or with too few packets. Times are in microseconds since 1970, on the clock of the receiver. */
export interface Interruption {
  /** Arrival of the last packet before. */
  readonly beginUs: number;
  /** Arrival of the first packet of the recovered flow. */
  readonly endUs: number;
  /** Without the interval that two packets have between them anyway. */
  readonly durationUs: number;
}

export interface PacketTimes {
  readonly txUs: number;
  readonly rxUs: number;
}

interface Outage {
  readonly beginUs: number;
  readonly beginSequence: number;
  endUs: number;
  endSequence: number;
  lost: number;
  /** The rate has fallen below the threshold. */
  isBelow: boolean;
}

const onesIn = (bits: number): number => {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
};

/** Losses and interruptions of one flow. */
export class Flow {
  received = 0;
  duplicates = 0;
  reordered = 0;
  lost = 0;
  lossDurationUs = 0;
  interruptions = 0;
  longestUs = 0;
  last: Interruption | undefined;
  readonly #sequences = new SequenceTracker();
  /** One bit for each of the last packets, the newest lowest: 1 for a missing one. */
  #window = 0;
  #highest = -1;
  #lastTxUs = Number.NaN;
  #lastRxUs = Number.NaN;
  #intervalUs = Number.NaN;
  #outage: Outage | undefined;

  /** An interruption that this packet has ended. */
  arrive(sequence: number, times: PacketTimes): Interruption | undefined {
    const arrival = this.#sequences.arrive(sequence, 0);
    if (arrival === 'duplicate') {
      this.duplicates++;
      return undefined;
    }
    this.received++;
    if (arrival === 'late') this.#takeLate(sequence);
    else this.#takeNext(sequence, times);
    return this.#recovered();
  }

  /** Whether too few packets arrive now. */
  isDown(nowUs: number): boolean {
    return this.#outage?.isBelow === true || this.isSilent(nowUs);
  }

  isSilent(nowUs: number): boolean {
    const maxUs = Math.max(silence.minUs, silence.intervals * (this.#intervalUs || 0));
    return nowUs - this.#lastRxUs > maxUs;
  }

  get lastArrivalUs(): number {
    return this.#lastRxUs;
  }

  /** At the end of the test: the interruption of a flow whose packets arrive again, though not for long enough. */
  finish(): Interruption | undefined {
    return this.#outage?.isBelow === true ? this.#end(this.#outage) : undefined;
  }

  #takeNext(sequence: number, { txUs, rxUs }: PacketTimes): void {
    const { gap } = this.#sequences;
    const isFirst = this.#highest < 0;
    if (gap > 0) this.lost += gap;
    if (!isFirst) {
      const intervalUs = (txUs - this.#lastTxUs) / (gap + 1);
      this.#intervalUs = Number.isNaN(this.#intervalUs)
        ? intervalUs
        : this.#intervalUs + (intervalUs - this.#intervalUs) / 8;
      if (gap > 0) this.#lose(gap, sequence, rxUs, intervalUs);
      this.#window = (this.#window << 1) & windowMask;
    }
    this.#highest = sequence;
    this.#lastTxUs = txUs;
    this.#lastRxUs = rxUs;
  }

  #lose(gap: number, sequence: number, rxUs: number, intervalUs: number): void {
    this.lossDurationUs += gap * intervalUs;
    this.#window = gap >= windowPackets ? windowMask : ((this.#window << gap) | (2 ** gap - 1)) & windowMask;
    this.#outage ??= {
      beginUs: this.#lastRxUs,
      beginSequence: this.#highest,
      endUs: rxUs,
      endSequence: sequence,
      lost: 0,
      isBelow: false,
    };
    this.#outage.endUs = rxUs;
    this.#outage.endSequence = sequence;
    this.#outage.lost += gap;
    this.#outage.isBelow ||= onesIn(this.#window) > toleratedLosses;
  }

  #takeLate(sequence: number): void {
    this.reordered++;
    this.lost--;
    this.lossDurationUs = Math.max(0, this.lossDurationUs - (this.#intervalUs || 0));
    if (this.#outage !== undefined && sequence > this.#outage.beginSequence) this.#outage.lost--;
    const age = this.#highest - sequence;
    if (age < windowPackets) this.#window &= ~(1 << age);
  }

  #recovered(): Interruption | undefined {
    const outage = this.#outage;
    if (outage === undefined) return undefined;
    const missing = onesIn(this.#window);
    if (outage.isBelow && missing <= toleratedLosses) return this.#end(outage);
    if (missing === 0) this.#outage = undefined;
    return undefined;
  }

  #end({ beginUs, endUs, beginSequence, endSequence, lost }: Outage): Interruption | undefined {
    this.#outage = undefined;
    // Packets were out of order only.
    if (lost <= toleratedLosses) return undefined;
    const intervals = endSequence - beginSequence;
    const durationUs = ((endUs - beginUs) * (intervals - 1)) / intervals;
    this.last = { beginUs, endUs, durationUs };
    this.interruptions++;
    this.longestUs = Math.max(this.longestUs, durationUs);
    return this.last;
  }
}
