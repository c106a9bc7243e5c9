import type { ConfigurationEntry } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { ends, inputOf, issueCodes } from '../../testing/plan-fixture.ts';
import { planRun } from '../plan-run.ts';

interface Child {
  readonly order?: number;
  readonly startAfterSec?: number;
  readonly duration?: object;
  readonly port?: string;
}

const childOf = ({ order, startAfterSec, duration = {}, port = '80' }: Child) => ({
  plugin: { id: 1 },
  values: { ...ends, targets: [{ agent: { id: 2 }, ports: port }], requestsPerSecond: 10, duration },
  ...(order !== undefined && { order }),
  ...(startAfterSec !== undefined && { startAfterSec }),
});

const suiteOf = (children: readonly Child[], duration?: object) => {
  const subplugins = { subplugins: children.map(childOf), ...(duration && { duration }) };
  const plan = planRun(inputOf([{ plugin: { id: 21 }, subplugins } as unknown as ConfigurationEntry]));
  const jobs = plan.agents.flatMap((agent) => agent.jobs);
  const clients = jobs.filter(({ role }) => role === 'client').map(({ job }) => job);
  return {
    plan,
    servers: jobs.filter(({ role }) => role === 'server').map(({ job }) => job),
    times: clients.map(({ startAfterSec = 0, duration: { seconds } }) => [startAfterSec, seconds]),
  };
};

describe('a suite', () => {
  it('begins entries of one order together, each its time later', () => {
    const { times, plan } = suiteOf([{ duration: { seconds: 20 } }, { startAfterSec: 5, duration: { seconds: 30 } }]);
    expect(times).toEqual([
      [0, 20],
      [5, 30],
    ]);
    expect(plan.plannedSec).toBe(35);
    expect(plan.agents.map(({ agentId, jobs }) => [agentId, jobs.map(({ entry }) => entry)])).toEqual([
      [2, [0]],
      [1, [0, 0]],
    ]);
  });

  it('begins the next order when all before have had their time', () => {
    const { times, plan } = suiteOf([
      { order: 2, startAfterSec: 1, duration: { seconds: 4 } },
      { order: 1, duration: { seconds: 10 } },
      { order: 1, startAfterSec: 3, duration: { seconds: 9 } },
    ]);
    expect(times.toSorted(([a = 0], [b = 0]) => a - b)).toEqual([
      [0, 10],
      [3, 9],
      [13, 4],
    ]);
    expect(plan.plannedSec).toBe(17);
  });

  it('has its servers ready from the start until after its end', () => {
    const { servers } = suiteOf([
      { order: 1, duration: { seconds: 10, rampUpSec: 2 } },
      { order: 2, port: '81', duration: { seconds: 20, rampDownSec: 3 } },
    ]);
    expect(servers.map(({ startAfterSec, duration }) => [startAfterSec, duration])).toMatchObject([
      [undefined, { seconds: 35, rampUpSec: 2, rampDownSec: 25 }],
      [undefined, { seconds: 35, rampUpSec: 10, rampDownSec: 8 }],
    ]);
  });

  it('is over after its own time', () => {
    const { times, plan } = suiteOf(
      [
        { duration: { seconds: 20 } },
        { startAfterSec: 4, duration: { mode: 'continuous' } },
        { startAfterSec: 15 },
        { startAfterSec: 5, duration: { mode: 'count', count: 9 } },
      ],
      { seconds: 12 },
    );
    expect(times.slice(0, 2)).toEqual([
      [0, 12],
      [4, 8],
    ]);
    expect(issueCodes(plan).map((text) => text.replace(/.*subplugins\//, ''))).toEqual([
      '2 STAGE_TOO_LATE',
      '3 STAGE_NOT_LIMITED',
    ]);
  });

  it('cannot go on after what has no end', () => {
    const { plan } = suiteOf([{ order: 1, duration: { mode: 'continuous' } }, { order: 2 }]);
    expect(issueCodes(plan)).toEqual(['/configuration/0/subplugins/subplugins/0/values/duration/mode STAGE_UNBOUNDED']);
  });
});
