import type { Job, Summary } from '@rushhour/protocol';
import type { ProtocolServer } from './protocol-server.ts';

type Of = { readonly runId: number; readonly epoch: number };

const orderOf = (of: Of, config: unknown, duration: Partial<Job['duration']>): Job => ({
  ...of,
  engine: 'http',
  config,
  duration: { mode: 'time', seconds: 2, count: 1, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0, ...duration },
  allowedTargets: ['127.0.0.0/8'],
  cpuCores: 1,
});

/** Answers on a port of loopback until it is stopped. */
export const serverJob = (of: Of, port: number): Job =>
  orderOf(of, { role: 'server', listen: [{ host: '127.0.0.1', port }] }, { mode: 'continuous' });

/** Sends 50 requests a second to a port of loopback. */
export const clientJob = (of: Of, port: number, seconds: number): Job =>
  orderOf(
    of,
    { role: 'client', targets: [{ host: '127.0.0.1', port }], connections: 4, load: { rate: 50 } },
    { seconds },
  );

/** The sum of a counter over all summaries that were sent, each counted once. */
export const totalOf = (server: ProtocolServer, uuid: string, of: { runId: number; order: number; metric: string }) => {
  const summaries = new Map<number, Summary>();
  for (const message of server.all('summaries', uuid)) {
    if (message.runId !== of.runId || message.order !== of.order) continue;
    for (const summary of message.summaries) summaries.set(summary.seq, summary);
  }
  const series = [...summaries.values()].flatMap((summary) => summary.series);
  const total = series.reduce((sum, { counters }) => sum + (counters[of.metric] ?? 0), 0);
  return { total, seqs: [...summaries.keys()].toSorted((a, b) => a - b) };
};
