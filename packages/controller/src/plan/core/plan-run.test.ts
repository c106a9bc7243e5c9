import { describe, expect, it } from 'vitest';
import {
  agentOf,
  configsOf,
  ends,
  entryOf,
  inputOf,
  interfaceOf,
  issueCodes,
  networkOf,
} from '../testing/plan-fixture.ts';
import { planRun } from './plan-run.ts';

type Values = Record<string, unknown>;

const http = (values: Values = {}) => entryOf(1, { ...ends, requestsPerSecond: 100, ...values });
const planOf = (entries: ReturnType<typeof http>[], options: Parameters<typeof inputOf>[1] = {}) =>
  planRun(inputOf(entries, options));
const [client] = [agentOf(1)];

describe('where a target agent is found', () => {
  const hostOf = (target: Values, server = agentOf(2), more: Values = {}) => {
    const networks = [networkOf(5, '10.5.0.0/30')];
    const plan = planOf([http({ targets: [{ agent: { id: 2 }, ...target }], ...more })], {
      agents: [client, server],
      networks,
    });
    const sent = (configsOf(plan, 1, 'client')[0]?.['targets'] as { host: string; port: number }[]) ?? [];
    const heard = (configsOf(plan, 2, 'server')[0]?.['listen'] as { host: string; port: number }[]) ?? [];
    const text = (endpoints: typeof sent) => endpoints.map(({ host, port }) => `${host}:${port}`).join();
    return `${text(sent)} at ${text(heard)}`;
  };
  const test = interfaceOf(7, '10.7.0.2/24', 'fd00:7::2/64');
  const other = interfaceOf(8, '10.8.0.2/24');

  it.each([
    ['at the address that is given', { ip: '10.0.0.2' }, agentOf(2), '10.0.0.2:18080 at 10.0.0.2:18080'],
    ['behind an address that is not its own', { ip: '10.99.0.1' }, agentOf(2), '10.99.0.1:18080 at 0.0.0.0:18080'],
    [
      'at the addresses of a network',
      { network: { id: 5 } },
      agentOf(2),
      '10.5.0.1:18080,10.5.0.2:18080 at 10.5.0.1:18080,10.5.0.2:18080',
    ],
    [
      'by loopback on the same machine',
      {},
      agentOf(2, { machineId: 'machine1' }),
      '127.0.0.1:18080 at 127.0.0.1:18080',
    ],
    [
      'at the interface that is given',
      { interfaceId: 8 },
      agentOf(2, { interfaces: [test, other] }),
      '10.8.0.2:18080 at 10.8.0.2:18080',
    ],
    ['at its first test interface', {}, agentOf(2, { interfaces: [test, other] }), '10.7.0.2:18080 at 10.7.0.2:18080'],
    ['at its first address', {}, agentOf(2), '10.0.0.2:18080 at 10.0.0.2:18080'],
    [
      'on the ports that are given',
      { ports: '80,8000-8001' },
      agentOf(2),
      '10.0.0.2:80,10.0.0.2:8000,10.0.0.2:8001 at 10.0.0.2:80,10.0.0.2:8000,10.0.0.2:8001',
    ],
  ])('%s', (_, target, server, expected) => {
    expect(hostOf(target, server)).toBe(expected);
  });

  it('in the version that is asked for', () => {
    const server = agentOf(2, { interfaces: [test] });
    expect(hostOf({}, server, { ipLayer: { version: 6 } })).toBe('fd00:7::2:18080 at fd00:7::2:18080');
    const near = agentOf(2, { machineId: 'machine1' });
    expect(hostOf({}, near, { ipLayer: { version: 6 } })).toBe('::1:18080 at ::1:18080');
  });

  it('with claims to the addresses that no interface of it has', () => {
    const targets = [{ agent: { id: 2 }, network: { id: 5 } }];
    const plan = planOf([http({ targets })], { networks: [networkOf(5, '10.5.0.0/29')] });
    const server = plan.agents.find(({ agentId }) => agentId === 2);
    expect(server?.jobs[0]?.job.claims).toEqual(['10.5.0.1-10.5.0.6']);
  });
});

describe('a plan', () => {
  it('divides the load over source agents by weight', () => {
    const sources = [
      { agent: { id: 1 }, weight: 3 },
      { agent: { id: 3 }, weight: 1 },
    ];
    const plan = planOf([http({ sources, totalSessions: 8, initialTps: 4, tpsRampStep: 2 })], {
      agents: [agentOf(1), agentOf(2), agentOf(3)],
    });
    expect(configsOf(plan, 1, 'client')).toMatchObject([
      { load: { rate: 75, initialRate: 3, rampStep: 1.5 }, totalSessions: 6 },
    ]);
    expect(configsOf(plan, 3, 'client')).toMatchObject([
      { load: { rate: 25, initialRate: 1, rampStep: 0.5 }, totalSessions: 2 },
    ]);
    expect(plan.agents.map(({ agentId, role }) => [agentId, role])).toEqual([
      [2, 'server'],
      [1, 'client'],
      [3, 'client'],
    ]);
  });

  it('entries out who would get nothing, and says so', () => {
    const sources = [{ agent: { id: 1 } }, { agent: { id: 2 } }];
    const plan = planOf([http({ sources, targets: [{ ip: '10.0.0.2' }], totalSessions: 1 })]);
    expect(issueCodes(plan)).toEqual(['warning sources/1 NOTHING_TO_DO']);
    expect(plan.notes).toEqual(['agent agent2 gets no share of the load']);
    expect(configsOf(plan, 1, 'client')).toMatchObject([{ load: { rate: 100 }, totalSessions: 1 }]);
  });

  it('is as long as its longest client, and judges servers when it judges clients', () => {
    const duration = { seconds: 60, rampUpSec: 5, warmUpSec: 10, rampDownSec: 2 };
    const plan = planOf([http({ duration }), entryOf(2, { ...ends, duration: { seconds: 20.5 } })]);
    expect(plan.plannedSec).toBe(60);
    const [first, second] = plan.agents.find(({ agentId }) => agentId === 2)?.jobs ?? [];
    expect(first?.job.duration).toMatchObject({ mode: 'time', seconds: 65, rampUpSec: 15, rampDownSec: 7 });
    expect(second?.job.duration).toMatchObject({ mode: 'time', seconds: 65, rampUpSec: 0, rampDownSec: 44.5 });
  });

  it.each([
    ['by hand', { mode: 'continuous' }],
    ['by count', { mode: 'count', count: 50 }],
  ])('that ends %s has no planned end, nor have its servers', (_, duration) => {
    const plan = planOf([http({ duration }), http({ targets: [{ ip: '10.0.0.2' }] })]);
    expect(plan.plannedSec).toBeNull();
    expect(plan.agents.find(({ agentId }) => agentId === 2)?.jobs[0]?.job.duration.mode).toBe('continuous');
  });

  it('of servers alone lasts as long as they say', () => {
    const plan = planOf([http({ isServer: true, duration: { seconds: 30 } })]);
    expect(plan.plannedSec).toBe(30);
    expect(plan.agents).toMatchObject([
      {
        agentId: 2,
        role: 'server',
        jobs: [{ target: '0.0.0.0:18080', job: { duration: { mode: 'time', seconds: 30 }, allowedTargets: [] } }],
      },
    ]);
  });

  it('lets one agent be both sides', () => {
    const plan = planOf([http({ targets: [{ agent: { id: 1 } }] })]);
    expect(plan.agents).toMatchObject([{ agentId: 1, role: 'both', jobs: [{ role: 'server' }, { role: 'client' }] }]);
  });

  it('allows agents beyond the settings, each by itself', () => {
    const plan = planOf([http()], { agents: [client, agentOf(2, { addresses: ['203.0.113.9'] })] });
    expect(plan.agents.find(({ agentId }) => agentId === 1)?.jobs[0]?.job.allowedTargets?.at(-1)).toBe(
      '203.0.113.9/32',
    );
  });

  it('estimates what it will do to the network', () => {
    const packets = entryOf(3, { ...ends, packetsPerSecond: 1000, frameSize: 1250, duration: { seconds: 10 } });
    const { estimate } = planOf([packets], { definition: { dumps: { enabled: true, savelen: 68 } } });
    expect(estimate).toEqual({
      agents: 2,
      clientIps: 1,
      connections: 1,
      pps: 1000,
      bps: 10_000_000,
      durationSec: 10,
      dumpBytes: 2 * 1000 * 10 * 100,
      attempts: 0,
    });
  });

  it('reports when a client sends without a rate', () => {
    const endless = http({ requestsPerSecond: undefined, rpsUnlimited: true });
    expect([planOf([http()]), planOf([http(), endless])].map(({ isLoadKnown }) => isLoadKnown)).toEqual([true, false]);
  });
});

describe('servers', () => {
  it('are made once for entries that want the same', () => {
    const plan = planOf([http(), http({ duration: { seconds: 30 } })]);
    expect(issueCodes(plan)).toEqual([]);
    expect(configsOf(plan, 2, 'server')).toHaveLength(1);
    expect(plan.agents[0]?.jobs[0]?.job.duration).toMatchObject({ seconds: 35, rampDownSec: 5 });
  });

  it('are not made where an entry that only answers listens already', () => {
    const server = http({ isServer: true, httpParams: { responseSize: 7 } });
    const plan = planOf([http({ httpParams: { responseSize: 1000 } }), server]);
    expect(issueCodes(plan)).toEqual([]);
    expect(configsOf(plan, 2, 'server')).toMatchObject([
      { responses: [{ body: { size: 7 } }], listen: [{ host: '0.0.0.0' }] },
    ]);
  });

  it('that answer otherwise need other ports', () => {
    const big = (ports: object) => http({ targets: [{ agent: { id: 2 }, ...ports }], httpParams: { responseSize: 9 } });
    expect(planOf([http(), big({})]).issues).toMatchObject([
      { code: 'ADDRESS_OVERLAP', path: '/configuration/1/values/targets/0', agentId: 2 },
    ]);
    expect(issueCodes(planOf([http(), big({ ports: '81' })]))).toEqual([]);
  });

  it('on one machine share its ports', () => {
    const agents = [client, agentOf(2, { machineId: 'm' }), agentOf(3, { machineId: 'm', addresses: ['10.0.0.2'] })];
    const targets = [{ agent: { id: 2 } }, { agent: { id: 3 } }];
    const { issues } = planOf([http({ targets })], { agents });
    expect(issues).toMatchObject([
      { code: 'ADDRESS_OVERLAP', message: expect.stringContaining('on the same machine') },
    ]);
    const apart = [
      { agent: { id: 2 }, ports: '80' },
      { agent: { id: 3 }, ports: '81' },
    ];
    expect(issueCodes(planOf([http({ targets: apart })], { agents }))).toEqual([]);
  });
});
