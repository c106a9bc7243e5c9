import type { ConfigurationEntry } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { ends, inputOf } from '../testing/plan-fixture.ts';
import { planRun } from './plan-run.ts';

const stages = [
  { seconds: 4, target: 50, shape: 'linear' },
  { seconds: 6, target: 200, shape: 'step' },
];
const clientOf = (id: number, values: object) => {
  const plan = planRun(
    inputOf([{ plugin: { id }, values: { ...ends, duration: { stages }, ...values } } as ConfigurationEntry]),
  );
  const [client] = plan.agents.flatMap(({ jobs }) => jobs.filter(({ role }) => role === 'client'));
  return { plan, job: client?.job };
};
const curve = [
  { seconds: 4, from: 0, to: 0.25 },
  { seconds: 6, from: 1, to: 1 },
];

describe('stages', () => {
  it.each([
    [1, {}, { load: { rate: 200 } }],
    [3, { payload: { size: 100 } }, {}],
    [11, {}, { load: { rate: 200 } }],
  ])('give plugin %s its rate, its length and shares of the rate over time', (id, values, config) => {
    const { plan, job } = clientOf(id, values);
    expect([plan.plannedSec, plan.issues]).toEqual([10, []]);
    expect(job).toMatchObject({ duration: { mode: 'time', seconds: 10, curve }, config });
  });

  it('give connections that send as fast as answers come their number', () => {
    const { job } = clientOf(1, { rpsUnlimited: true, httpParams: { connections: 200 } });
    expect(job).toMatchObject({ duration: { curve }, config: { connections: 200, load: {} } });
  });
});
