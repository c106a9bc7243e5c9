import type { ConfigurationEntry } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { ends, inputOf } from '../../testing/plan-fixture.ts';
import { planRun } from '../plan-run.ts';

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

describe('searches in an order', () => {
  const goal = { metric: 'requestsPerSecond', start: 100, max: 800, resolutionPct: 50, trialSec: 2, settleSec: 0 };
  const entry = (order: number, more: object = {}) =>
    ({ plugin: { id: 1 }, values: { ...ends, duration: { goal: { ...goal, order } }, ...more } }) as ConfigurationEntry;
  const clientsOf = (configuration: ConfigurationEntry[]) =>
    planRun(inputOf(configuration)).agents.flatMap(({ jobs }) =>
      jobs.filter(({ role }) => role === 'client').map(({ job }) => job),
    );

  it('send next to nothing before they begin, and last until all before them have ended', () => {
    const secondsOf = ({ duration }: { duration: object }) => (duration as { seconds: number }).seconds;
    const [seconds = 0] = clientsOf([entry(0)]).map(secondsOf);
    const jobs = clientsOf([
      entry(5),
      entry(2, { targets: [{ ...ends.targets[0], ports: '19001' }] }),
      entry(2, { targets: [{ ...ends.targets[0], ports: '19002' }] }),
    ]);
    expect(jobs.map(secondsOf)).toEqual([2 * seconds, seconds, seconds]);
    const rateOf = ({ config }: { config: unknown }) => (config as { load: { rate: number } }).load.rate;
    expect(jobs.map((job) => Math.round(rateOf(job) * 100) / 100)).toEqual([0.01, 100, 100]);
  });
});

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
