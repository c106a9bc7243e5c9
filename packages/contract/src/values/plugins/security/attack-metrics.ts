import type { MetricDescription } from '../../../collections/tasks/plugins.ts';
import { alertsOf, counter, errorsOf, family, gauge, latency } from '../metrics.ts';

const share = (name: string, description: string, better: 'higher' | 'lower') =>
  gauge(name, `${description}; known when the run has ended`, { unit: '%', better });

/** Metrics of every security test. Counts of an active run come from the clients alone; rates compare both ends. */
export const attackMetrics = (engine: string): MetricDescription[] => [
  counter(`${engine}.sent`, 'Attacks sent', { better: 'higher' }),
  counter(`${engine}.blocked`, 'Blocked attacks', { better: 'higher' }),
  counter(`${engine}.passed`, 'Attacks that got through', { better: 'lower' }),
  counter(`${engine}.inconclusive`, 'Attacks of which nothing can be said', { better: 'lower' }),
  counter(`${engine}.benign`, 'Harmless exchanges'),
  counter(`${engine}.falsePositives`, 'Harmless exchanges stopped', { better: 'lower' }),
  counter(`${engine}.received`, 'Attempts that reached the server'),
  family(`${engine}.module`, 'module', 'Attacks that got through by kind', 'lower'),
  share(`${engine}.blockRate`, 'Share of blocked attacks among those with a clear outcome', 'higher'),
  share(`${engine}.falsePositiveRate`, 'Harmless exchanges stopped of those decided', 'lower'),
  share(`${engine}.score`, 'Share stopped and share of harmless ones let through, averaged', 'higher'),
  share(`${engine}.coverage`, 'Attempts decided of those made', 'higher'),
  gauge(`${engine}.newPassed`, 'Attacks that got through and did not in the run before', { better: 'lower' }),
  gauge(`${engine}.newFalsePositives`, 'Harmless exchanges stopped that were not in the run before', {
    better: 'lower',
  }),
  share(
    `${engine}.evasionResistance`,
    'Share of attacks blocked in every variant among those blocked without evasion',
    'higher',
  ),
  family(
    `${engine}.moduleBlockRate`,
    'module',
    'Block rate by category, in percent; known when the run has ended',
    'higher',
  ),
  latency(`${engine}.latency`, 'Attempts'),
  ...alertsOf(engine),
  errorsOf(engine),
];
