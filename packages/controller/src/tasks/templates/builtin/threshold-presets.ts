import { accessPlanePluginId, controlPlanePluginId, entriesOf, type Threshold } from '@rushhour/contract';
import type { BuiltinTemplate } from './builtin-template.ts';

const warning = { severity: 'warn', onNoData: 'pass' } as const;
const second = 1_000_000;

/** What may not happen at all. */
const none = (name: string, metric: string): Threshold => ({
  ...{ name, metric, aggregation: 'sum', operator: '==', value: 0, onNoData: 'pass' },
});

/** What a path may do without being broken. */
const rare = (name: string, metric: string): Threshold => ({ ...none(name, metric), ...warning });

/** A time in microseconds. What is slow depends on the network, so that it only warns. */
const fast = (name: string, metric: string, value: number): Threshold => ({
  ...{ name: `${name} (p99)`, metric, aggregation: 'p99', operator: '<=', value, ...warning },
});

/** A share in percent that is known at the end. */
const share = (name: string, metric: string, operator: '>=' | '<=', value: number): Threshold => ({
  ...{ name, metric, aggregation: 'last', operator, value, onNoData: 'inconclusive' },
});

const decides = (plugin: string): Threshold => ({ ...share('Coverage', `${plugin}.coverage`, '>=', 95), ...warning });

/** What a device in the path must do with attacks and with harmless traffic. */
const stops = (plugin: string): Threshold[] => [
  share('Block rate', `${plugin}.blockRate`, '>=', 95),
  { ...share('False positive rate', `${plugin}.falsePositiveRate`, '<=', 1), onNoData: 'pass' },
  decides(plugin),
];

/** Thresholds that fit most devices, by plugin. */
const presets: Readonly<Record<number, readonly Threshold[]>> = {
  1: [none('No failed requests', 'http.ko'), fast('Response time', 'http.latency', second)],
  2: [none('No failed connections', 'tcp.failed'), fast('Connection time', 'tcp.connect', second)],
  3: [rare('No lost datagrams', 'udp.lost'), fast('Jitter', 'udp.jitter', 30_000)],
  4: [none('No query timeouts', 'dns.timeouts'), fast('Query time', 'dns.latency', second / 2)],
  5: [none('No lost echoes', 'icmp.lost'), fast('Round-trip time', 'icmp.rtt', second / 10)],
  6: [none('No dropped packets', 'stateless-server.dropped')],
  8: [rare('No lost packets', 'pcap-replay.lost')],
  9: [none('No failed page requests', 'har-replay.ko'), fast('Page load time', 'har-replay.page', 10 * second)],
  10: [none('No failed sessions', 'application.ko'), fast('Exchange time', 'application.exchange', 5 * second)],
  11: [none('No failed handshakes', 'tls.failed'), fast('Handshake time', 'tls.handshake', second)],
  12: [rare('No dead peers', 'ipsec-tunnel.dpdTimeouts'), fast('Tunnel setup time', 'ipsec-tunnel.setup', 5 * second)],
  13: [none('No failed IKE handshakes', 'ipsec-load.failed'), fast('IKE time', 'ipsec-load.handshake', 2 * second)],
  14: [rare('No negative acknowledgements', 'rocev2.naks'), fast('Completion time', 'rocev2.completion', second)],
  15: stops('waf'),
  16: stops('cve-replay'),
  17: stops('malware-transfer'),
  18: [decides('fuzzing')],
  19: stops('compromised-host'),
  20: [fast('Convergence time', 'convergence.dataPlane', second)],
  101: [fast('Session setup time', 'access.setup', 5 * second)],
  102: [rare('No session flaps', 'control.flaps'), fast('Adjacency time', 'control.adjacency', 60 * second)],
};

type Task = Parameters<typeof entriesOf>[0];

const pluginsIn = ({ task }: BuiltinTemplate): Set<number> =>
  new Set([
    ...entriesOf(task['configuration'] as Task).map(({ pluginId }) => pluginId),
    ...(task['accessPlane'] === undefined ? [] : [accessPlanePluginId]),
    ...(task['controlPlane'] === undefined ? [] : [controlPlanePluginId]),
  ]);

/** Why a template has no thresholds; undefined if it has some. */
export const whyWithoutThresholds = (template: BuiltinTemplate): string | undefined => {
  const entries = entriesOf(template.task['configuration'] as Task);
  const isSearch = ({ values }: (typeof entries)[number]) =>
    (values as { duration?: { goal?: unknown } }).duration?.goal !== undefined;
  if (entries.some(isSearch)) return 'a search goes beyond the limit on purpose; its conditions judge every trial';
  return entries.every(({ plugin }) => plugin?.name === 'stream')
    ? 'each trial is judged by its accepted loss'
    : undefined;
};

/** The template with the thresholds of its plugins. */
export const withThresholds = (template: BuiltinTemplate): BuiltinTemplate => {
  if (whyWithoutThresholds(template) !== undefined) return template;
  const thresholds = [...pluginsIn(template)].flatMap((id) => presets[id] ?? []);
  return { ...template, task: { ...template.task, thresholds } };
};
