import type { TcpConnection } from './connection.ts';

const cubicFactor = 0.4;
const cubicBeta = 0.7;
/** Makes CUBIC as fair as NewReno where windows are small (RFC 9438, 4.3). */
const cubicAlpha = (3 * (1 - cubicBeta)) / (1 + cubicBeta);
/** Far above every window, and still a small integer. */
const unlimited = 0x3fffffff;

export const initCongestion = (c: TcpConnection): void => {
  c.cwnd = c.settings.initialWindow * c.mss;
  c.ssthresh = unlimited;
  c.cubicEpoch = 0;
  c.cubicMax = 0;
};

/** Slow start threshold after a loss or a congestion mark; CUBIC remembers the window at which it happened. */
export const reduceThreshold = (c: TcpConnection): void => {
  const { mss, cwnd } = c;
  if (c.settings.congestion === 'newreno') {
    c.ssthresh = Math.max(cwnd >> 1, 2 * mss);
    return;
  }
  const segments = cwnd / mss;
  c.cubicMax = segments < c.cubicMax ? (segments * (1 + cubicBeta)) / 2 : segments;
  c.cubicEpoch = 0;
  c.ssthresh = Math.max(Math.floor(cwnd * cubicBeta), 2 * mss);
};

/** Grows the window for acknowledged bytes outside of loss recovery. */
export const growWindow = (c: TcpConnection, acked: number, nowMs: number): void => {
  let bytes = acked;
  if (c.cwnd < c.ssthresh) {
    const room = Math.min(bytes, c.ssthresh - c.cwnd);
    c.cwnd += room;
    bytes -= room;
    if (bytes === 0) return;
  }
  if (c.cwnd >= unlimited) return;
  if (c.settings.congestion === 'newreno') growByReno(c, bytes);
  else growByCubic(c, bytes, nowMs);
};

const growByReno = (c: TcpConnection, bytes: number): void => {
  c.cwndCredit += bytes;
  if (c.cwndCredit < c.cwnd) return;
  c.cwndCredit -= c.cwnd;
  c.cwnd += c.mss;
};

const growByCubic = (c: TcpConnection, bytes: number, nowMs: number): void => {
  const { mss } = c;
  const segments = c.cwnd / mss;
  if (c.cubicEpoch === 0) {
    c.cubicEpoch = nowMs;
    c.cubicRenoWindow = segments;
    const isBelow = segments < c.cubicMax;
    c.cubicK = isBelow ? Math.cbrt((c.cubicMax - segments) / cubicFactor) : 0;
    c.cubicOrigin = isBelow ? c.cubicMax : segments;
  }
  const seconds = (nowMs - c.cubicEpoch) / 1000 + c.srtt / 1e6 - c.cubicK;
  const cubic = c.cubicOrigin + cubicFactor * seconds * seconds * seconds;
  const alpha = c.cubicRenoWindow >= c.cubicMax ? 1 : cubicAlpha;
  c.cubicRenoWindow += (alpha * bytes) / c.cwnd;
  const target = Math.max(Math.min(cubic, segments * 1.5), c.cubicRenoWindow);
  if (target <= segments) return;
  c.cwndCredit += ((target - segments) / segments) * bytes;
  const whole = Math.floor(c.cwndCredit);
  c.cwndCredit -= whole;
  c.cwnd += whole;
};
