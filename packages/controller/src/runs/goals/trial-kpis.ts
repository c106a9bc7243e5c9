import type { GoalKpi, Threshold } from '@rushhour/contract';

/** Reads a metric over the seconds of a trial. */
export type ReadMetric = (
  metric: string,
  aggregation: Threshold['aggregation'],
) => number | undefined | Promise<number | undefined>;

type Indicator = readonly [name: string, metric: string, unit: string];

const throughput: readonly Indicator[] = [
  ['Throughput received', 'rxBps', 'bit/s'],
  ['Throughput sent', 'txBps', 'bit/s'],
];

/** Key performance indicators as RFC 9411 names them, by plugin. */
const indicators: Readonly<Record<string, readonly Indicator[]>> = {
  http: [
    ['TCP connections per second', 'http.connections', '/s'],
    ['TLS handshakes per second', 'http.tls:rate', '/s'],
    ['Transactions per second', 'http.responses', '/s'],
    ['Concurrent connections', 'http.concurrent', ''],
    ['Time to first byte', 'http.ttfb', 'us'],
    ['Time to last byte', 'http.service', 'us'],
  ],
  tls: [
    ['TLS handshakes per second', 'tls.handshake:rate', '/s'],
    ['Handshake time', 'tls.handshake', 'us'],
  ],
  tcp: [
    ['TCP connections per second', 'tcp.established', '/s'],
    ['Concurrent connections', 'tcp.active', ''],
    ['Connection time', 'tcp.connect', 'us'],
  ],
  application: [
    ['Transactions per second', 'application.exchanges', '/s'],
    ['Sessions per second', 'application.ok', '/s'],
    ['Transaction time', 'application.exchange', 'us'],
  ],
  dns: [
    ['Transactions per second', 'dns.answers', '/s'],
    ['Answer time', 'dns.latency', 'us'],
  ],
};

/** What counts as failed, and of how many, by plugin. */
const failures: Readonly<Record<string, { readonly failed: readonly string[]; readonly of: readonly string[] }>> = {
  http: { failed: ['http.ko', 'errors'], of: ['http.requests'] },
  tls: { failed: ['tls.failed'], of: ['tls.attempted'] },
  tcp: { failed: ['tcp.failed'], of: ['tcp.attempted'] },
  application: { failed: ['application.ko'], of: ['application.ok', 'application.ko'] },
  dns: { failed: ['dns.timeouts'], of: ['dns.queries'] },
  udp: { failed: ['udp.lost'], of: ['udp.sent'] },
  'ipsec-load': { failed: ['ipsec-load.failed'], of: ['ipsec-load.started'] },
};

const sumOf = async (read: ReadMetric, metrics: readonly string[]): Promise<number> => {
  const sums = await Promise.all(metrics.map((metric) => read(metric, 'sum')));
  return sums.reduce<number>((total, sum) => total + (sum ?? 0), 0);
};

/** Share of what failed; undefined where a plugin does not tell, or nothing was tried. */
export const failedPctOf = async (read: ReadMetric, plugin: string): Promise<number | undefined> => {
  const counted = failures[plugin];
  if (counted === undefined) return undefined;
  const [failed, all] = [await sumOf(read, counted.failed), await sumOf(read, counted.of)];
  return all > 0 ? (100 * failed) / all : undefined;
};

const kpiOf = async (read: ReadMetric, [name, metric, unit]: Indicator): Promise<GoalKpi | undefined> => {
  const [source = '', isRate] = metric.split(':');
  const value = async (aggregation: Threshold['aggregation']) => (await read(source, aggregation)) ?? null;
  if (isRate) {
    const avg = await value('rate');
    return avg === null || avg === 0 ? undefined : { name, unit, min: null, avg, max: null };
  }
  const [min, avg, max] = [await value('min'), await value('avg'), await value('max')];
  return avg === null ? undefined : { name, unit, min, avg, max };
};

/** Everything that was measured in the seconds of a trial. */
export const trialKpis = async (read: ReadMetric, plugin: string): Promise<GoalKpi[]> => {
  const found = await Promise.all(
    [...throughput, ...(indicators[plugin] ?? [])].map((indicator) => kpiOf(read, indicator)),
  );
  const failed = await failedPctOf(read, plugin);
  const share = failed === undefined ? [] : [{ name: 'Failed', unit: '%', min: null, avg: failed, max: null }];
  return [...found.filter((kpi) => kpi !== undefined), ...share];
};
