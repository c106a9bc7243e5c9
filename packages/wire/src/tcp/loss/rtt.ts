import type { TcpConnection } from '../connection.ts';

/** Granularity of the clock of timers, microseconds. */
const granularityUs = 1000;
const maxDoublings = 16;

/** Takes a sample in microseconds into the estimate and computes the timeout (RFC 6298). */
export const sampleRtt = (c: TcpConnection, rttUs: number): void => {
  const rtt = Math.max(rttUs, 1);
  if (c.srtt === 0) {
    c.srtt = rtt;
    c.rttVar = rtt >> 1;
  } else {
    const error = Math.abs(c.srtt - rtt);
    c.rttVar = (c.rttVar - (c.rttVar >> 2) + (error >> 2)) | 0;
    c.srtt = Math.max((c.srtt - (c.srtt >> 3) + (rtt >> 3)) | 0, 1);
  }
  const { minRtoMs, maxRtoMs } = c.settings;
  const rto = Math.ceil((c.srtt + Math.max(granularityUs, c.rttVar * 4)) / 1000);
  c.rtoMs = Math.min(Math.max(rto, minRtoMs), maxRtoMs);
};

/** The timeout with exponential back-off. */
export const backedOffRto = (c: TcpConnection): number =>
  Math.min(c.rtoMs * (1 << Math.min(c.backoff, maxDoublings)), c.settings.maxRtoMs);
