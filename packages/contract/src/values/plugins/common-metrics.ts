import type { MetricDescription } from '../../collections/task-plugins.ts';
import { bytes, counter, gauge } from './metric.ts';

/** Metrics that are computed from those of the engines and mean the same for every plugin. */
export const commonMetrics: readonly MetricDescription[] = [
  counter('txPackets', 'Requests, messages or packets sent'),
  counter('rxPackets', 'Answers, messages or packets received'),
  bytes('txBytes', 'Bytes sent'),
  bytes('rxBytes', 'Bytes received'),
  gauge('txPps', 'Sent in a second', { unit: '1/s', better: 'higher' }),
  gauge('rxPps', 'Received in a second', { unit: '1/s', better: 'higher' }),
  gauge('txBps', 'Bits sent in a second', { unit: 'bit/s', better: 'higher' }),
  gauge('rxBps', 'Bits received in a second', { unit: 'bit/s', better: 'higher' }),
  counter('errors', 'Failures of every class', { better: 'lower', labels: ['kind'] }),
  gauge('agentCpuPct', 'Processor time of the generators; 100 is one core', { unit: '%', better: 'lower' }),
  counter('agentDrops', 'Events that generators could not begin in time', { better: 'lower' }),
  gauge('scheduleLagMs', 'How late events began', { unit: 'ms', better: 'lower' }),
  gauge('targetLoad', 'The rate that was wanted', { unit: '1/s' }),
  gauge('achievedLoad', 'The rate that was reached', { unit: '1/s', better: 'higher' }),
];
