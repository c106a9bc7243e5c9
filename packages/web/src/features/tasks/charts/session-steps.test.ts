import type { RunSummary } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { sessionDelaysOf, sessionStepsOf } from './session-steps.ts';

const gauge = (metric: string, last: number) => ({ metric, type: 'gauge', unit: '', last });
const summaryOf = (...sides: object[][]) => sides.map((metrics) => ({ metrics })) as unknown as RunSummary;

it('steps of sessions are in the order of the setup, added up over entries', () => {
  const steps = sessionStepsOf(
    summaryOf(
      [gauge('access.inStep.up', 3), gauge('access.inStep.discovery', 2), gauge('access.established', 3)],
      [gauge('access.inStep.up', 4), gauge('access.inStep.lcp', 0)],
    ),
  );
  expect(steps.map(({ label, count, kind }) => [label, count, kind])).toEqual([
    ['PPPoE discovery', 2, 'setup'],
    ['LCP', 0, 'setup'],
    ['up', 7, 'up'],
  ]);
});

it('delays of sessions are in the order of the setup, by side where several have measured', () => {
  const time = (metric: string, count: number) => ({ metric, type: 'histogram', unit: 'us', count });
  const side = (role: string, ...metrics: object[]) => ({ configurationIndex: 0, role, metrics });
  const labelsOf = (...sides: object[]) =>
    sessionDelaysOf(sides as unknown as RunSummary).map(({ label, metric }) => [label, metric.count]);
  const client = side('client', time('access.join', 3), time('access.step.lcp', 4), time('access.setup', 4));
  expect(labelsOf(client, side('server', time('access.setup', 0), gauge('access.sessions', 4)))).toEqual([
    ['whole setup', 4],
    ['LCP', 4],
    ['join of a multicast group', 3],
  ]);
  expect(labelsOf(client, side('server', time('access.setup', 5))).slice(0, 2)).toEqual([
    ['whole setup (1 client)', 4],
    ['whole setup (1 server)', 5],
  ]);
});
