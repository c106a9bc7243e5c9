import type { AccessPlaneConfig } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { planRun } from '../core/plan-run.ts';
import { agentOf, entryOf, inputOf, interfaceOf, issueCodes, networkOf } from '../testing/plan-fixture.ts';

const engine = { engine: 'plane.access', available: true, way: '', version: '1', missing: [], reason: '' };
const agent = (id: number) => ({
  ...agentOf(id, { interfaces: [interfaceOf(11, `10.0.0.${id}/24`)] }),
  engines: [...agentOf(id).engines, engine],
});
const profiles = new Map([
  [5, { name: 'DHCP', protocol: 'dhcp', config: {} }],
  [8, { name: 'IPoE', protocol: 'ipoe', config: { ipv6: { enabled: true } } }],
  [6, { name: 'three', protocol: 'sessions', config: { load: { count: 3, startPerSec: 10 } } }],
  [7, { name: 'slow', protocol: 'sessions', config: { load: { count: 1000, startPerSec: 1 } } }],
]);
const subscribers = { agent: { id: 1 }, groupId: 3, interfaces: [11], dhcp: [5], sessions: [6] };
const source = { agent: { id: 1 }, accessGroup: 3 };
const http = (values: object = {}) =>
  entryOf(1, { requestsPerSecond: 10, sources: [source], targets: [{ agent: { id: 2 } }], ...values });
const planned = (configuration: Parameters<typeof inputOf>[0], accessPlane: object[] = [subscribers]) =>
  planRun(
    inputOf(configuration, {
      agents: [agent(1), agent(2)],
      networks: [networkOf(1, '10.20.0.0/24')],
      profiles,
      definition: { accessPlane },
    } as never),
  );

describe('sources with an access group', () => {
  it('use the sessions of the entry, which come up before the start', () => {
    const { agents, issues } = planned([http()]);
    expect(issues).toEqual([]);
    const jobs = agents.find(({ agentId }) => agentId === 1)?.jobs ?? [];
    expect(jobs.map(({ job }) => job.engine)).toEqual(['plane.access', 'http']);
    expect(jobs[1]?.job).toMatchObject({
      stack: { interface: 'eth11', networks: [], sessions: { groupId: 3, index: 0, count: 1 } },
      config: { targets: [{ host: '10.0.0.2' }], sources: { addresses: [], networks: [], ranges: [] } },
    });
    expect(jobs[0]?.job.config as AccessPlaneConfig).toMatchObject({ groupId: 3, carriesTraffic: true });
    const [server] = agents.find(({ agentId }) => agentId === 2)?.jobs ?? [];
    expect(server?.job.stack).toBeUndefined();
  });

  it('have sessions of their own where several use a group', () => {
    const { agents, issues } = planned([http(), http({ sources: [source, source] })]);
    expect(issues).toEqual([]);
    const jobs = agents.find(({ agentId }) => agentId === 1)?.jobs ?? [];
    expect(jobs.flatMap(({ job }) => job.stack?.sessions?.index ?? [])).toEqual([0, 1, 2]);
    const crowded = planned([http({ sources: [source, source, source, source] })]);
    expect(issueCodes(crowded)).toEqual(['sources/3/accessGroup ACCESS_GROUP_EMPTY']);
  });

  it('are refused with pointers where there is no such group of subscribers on their agent', () => {
    expect(issueCodes(planned([http()], []))).toEqual(['sources/0/accessGroup ACCESS_GROUP_UNKNOWN']);
    const elsewhere = [{ ...subscribers, agent: { id: 2 } }];
    expect(issueCodes(planned([http()], elsewhere))).toEqual(['sources/0/accessGroup ACCESS_GROUP_UNKNOWN']);
    const { sessions: _, ...gateway } = { ...subscribers, isServer: true };
    expect(issueCodes(planned([http()], [gateway]))).toEqual(['sources/0/accessGroup ACCESS_GROUP_UNKNOWN']);
    expect(issueCodes(planned([http()], [subscribers, subscribers]))).toContain(
      'sources/0/accessGroup ACCESS_GROUP_AMBIGUOUS',
    );
  });

  it('are refused with what sessions cannot do', () => {
    const codes = (values: object, plane = subscribers) => issueCodes(planned([http(values)], [plane]));
    expect(codes({ sources: [{ ...source, network: { id: 1 }, interfaceId: 11 }] })).toEqual([
      'sources/0/network NOT_SUPPORTED',
      'sources/0/interfaceId NOT_SUPPORTED',
    ]);
    expect(codes({ ipLayer: { vlan: [{ id: 5 }] } })).toContain('ipLayer/vlan NOT_SUPPORTED');
    expect(codes({ targets: [{ ip: '127.0.0.1' }] })).toEqual(['targets/0 STACK_NEEDS_NETWORK']);
    expect(codes({}, { ...subscribers, sessions: [7] })).toEqual(['/accessPlane/0/sessions/0 RATE_IMPOSSIBLE']);
    const stream = entryOf(7, { packetsPerSecond: 10, sources: [source], targets: [{ agent: { id: 2 } }] });
    expect(issueCodes(planned([stream]))).toContain('sources/0/accessGroup NOT_SUPPORTED');
  });
});

describe('targets behind a gateway', () => {
  const gateway = { agent: { id: 2 }, groupId: 4, isServer: true, interfaces: [11], dhcp: [5] };
  const target = { agent: { id: 2 }, accessGroup: 4, ip: '10.50.0.1' };

  it('are hosts that its sessions reach', () => {
    const { agents, issues } = planned([http({ targets: [target] })], [subscribers, gateway]);
    expect(issues).toEqual([]);
    const jobs = agents.find(({ agentId }) => agentId === 2)?.jobs ?? [];
    expect(jobs.find(({ job }) => job.engine === 'http')?.job).toMatchObject({
      stack: { networks: [{ subnet: '10.50.0.1/32', hosts: ['10.50.0.1'] }], sessions: { groupId: 4 } },
      config: { role: 'server', listen: [{ host: '0.0.0.0' }] },
    });
    const [client] =
      agents.find(({ agentId }) => agentId === 1)?.jobs.filter(({ engine: name }) => name === 'http') ?? [];
    expect(client?.job.config).toMatchObject({ targets: [{ host: '10.50.0.1' }] });
  });

  it('are reached by IPv6 of the sessions where every target has such an address', () => {
    const six = http({ targets: [{ ...target, ip: 'fd00:50::1' }] });
    const { agents, issues } = planned([six], [{ ...subscribers, ipoe: [8] } as object, { ...gateway, ipoe: [8] }]);
    expect(issues).toEqual([]);
    const [client, server] = [1, 2].map((id) =>
      agents.find(({ agentId }) => agentId === id)?.jobs.find(({ job }) => job.engine === 'http'),
    );
    expect(client?.job.stack?.sessions).toMatchObject({ groupId: 3, isIpv6: true });
    expect(server?.job).toMatchObject({
      stack: { networks: [{ subnet: 'fd00:50::1/128' }], sessions: { groupId: 4 } },
      config: { listen: [{ host: '::' }] },
    });
    expect(issueCodes(planned([six], [subscribers, gateway]))).toEqual(['/accessPlane/0/ipoe/0 NOT_SUPPORTED']);
  });

  it('are refused without a gateway, an address, an agent or sessions that reach them', () => {
    const codes = (one: object, sources: object[] = [source], planes: object[] = [subscribers, gateway]) =>
      issueCodes(planned([http({ targets: [one], sources })], planes));
    expect(codes(target, [source], [subscribers])).toEqual(['targets/0/accessGroup ACCESS_GROUP_UNKNOWN']);
    expect(codes({ ...target, ip: undefined })).toEqual(['targets/0/ip ADDRESS_NEEDED']);
    expect(codes({ ...target, agent: undefined })).toEqual(['targets/0/agent NO_TARGET']);
    expect(codes(target, [{ agent: { id: 1 } }])).toEqual(['targets/0/accessGroup NOT_SUPPORTED']);
    expect(codes({ ...target, interfaceId: 11 })).toEqual(['targets/0/interfaceId NOT_SUPPORTED']);
  });
});
