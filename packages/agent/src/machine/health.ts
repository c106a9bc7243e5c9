import { readFile, statfs } from 'node:fs/promises';
import { cpus, freemem, loadavg, totalmem } from 'node:os';
import type { AgentHealth } from '@rushhour/protocol';

interface Times {
  readonly busy: number;
  readonly all: number;
}

interface Traffic {
  readonly rxBytes: number;
  readonly rxPackets: number;
  readonly rxDrops: number;
  readonly txBytes: number;
  readonly txPackets: number;
  readonly txDrops: number;
}

/** Times of each core in /proc/stat. */
export const parseStat = (text: string): Times[] =>
  [...text.matchAll(/^cpu\d+ (.+)$/gm)].map((match) => {
    const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softIrq = 0, steal = 0] = (match[1] as string)
      .trim()
      .split(/\s+/)
      .map(Number);
    const busy = user + nice + system + irq + softIrq + steal;
    return { busy, all: busy + idle + wait };
  });

/** Counters of each interface in /proc/net/dev. */
export const parseNetDev = (text: string): Map<string, Traffic> =>
  new Map(
    [...text.matchAll(/^\s*([^\s:]+):(.+)$/gm)].map((match) => {
      const columns = (match[2] as string).trim().split(/\s+/).map(Number);
      const [rxBytes = 0, rxPackets = 0, , rxDrops = 0, , , , , txBytes = 0, txPackets = 0, , txDrops = 0] = columns;
      return [match[1] as string, { rxBytes, rxPackets, rxDrops, txBytes, txPackets, txDrops }];
    }),
  );

const timesOf = async (): Promise<Times[]> => {
  const stat = await readFile('/proc/stat', 'utf8').catch(() => '');
  if (stat !== '') return parseStat(stat);
  return cpus().map(({ times: { user, nice, sys, idle, irq } }) => {
    const busy = user + nice + sys + irq;
    return { busy, all: busy + idle };
  });
};

const round = (value: number) => Math.round(value * 10) / 10;

const ratesOf = (name: string, now: Traffic, before: Traffic, seconds: number): AgentHealth['interfaces'][number] => {
  // Counters restart at 0 when an interface is recreated.
  const since = (member: keyof Traffic) => Math.max(0, now[member] - before[member]);
  return {
    name,
    rxBps: round((since('rxBytes') * 8) / seconds),
    txBps: round((since('txBytes') * 8) / seconds),
    rxPps: round(since('rxPackets') / seconds),
    txPps: round(since('txPackets') / seconds),
    rxDrops: since('rxDrops'),
    txDrops: since('txDrops'),
  };
};

/** Measures the machine; rates cover the time since the last call. */
export class HealthMeter {
  readonly #dataDir: string;
  #at = performance.now();
  #times: Times[] = [];
  #traffic = new Map<string, Traffic>();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  readonly take = async (): Promise<AgentHealth> => {
    const [times, netDev, disk] = await Promise.all([
      timesOf(),
      readFile('/proc/net/dev', 'utf8').catch(() => ''),
      statfs(this.#dataDir).catch(() => ({ bavail: 0, bsize: 0 })),
    ]);
    const now = performance.now();
    const seconds = Math.max(0.001, (now - this.#at) / 1000);
    const traffic = parseNetDev(netDev);
    const health: AgentHealth = {
      cpuPct: times.map((time, core) => {
        const before = this.#times[core] ?? { busy: 0, all: 0 };
        return time.all > before.all ? round((100 * (time.busy - before.busy)) / (time.all - before.all)) : 0;
      }),
      memoryUsedMb: Math.round((totalmem() - freemem()) / 2 ** 20),
      load1: round(loadavg()[0] ?? 0),
      interfaces: [...traffic].map(([name, now]) => ratesOf(name, now, this.#traffic.get(name) ?? now, seconds)),
      diskFreeMb: Math.floor((disk.bavail * disk.bsize) / 2 ** 20),
    };
    [this.#at, this.#times, this.#traffic] = [now, times, traffic];
    return health;
  };
}
