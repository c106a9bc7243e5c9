import { describe, expect, it } from 'vitest';
import { planRun } from '../../core/plan-run.ts';
import { configProblems } from '../../testing/engine-check.ts';
import {
  agentOf,
  configsOf,
  ends,
  entryOf,
  inputOf,
  interfaceOf,
  issueCodes,
  networkOf,
  sidesOf,
} from '../../testing/plan-fixture.ts';

const sha256 = 'ab'.repeat(32);
const files = new Map([[7, { name: 'a.pcap', sha256, size: 100, isReady: true }]]);
const planned = (params: object = {}, values: object = {}, options: object = {}) =>
  sidesOf(8, { pcapReplayParams: { fileId: 7, ...params }, ...values }, { files, ...options });

const networks = {
  networks: [networkOf(1, '10.50.0.0/24'), networkOf(2, '10.60.0.0/30')],
};
const emulated = {
  sources: [{ agent: { id: 1 }, network: { id: 1 } }],
  targets: [{ agent: { id: 2 }, network: { id: 2 } }],
};

describe('a capture', () => {
  it('is played by both agents, which know the same of it and bring it along', () => {
    const params = {
      ...{ loop: 3, loopDelayMs: 5, speed: { mode: 'pps', value: 100 }, clientIp: '192.0.2.1', maxGapMs: 50 },
      ...{ uniquePerLoop: { enabled: true, everyLoops: 2 }, filter: { include: 'tcp', packets: '1-9' } },
      ...{ rewrite: { ports: 'networks', vlan: 4, ttl: 9, mtu: 1400 } },
    };
    const { client, server, plan, issues } = planned(params, emulated, networks);
    expect(issues).toEqual([]);
    const { role: _, ...played } = client;
    expect(played).toMatchObject({
      ...{ capture: { $file: sha256, as: 'path' }, loops: 3, loopDelayMs: 5, renewEvery: 2, maxGapMs: 50 },
      ...{ speed: { mode: 'pps', value: 100 }, clientIp: '192.0.2.1', include: 'tcp', packets: '1-9' },
      sources: { networks: ['10.50.0.0/24'] },
      targets: [{ host: '10.60.0.1' }, { host: '10.60.0.2' }],
      rewrite: { hasNewAddresses: true, hasNewPorts: true, hasNewMacs: true, vlan: 4, ttl: 9, mtu: 1400 },
    });
    expect(server).toMatchObject({ parts: [{ ...played, startAfterMs: 0 }], listen: [{ host: '10.60.0.1' }, {}] });
    expect(plan.agents.map(({ files: brought }) => brought)).toEqual(Array(2).fill([{ sha256, size: 100 }]));
    // The engine answers for these addresses itself: the system of the agent would speak up.
    expect(plan.agents.flatMap(({ jobs }) => jobs.map(({ job }) => job.claims))).toEqual([undefined, undefined]);
    expect(plan.estimate.pps).toBe(100);
    for (const config of [client, server]) expect(configProblems({ engine: 'pcap-replay', config })).toEqual([]);
  });

  it('goes between the own addresses of agents where no networks are named, which is reported', () => {
    const { client, server, issues } = planned();
    expect([client['sources'], client['targets']]).toMatchObject([{ addresses: ['10.0.0.1'] }, [{ host: '10.0.0.2' }]]);
    expect(server['parts']).toMatchObject([{ sources: { addresses: ['10.0.0.1'] } }]);
    expect(issues).toEqual(['info sources/0 SYSTEM_ANSWERS', 'info targets/0 SYSTEM_ANSWERS']);
  });

  it('entries by the interface that is named', () => {
    const agents = [agentOf(1, { interfaces: [interfaceOf(3, '10.0.0.1')] }), agentOf(2)];
    const sources = [{ agent: { id: 1 }, interfaceId: 3 }];
    expect(planned({}, { sources }, { agents }).client).toMatchObject({ interface: 'eth3' });
  });

  it('is played once for each agent that sends, and its rate is shared', () => {
    const agents = [1, 2, 3].map((id) => agentOf(id));
    const sources = [1, 3].map((id) => ({ agent: { id }, network: { id: 1 } }));
    const values = { pcapReplayParams: { fileId: 7, speed: { mode: 'bps', value: 1e6 } }, ...emulated, sources };
    const plan = planRun(inputOf([entryOf(8, values)], { files, agents, ...networks }));
    expect(issueCodes(plan)).toEqual([]);
    const speeds = [1, 3].map((id) => configsOf(plan, id, 'client')[0]?.['speed']);
    expect(speeds).toEqual(Array(2).fill({ mode: 'bps', multiplier: 1, value: 500_000 }));
    expect(configsOf(plan, 2, 'server')[0]?.['parts']).toHaveLength(2);
  });

  it('lasts until it was played as often as said, unless a time is set', () => {
    const modes = (params: object, values: object = {}) =>
      planned(params, values).plan.agents.flatMap(({ jobs }) => jobs.map(({ job }) => job.duration.mode));
    expect(modes({ loop: 2 })).toEqual(['continuous', 'continuous']);
    expect(modes({ loop: 0 })).toEqual(['time', 'time']);
    expect(modes({ loop: 2 }, { duration: { mode: 'time', seconds: 5 } })).toEqual(['time', 'time']);
    const count = planned({ loop: 0 }, { duration: { mode: 'count', count: 500 } });
    expect(count.client['mostFrames']).toBe(500);
  });

  it('is refused when it cannot be played as it is said', () => {
    expect(planned({ speed: { mode: 'pps' } }, emulated, networks).issues).toEqual([
      'pcapReplayParams/speed/value REQUIRED',
    ]);
    expect(planned({ filter: { include: 'tcp or udp' } }, emulated, networks).issues).toEqual([
      'pcapReplayParams/filter/include FILTER_INVALID',
    ]);
    expect(planned({ fileId: 8 }, emulated, networks).issues).toEqual(['pcapReplayParams/fileId FILE_MISSING']);
    const two = { sources: [1, 3].map((id) => ({ agent: { id } })), targets: ends.targets };
    const agents = [1, 2, 3].map((id) => agentOf(id));
    expect(planned({ rewrite: { ips: 'keep' } }, two, { agents }).issues).toEqual(['sources ADDRESSES_KEPT']);
  });
});

describe('sessions of a capture by sockets', () => {
  const session = (sessionIndex: number, dstPort: number) => ({
    ...{ sessionIndex, dstPort, protocol: 'tcp', bytesC2S: 10, bytesS2C: 20 },
  });
  const captures = new Map([['/configuration/0', { sessions: [session(0, 8080), session(2, 9090)] }]]);
  const stateful = (params: object = {}, values: object = {}, options: object = {}) =>
    planned({ mode: 'stateful', ...params }, values, { captures, ...options });

  it('are played by the engine of applications, from every source once', () => {
    const { client, server, plan, issues } = stateful({ loop: 4, speed: { mode: 'max' }, clientIp: '192.0.2.1' });
    expect(issues).toEqual([]);
    expect(client).toMatchObject({
      applications: [
        { capture: { $file: sha256 }, clientIp: '192.0.2.1', sessions: [{ sessionIndex: 0 }, { sessionIndex: 2 }] },
      ],
      targets: [
        {
          host: '10.0.0.2',
          ports: [
            { recorded: 8080, ports: [8080] },
            { recorded: 9090, ports: [9090] },
          ],
        },
      ],
      shares: [{ firstUser: 0, users: 1, iterations: 4 }],
    });
    expect(server['listen']).toEqual([8080, 9090].map((port) => ({ host: '10.0.0.2', port, recorded: port })));
    expect(plan.agents.map(({ files: brought }) => brought)).toEqual(Array(2).fill([{ sha256, size: 100 }]));
    for (const config of [client, server]) expect(configProblems({ engine: 'application', config })).toEqual([]);
  });

  it('say what holds for packets only, and why a capture has none', () => {
    expect(stateful({ filter: { include: 'tcp' }, rewrite: { ttl: 3 } }).issues).toEqual([
      'warning pcapReplayParams/filter MEMBER_IGNORED',
      'warning pcapReplayParams/rewrite MEMBER_IGNORED',
    ]);
    const problem = { code: 'PCAP_NOT_REPLAYABLE', message: 'there is no session to play' };
    const none = stateful({}, {}, { captures: new Map([['/configuration/0', { problem }]]) });
    expect(none.issues).toContain('pcapReplayParams/fileId PCAP_NOT_REPLAYABLE');
  });
});
