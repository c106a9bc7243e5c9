import type { RunSummary } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { sessionStepsOf } from './session-steps.ts';

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
