import type { Duration } from '@rushhour/protocol';
import type { Totals } from '../job.ts';
import { inside, startJobChild } from '../job-child.ts';
import type { Cable, Side } from '../namespaces.ts';

const defaultDuration: Duration = {
  mode: 'continuous',
  seconds: 20,
  count: 1,
  rampUpSec: 0,
  warmUpSec: 0,
  rampDownSec: 0,
};
const beginsAfterMs = 200;

interface Prepared {
  start(at: number): void;
  end(): void;
  readonly totals: Promise<Totals>;
}

/** Resolves once the job is prepared or has failed; its totals hold the failure. */
const prepareIn = async (side: Side, config: object, given: Partial<Duration> = {}): Promise<Prepared> => {
  const duration = { ...defaultDuration, ...given };
  const job = { runId: 1, epoch: 0, engine: 'pcap-replay', config, duration, cpuCores: 1 };
  const { child, totals } = await startJobChild('prepared-job-process.ts', job, inside(side));
  return { totals, start: (at) => child.stdin.write(`${at}\n`), end: () => child.stdin.end() };
};

export interface Played {
  readonly client: Totals;
  readonly server: Totals;
  /** The common start time in milliseconds since 1970. */
  readonly startedAt: number;
}

export interface PairOptions {
  /** Configuration of the capture for both sides. */
  readonly played: object;
  readonly hosts: readonly string[];
  readonly client?: object;
  readonly server?: object;
  readonly duration?: Partial<Duration>;
  /** Runs while frames are sent. */
  readonly meanwhile?: () => Promise<void>;
}

/** Replays a capture from the left end of a cable to the right one; both start together. */
export const playOver = async (cable: Cable, options: PairOptions): Promise<Played> => {
  const listen = options.hosts.map((host) => ({ host, port: 8080 }));
  const common = { ...options.played, targets: listen };
  const [server, client] = await Promise.all([
    prepareIn(cable.right, { role: 'server', listen, parts: [common], ...options.server }, options.duration),
    prepareIn(cable.left, { role: 'client', ...common, ...options.client }, options.duration),
  ]);
  const startedAt = Date.now() + beginsAfterMs;
  for (const one of [server, client]) one.start(startedAt);
  await options.meanwhile?.();
  const totals = await client.totals;
  client.end();
  server.end();
  return { client: totals, server: await server.totals, startedAt };
};

/** Counters of one side, without the engine prefix. */
export const countsOf = (totals: Totals, ...names: string[]): Record<string, number> =>
  Object.fromEntries(names.map((name) => [name, totals.counter(`pcap-replay.${name}`)]));
