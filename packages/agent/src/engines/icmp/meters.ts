import type { Counter, Samples } from '../../engine.ts';

/** A target and its metrics. */
export interface IcmpTarget {
  readonly index: number;
  readonly address: string;
  readonly weight: number;
  /** Its socket address. */
  readonly peer: Buffer;
  /** Its address as emulated hosts take it. */
  readonly words: Int32Array;
  readonly samples: Samples;
  readonly sent: Counter;
  readonly received: Counter;
  readonly lost: Counter;
  readonly rtt: ReturnType<Samples['histogram']>;
}

export const targetMeters = (samples: Samples) => ({
  samples,
  sent: samples.counter('icmp.sent'),
  received: samples.counter('icmp.received'),
  lost: samples.counter('icmp.lost'),
  rtt: samples.histogram('icmp.rtt'),
});
