import type { TcpConnection } from '../connection.ts';
import { CongestionHistory } from './congestion-history.ts';

const cubicFactor = 0.4;
const cubicBeta = 0.7;
/** Makes CUBIC as fair as NewReno where windows are small (RFC 9438, 4.3). */
const cubicAlpha = (3 * (1 - cubicBeta)) / (1 + cubicBeta);
/** Far above every window, and still a small integer. */
const unlimited = 0x3fffffff;

export const historyOf = (c: TcpConnection): CongestionHistory => {
  c.history ??= new CongestionHistory();
  return c.history;
};

export const initCongestion = (c: TcpConnection): void => {
  c.cwnd = c.settings.initialWindow * c.mss;
  c.ssthresh = unlimited;
  c.history = undefined;
};

/** Slow start threshold after a loss or a congestion mark; CUBIC remembers the window at which it happened. */
export const reduceThreshold = (c: TcpConnection): void => {
  const { mss, cwnd } = c;
  if (c.settings.congestion === 'newreno') {
    c.ssthresh = Math.max(cwnd >> 1, 2 * mss);
    return;
  }
  const segments = cwnd / mss;
  const history = historyOf(c);
  history.cubicMax = segments < history.cubicMax ? (segments * (1 + cubicBeta)) / 2 : segments;
  history.cubicEpoch = 0;
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
  const history = historyOf(c);
  history.credit += bytes;
  if (history.credit < c.cwnd) return;
  history.credit -= c.cwnd;
  c.cwnd += c.mss;
};

const growByCubic = (c: TcpConnection, bytes: number, nowMs: number): void => {
  const { mss } = c;
  const history = historyOf(c);
  const segments = c.cwnd / mss;
  if (history.cubicEpoch === 0) {
    history.cubicEpoch = nowMs;
    history.cubicRenoWindow = segments;
    const isBelow = segments < history.cubicMax;
    history.cubicK = isBelow ? Math.cbrt((history.cubicMax - segments) / cubicFactor) : 0;
    history.cubicOrigin = isBelow ? history.cubicMax : segments;
  }
  const seconds = (nowMs - history.cubicEpoch) / 1000 + c.srtt / 1e6 - history.cubicK;
  const cubic = history.cubicOrigin + cubicFactor * seconds * seconds * seconds;
  const alpha = history.cubicRenoWindow >= history.cubicMax ? 1 : cubicAlpha;
  history.cubicRenoWindow += (alpha * bytes) / c.cwnd;
  const target = Math.max(Math.min(cubic, segments * 1.5), history.cubicRenoWindow);
  if (target <= segments) return;
  history.credit += ((target - segments) / segments) * bytes;
  const whole = Math.floor(history.credit);
  history.credit -= whole;
  c.cwnd += whole;
};
