import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import { runAgentsOf } from '../../store/runs/run-agents.ts';
import type { Store } from '../../store/store.ts';
import type { RunMetrics } from '../verdict/run-metrics.ts';
import type { MetricQuery } from '../verdict/thresholds.ts';

/** Metrics for tests: they count what arrives, and have the values that the test gives them. */
export const scriptedMetrics = (store: Store, gateway: AgentGateway) => {
  const newest = new Map<string, number>();
  const leave = gateway.subscribe({
    report: (agentId, report) => {
      if (report.type !== 'summaries') return;
      newest.set(`${report.runId} ${agentId} ${report.order}`, report.summaries.at(-1)?.seq ?? 0);
    },
  });
  const values = new Map<string, number>();
  const metrics: RunMetrics = {
    value: ({ metric, aggregation }: MetricQuery) => values.get(`${aggregation} ${metric}`),
    missingSeconds: async (runId) => {
      const missing = (await runAgentsOf(store.read, runId)).map(({ agentID, orders }): [number, number] => {
        const byJob = orders.map(
          ({ outcome }, jobIndex) => (outcome?.lastSeq ?? 0) - (newest.get(`${runId} ${agentID} ${jobIndex}`) ?? 0),
        );
        return [agentID, Math.max(0, ...byJob)];
      });
      return new Map(missing.filter(([, seconds]) => seconds > 0));
    },
    progressOf: async (runId) => ({
      newest: Math.max(0, ...[...newest].filter(([key]) => key.startsWith(`${runId} `)).map(([, seq]) => seq)),
    }),
    summaryOf: async () => [
      {
        ...{ configurationIndex: 0, pluginID: 1, plugin: 'http', role: 'client', window: 'steady', seconds: 3 },
        metrics: [{ metric: 'http.requests', unit: '', type: 'counter', sum: newest.size }],
      },
    ],
  };
  return { metrics, values, close: leave };
};
