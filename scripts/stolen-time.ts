import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const intervalMs = 5000;

/** Ticks of all processors since the machine began: in all, and those in which the host ran somebody else instead. */
const ticks = () => {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  // cpu user nice system idle iowait irq softirq steal …; what guests of this machine used is in `user` already.
  const each = line.trim().split(/\s+/).slice(1, 9).map(Number);
  return { all: each.reduce((sum, one) => sum + one, 0), stolen: each[7] ?? 0 };
};

/** Answers how many percent of the processors the host of a virtual machine has kept for others since now. */
const stolenSince = (): (() => number) => {
  const before = ticks();
  return () => {
    const { all, stolen } = ticks();
    return (100 * (stolen - before.stolen)) / Math.max(1, all - before.all);
  };
};

/** Watches what the host keeps for others, in all and in the worst five seconds, until it is asked. */
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

/** Waits until the processors are ours again, but not for ever. */
export const untilQuiet = async (atMostMs: number): Promise<void> => {
  const deadline = Date.now() + atMostMs;
  while (Date.now() < deadline) {
    const stolen = stolenSince();
    await sleep(intervalMs);
    if (stolen() < 5) return;
  }
};
