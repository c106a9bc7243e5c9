import type { MetricValue, RunResult } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { markdownOf, reportOf } from './report.ts';

const metric = (name: string, values: Partial<MetricValue>) => ({ metric: name, unit: 'µs', type: 'gauge', ...values });

const result = {
  id: 7,
  status: 7,
  verdict: 2,
  validity: { valid: false, reasons: ['the agent was the limit'] },
  startedAt: '2026-01-02T03:04:05.000Z',
  durationSec: 10,
  error: '',
  summary: [
    {
      ...{ plugin: 'http', role: 'client', configurationIndex: 0, seconds: 10 },
      metrics: [
        metric('http.latency', { avg: 1234.56789, p95: 2000 }),
        metric('http.responses', { type: 'counter', unit: '', sum: 1_234_567, rate: 123_456.7 }),
      ],
    },
  ],
  thresholds: [
    {
      ...{ name: 'fast', metric: 'http.latency', aggregation: 'p95', operator: '<', value: 1000 },
      ...{ actual: 2000.123456, outcome: 'failed' },
    },
  ],
} as unknown as RunResult;

it('a report is Markdown without JSON, with counts exact and measured values rounded', () => {
  const { markdown } = markdownOf(reportOf(3, result, 8000), 8000);
  expect(markdown).toBe(
    [
      '# Task 3, run 7: failed',
      '- Status: finished',
      '- Valid: false',
      '- Started: 2026-01-02T03:04:05.000Z',
      '- Seconds: 10',
      '',
      '## http (client, entry 0)',
      '- http.latency [µs]: avg 1235, p95 2000',
      '- http.responses: sum 1234567, rate 123500',
      '',
      '## Anomalies',
      '- validity: untrustedMessage the agent was the limit',
      '- threshold: name fast, outcome failed, actual 2000, wanted p95(http.latency) < 1000',
    ].join('\n'),
  );
});
