import { expect, it } from 'vitest';
import { parseThreshold } from './parse-threshold.ts';

it.each([
  ['p99(http.latency)<20ms', { metric: 'http.latency', aggregation: 'p99', operator: '<', value: 20_000 }],
  ['rate(http.requests) >= 1.5k', { metric: 'http.requests', aggregation: 'rate', operator: '>=', value: 1500 }],
  ['errors == 0', { metric: 'errors', aggregation: 'sum', operator: '==', value: 0 }],
  ['avg( udp.loss )<0.5%', { metric: 'udp.loss', aggregation: 'avg', operator: '<', value: 0.5 }],
  ['max(tcp.connect) <= 2s abort', { value: 2_000_000, abortOnFail: true }],
  ['min(a.b-c) > -1 warn abort', { metric: 'a.b-c', value: -1, abortOnFail: true, severity: 'warn' }],
])('%s', (text, expected) => {
  expect(parseThreshold(text)).toMatchObject({ name: text, ...expected });
});

it.each(['', 'p99(http.latency)', 'p98(http.latency)<1', 'p99 http.latency < 1', 'a < 1 minute', 'a =< 3'])(
  'refuses "%s"',
  (text) => {
    expect(() => parseThreshold(text)).toThrow(/the threshold/);
  },
);
