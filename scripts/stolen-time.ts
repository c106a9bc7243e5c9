import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const intervalMs = 5000;

/** Ticks of all processors since boot: all, and stolen ones, in which the hypervisor ran other guests. */
const ticks = () => {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  // cpu user nice system idle iowait irq softirq steal …; guest time is already in `user`.
  const each = line.trim().split(/\s+/).slice(1, 9).map(Number);
  return { all: each.reduce((sum, one) => sum + one, 0), stolen: each[7] ?? 0 };
};

/** Starts measuring stolen time; the returned function gives it in percent of all processors. */
const stolenSince = (): (() => number) => {
  const before = ticks();
  return () => {
    const { all, stolen } = ticks();
    return (100 * (stolen - before.stolen)) / Math.max(1, all - before.all);
  };
};

/** Watches stolen time until the returned function is called: the mean, and the worst five seconds. */
export const watchStolenTime = (): (() => { meanPct: number; worstPct: number }) => {
  const inAll = stolenSince();
  let worstPct = 0;
  let ofInterval = stolenSince();
  const timer = setInterval(() => {
    worstPct = Math.max(worstPct, ofInterval());
    ofInterval = stolenSince();
  }, intervalMs);
  return () => {
    clearInterval(timer);
    return { meanPct: inAll(), worstPct };
  };
};

/** Waits until little time is stolen, or until the time-out. */
export const waitForProcessors = async (timeoutMs: number): Promise<void> => {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const stolen = stolenSince();
    await sleep(intervalMs);
    if (stolen() < 5) return;
  }
};
