import { KnownSacks } from './known-sacks.ts';

/** What congestion control remembers from the first loss on. Most connections never have one. */
export class CongestionHistory {
  /** Bytes acknowledged since cwnd grew last (appropriate byte counting). */
  credit = 0;
  prrDelivered = 0;
  prrOut = 0;
  recoveryFlight = 0;
  /** CUBIC (RFC 9438): windows in segments, floating point; start of the epoch as a tick, 0: none. */
  cubicMax = 0;
  cubicK = 0;
  cubicEpoch = 0;
  cubicRenoWindow = 0;
  cubicOrigin = 0;
  readonly sacks = new KnownSacks();
}
