import type { MetricDescription } from '../../collections/tasks/plugins.ts';
import type { PluginSpec } from './plugin.ts';

type Better = MetricDescription['better'];
const metricOf =
  (type: MetricDescription['type']) =>
  (name: string, description: string, { unit = '', better = 'none' as Better, labels = [] as string[] } = {}) => ({
    name,
    unit,
    type,
    labels,
    better,
    description,
  });

/** Number of events. */
export const counter = metricOf('counter');
/** A value sampled at the end of each second. */
export const gauge = metricOf('gauge');
/** Distribution of durations in microseconds. */
export const latency = (name: string, description: string): MetricDescription =>
  metricOf('histogram')(name, description, { unit: 'µs', better: 'lower' });

/** Counters that differ in the last part of the name: `http.status.*` covers `http.status.200` and so on. */
export const family = (name: string, label: string, description: string, better: Better = 'none'): MetricDescription =>
  counter(`${name}.*`, description, { labels: [label], better });

/** Gauges that differ in the last part of the name. */
export const gaugeFamily = (name: string, label: string, description: string): MetricDescription =>
  gauge(`${name}.*`, description, { labels: [label] });

/** Distributions that differ in the last part of the name. */
export const latencyFamily = (name: string, label: string, description: string): MetricDescription =>
  metricOf('histogram')(`${name}.*`, description, { unit: 'µs', better: 'lower', labels: [label] });

export const bytes = (name: string, description: string): MetricDescription =>
  counter(name, description, { unit: 'B' });

/** Alerts of TLS on both sides. */
export const alertsOf = (engine: string): MetricDescription[] => [
  family(`${engine}.alerts.sent`, 'alert', 'TLS alerts sent, by name, such as unknownCa'),
  family(`${engine}.alerts.received`, 'alert', 'TLS alerts received, by name, such as handshakeFailure'),
];

/** QUIC. Every tenth connection is watched for packets, since that costs time. */
export const quicPacketMetricsOf = (engine: string): MetricDescription[] => [
  latency(
    `${engine}.quicRtt`,
    'Smoothed round-trip time of QUIC connections that are watched, at each acknowledgement',
  ),
  counter(`${engine}.quicPackets`, 'QUIC packets sent on connections that are watched'),
  counter(`${engine}.quicLost`, 'QUIC packets lost of those', { better: 'lower' }),
  counter(
    `${engine}.quicMoves`,
    'Times a QUIC connection went on from another port, and times a server followed one there',
  ),
];

/** Metrics of QUIC where its handshakes have one of their own. */
export const quicMetricsOf = (engine: string): MetricDescription[] => [
  latency(`${engine}.quicHandshake`, 'QUIC handshakes'),
  ...quicPacketMetricsOf(engine),
];

/** Failures of an engine by class. */
export const errorsOf = (engine: string): MetricDescription =>
  family(
    `${engine}.errors`,
    'kind',
    'Failures by class: refused, reset, timeout, unreachable, tls, local, other and those of the protocol',
    'lower',
  );

/** Metrics of every client with an open-loop load. */
export const loadMetricsOf = (engine: string): MetricDescription[] => [
  gauge(`${engine}.targetLoad`, 'The rate that is wanted', { unit: '1/s' }),
  counter(`${engine}.begun`, 'Events begun, in the unit of the rate that is wanted'),
  counter(`${engine}.dropped`, 'Events that were due and could not be begun', { better: 'lower' }),
];

/** Metrics of the traffic generator itself, the same on every agent. */
export const generatorMetrics: readonly MetricDescription[] = [
  gauge('agent.cpuPct', 'Processor time of the generator; 100 is one core', { unit: '%', better: 'lower' }),
  gauge('agent.loopLagMs', 'Longest time the generator was away', { unit: 'ms', better: 'lower' }),
  gauge('agent.scheduleLagMs', 'How late events began, 99th percentile', { unit: 'ms', better: 'lower' }),
  latency('agent.scheduleLag', 'How late events began'),
  latency('agent.sessionWait', 'How late events began because every session was waiting for its peer'),
  gauge('agent.overdue', 'Events that are due and have not begun', { better: 'lower' }),
  counter('agent.socketErrors', 'Failures of the agent’s own sockets: no ports, no descriptors, no buffers', {
    better: 'lower',
  }),
];

/** Metrics derived from those of the engines, with the same meaning for every plugin. */
export const commonMetrics: readonly MetricDescription[] = [
  counter('txPackets', 'Packets or frames sent; absent where the kernel makes them from a stream of bytes'),
  counter('rxPackets', 'Packets or frames received; absent where the kernel makes a stream of bytes from them'),
  bytes('txBytes', 'Bytes sent'),
  bytes('rxBytes', 'Bytes received'),
  gauge('txPps', 'Packets or frames sent in a second', { unit: '1/s', better: 'higher' }),
  gauge('rxPps', 'Packets or frames received in a second', { unit: '1/s', better: 'higher' }),
  gauge('txBps', 'Bits sent in a second', { unit: 'bit/s', better: 'higher' }),
  gauge('rxBps', 'Bits received in a second', { unit: 'bit/s', better: 'higher' }),
  counter('errors', 'Failures of every class', { better: 'lower', labels: ['kind'] }),
  gauge('agentCpuPct', 'Processor time of the generators; 100 is one core', { unit: '%', better: 'lower' }),
  counter('agentDrops', 'Events that generators could not begin in time', { better: 'lower' }),
  gauge('scheduleLagMs', 'How late events began', { unit: 'ms', better: 'lower' }),
  gauge('targetLoad', 'The rate that was wanted', { unit: '1/s' }),
  gauge('achievedLoad', 'The rate that was reached, in the unit of `targetLoad`', { unit: '1/s', better: 'higher' }),
];

/** Metrics of emulated hosts and of tunnels, the same for every plugin that runs on them. */
const hostMetrics: readonly MetricDescription[] = [
  gauge('stack.hosts', 'Emulated hosts'),
  counter('stack.txFrames', 'Frames that emulated hosts have sent'),
  counter('stack.rxFrames', 'Frames that emulated hosts have received'),
  counter('stack.dropped', 'Frames lost on the agent: its rings were full, or its interface refused them', {
    better: 'lower',
  }),
  counter('stack.neighbours', 'Neighbours found by ARP or neighbour discovery'),
  counter('stack.neighbourFailures', 'Neighbours that did not answer ARP or neighbour discovery', { better: 'lower' }),
  counter('access.flowsLost', 'Connections that ended with the access session that carried them', { better: 'lower' }),
  counter('stack.retransmits', 'TCP segments of emulated hosts that were sent again', { better: 'lower' }),
  gauge('tunnel.count', 'Tunnels'),
  gauge('tunnel.up', 'Tunnels whose far end was heard from', { better: 'higher' }),
  latency('tunnel.setup', 'Time from the first packet of a tunnel, or of its handshake, to the first answer'),
  counter('tunnel.txPackets', 'Packets sent through tunnels'),
  counter('tunnel.rxPackets', 'Packets received from tunnels'),
  bytes('tunnel.txBytes', 'Bytes of the packets sent through tunnels'),
  bytes('tunnel.rxBytes', 'Bytes of the packets received from tunnels'),
  counter('tunnel.echoes', 'Echo requests of GTP-C that far ends of tunnels have answered'),
  counter('tunnel.echoesLost', 'Echo requests of GTP-C without an answer', { better: 'lower' }),
  counter('tunnel.pathsDown', 'Times that a far end left three echo requests in a row unanswered', { better: 'lower' }),
  family('tunnel.errors', 'cause', 'Packets dropped by tunnels: invalid, replayed, unknown, or no handshake', 'lower'),
];

/** All metrics of a plugin. */
export const metricsOf = (plugin: PluginSpec): MetricDescription[] => [
  ...plugin.metrics,
  ...commonMetrics,
  ...hostMetrics,
];

const fits = (pattern: string, name: string) =>
  pattern === name ||
  (pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1)) && name.length > pattern.length - 1);

/** Finds a metric by name; `http.status.200` matches the family `http.status.*`. */
export const findMetric = (plugin: PluginSpec, name: string): MetricDescription | undefined =>
  metricsOf(plugin).find((metric) => fits(metric.name, name));
