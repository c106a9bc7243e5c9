import { planeActions as contractActions, runTables } from '@rushhour/contract';
import { type AccessPlaneConfig, Duration, planeActions, resultTables } from '@rushhour/protocol';
import { Check } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import type { PlannedJob } from '../core/agent-plan.ts';
import { planRun } from '../core/plan-run.ts';
import { agentOf, ends, entryOf, inputOf, issueCodes } from '../testing/plan-fixture.ts';

const networkCard = (id: number, name: string) => ({
  ...{
    id,
    name,
    mac: '02:00:00:00:00:01',
    mtu: 1500,
    speedMbps: null,
    link: 'up',
    ips: ['fd00::2/64', ...(id === 12 ? ['10.8.0.1/24'] : [])],
  },
  ...{ driver: 'veth', role: 'test', usable: true, reason: '' },
});
const engine = (name: string) => ({ engine: name, available: true, way: '', version: '1', missing: [], reason: '' });
const agent = (id: number) => ({
  ...agentOf(id),
  interfaces: [networkCard(11, 'eth1'), networkCard(12, 'eth2')],
  engines: [...agentOf(id).engines, engine('plane.access'), engine('plane.control')],
});
const wrongLine = { vlan: { outerEnd: 50 }, ancp: { enabled: true, keepaliveSec: 26 } };
const profiles = new Map<number, { name: string; protocol: string; config: object }>([
  [5, { name: 'DHCP', protocol: 'dhcp', config: {} }],
  [6, { name: 'BGP', protocol: 'bgp', config: { session: { localAddress: '10.0.0.2', peerAddress: '10.0.0.1' } } }],
  [10, { name: 'BFD', protocol: 'bfd', config: { session: { localAddress: '10.0.0.2' } } }],
  [7, { name: 'PPPoE', protocol: 'pppoe', config: {} }],
  [8, { name: 'IGMP', protocol: 'igmp', config: {} }],
  [9, { name: 'line', protocol: 'accessLine', config: wrongLine }],
  [10, { name: 'link', protocol: 'links', config: { vlan: { outer: 7 } } }],
  [11, { name: 'IPoE', protocol: 'ipoe', config: { ipv6: { enabled: true } } }],
  [17, { name: 'DHCPv6', protocol: 'dhcpv6', config: {} }],
  [18, { name: 'DHCPv6', protocol: 'dhcpv6', config: { client: { address: false, prefix: false } } }],
  [19, { name: 'IPoE', protocol: 'ipoe', config: { ipv4: { enabled: false } } }],
  [22, { name: 'LAG', protocol: 'lag', config: {} }],
  [23, { name: 'LAG', protocol: 'lag', config: { group: { minActiveLinks: 3, maxActiveLinks: 2 } } }],
  [24, { name: 'port', protocol: 'dot1x', config: { supplicant: { method: 'md5' } } }],
  [25, { name: 'port', protocol: 'dot1x', config: { supplicant: { outerIdentity: 'x' }, authenticator: { vlan: 5 } } }],
  [
    26,
    { name: 'port', protocol: 'dot1x', config: { authenticator: { decision: 'radius' }, radius: { secret: 'one' } } },
  ],
  [27, { name: 'PPP', protocol: 'ppp', config: { server: { decision: 'radius' } } }],
  [28, { name: 'gateway', protocol: 'access', config: { gateway: { unnumberedFrom: '100.64.0.1' } } }],
  [
    29,
    {
      ...{ name: 'gateway', protocol: 'access' },
      config: {
        gateway: { protocols: ['pppoe'], unnumberedFrom: '10.9.0.1', maxSessions: 500 },
        pools: { ipv4: '100.70.0.0/24' },
        authentication: { kind: 'radius', radiusAddress: '10.0.0.9', radiusSecret: 'shared', accounting: true },
      },
    },
  ],
  [
    41,
    {
      ...{ name: 'gateway', protocol: 'access' },
      config: {
        gateway: { protocols: ['ipoe', 'l2tp'], unnumberedFrom: '10.8.0.1' },
        pools: { announce: 'each' },
        authentication: { kind: 'password' },
      },
    },
  ],
  [44, { name: 'DHCP', protocol: 'dhcp', config: { server: { decision: 'radius' }, radius: { secret: 'one' } } }],
  [43, { name: 'L2TP', protocol: 'l2tp', config: {} }],
  [45, { name: 'L2TP', protocol: 'l2tp', config: { tunnel: { localAddress: '10.9.0.2' } } }],
  [46, { name: 'L2TP', protocol: 'l2tp', config: { tunnel: { localAddress: '10.8.0.1', peerAddress: 'fd00::1' } } }],
  [
    47,
    {
      ...{ name: 'gateway', protocol: 'access' },
      config: { gateway: { protocols: ['pppoe', 'l2tp'], unnumberedFrom: '10.9.0.1', maxSessions: 200 } },
    },
  ],
  [48, { name: 'gPTP', protocol: 'gptp', config: {} }],
  [49, { name: 'DHCPv6', protocol: 'dhcpv6', config: { relay: { enabled: true } } }],
  [50, { name: 'port', protocol: 'dot1x', config: { supplicant: { method: 'tls' } } }],
  [20, { name: 'STP', protocol: 'stp', config: {} }],
  [
    21,
    { name: 'IGMP', protocol: 'igmp', config: { host: { version: 2, sources: ['10.0.0.1'], groupStart: '10.0.0.1' } } },
  ],
  [15, { name: 'relay', protocol: 'dhcp', config: { relay: { circuitId: 'port {n}' } } }],
  [16, { name: 'line', protocol: 'accessLine', config: { line: { circuitId: 'olt {n}' } } }],
  [12, { name: 'Transport profile', protocol: 'mpls-tp', config: { protection: { kind: '1+1' } } }],
  [14, { name: 'BFD', protocol: 'bfd', config: { session: { localAddress: '10.0.0.2' } } }],
  [13, { name: 'OSPFv3', protocol: 'ospf', config: { instance: { version: 3 }, interface: { bfd: true } } }],
]);
const ripProfile = (version: string, routes: object, more: object = {}, send = 'multicast') => ({
  ...{ name: 'RIP', protocol: 'rip', config: { instance: { version, send }, routes, ...more } },
});
const md5 = { authentication: { kind: 'md5' } };
profiles.set(30, ripProfile('ng', { ipv4Count: 1 }, md5, 'broadcast'));
profiles.set(31, ripProfile('1', { tag: 7 }, md5));
profiles.set(32, ripProfile('2', { ipv6Count: 1 }));
const ospfProfile = (config: object) => ({ name: 'OSPF', protocol: 'ospf', config });
profiles.set(33, ospfProfile({ instance: { version: 3 }, ...md5 }));
profiles.set(
  34,
  ospfProfile({ interface: { bfd: true }, instance: { instanceId: 1 }, topology: { prefixesPerNode: 6000 } }),
);
const session = { localAddress: '10.0.0.2', peerAddress: '10.0.0.1' };
profiles.set(37, { name: 'signed', protocol: 'bgp', config: { session, ...md5 } });
profiles.set(38, { name: 'signed', protocol: 'ldp', config: { authentication: { kind: 'md5', key: 'secret' } } });
const evpnProfile = (config: object) => ({ name: 'EVPN', protocol: 'evpn', config });
profiles.set(
  39,
  evpnProfile({ instance: { routeTypes: ['1'], encapsulation: 'mpls', idStart: 1, service: 'vlan-aware' } }),
);
profiles.set(40, evpnProfile({ hosts: { perInstance: 300, ipv4Start: '10.1.0.0/24', moveSec: 5 } }));
const pimProfile = (config: object) => ({ name: 'PIM', protocol: 'pim', config });
profiles.set(
  55,
  pimProfile({ interface: { mode: 'dense' }, joins: { groupStart: '10.0.0.1', sources: ['2001:db8::1'] } }),
);
profiles.set(
  56,
  pimProfile({ interface: { mode: 'source-specific' }, joins: { groupCount: 1 }, registers: { perSec: 1 } }),
);
profiles.set(57, pimProfile({ rendezvous: { kind: 'none' }, joins: { groupCount: 1 }, registers: { perSec: 1 } }));
const querierProfile = (querier: object) => ({ name: 'IGMP', protocol: 'igmp-querier', config: { querier } });
profiles.set(35, querierProfile({ version: 1, lastMemberMs: 500 }));
profiles.set(36, querierProfile({ version: 2, responseMs: 26_000, queryIntervalSec: 20 }));
const planned = (definition: object, configuration: Parameters<typeof inputOf>[0] = []) =>
  planRun(inputOf(configuration, { agents: [agent(1), agent(2)], profiles, definition } as never));

describe('planes', () => {
  const definition = {
    accessPlane: [{ agent: { id: 1 }, groupId: 3, interfaces: [11], dhcp: [5] }],
    controlPlane: [{ agent: { id: 2 }, interfaces: [[11], [12]], bgp: [6], isServer: true }],
  };

  it('become jobs of their agents with interfaces and whole profiles', () => {
    const { agents, issues } = planned(definition);
    expect(issues).toEqual([]);
    const [access, control] = agents.flatMap(({ jobs }) => jobs);
    expect(access).toMatchObject({
      ...{ engine: 'plane.access', role: 'client', planeEntry: 0, path: '/accessPlane/0' },
      job: { duration: { mode: 'continuous' }, config: { groupId: 3, interfaces: ['eth1'], profiles: { dhcp: [{}] } } },
    });
    const { profiles: whole } = (access as PlannedJob).job.config as AccessPlaneConfig;
    expect(Object.keys(whole['dhcp']?.[0] as object)).not.toEqual([]);
    expect(control).toMatchObject({
      engine: 'plane.control',
      role: 'server',
      job: { config: { interfaces: [['eth1'], ['eth2']] } },
    });
  });

  it('last as long as their entry says, or as long as the traffic', () => {
    const secondsOf = (configuration: Parameters<typeof inputOf>[0]) => {
      const plan = planned({ accessPlane: definition.accessPlane }, configuration);
      const job = plan.agents.flatMap(({ jobs }) => jobs).find(({ planeEntry }) => planeEntry === 0);
      expect(Check(Duration, job?.job.duration)).toBe(true);
      return [plan.plannedSec, job?.job.duration.mode, job?.job.duration.seconds, job?.role];
    };
    const udp = (duration: object) => entryOf(3, { ...ends, packetsPerSecond: 10, duration });
    expect(secondsOf([entryOf(101, { duration: { mode: 'time', seconds: 7 } })])).toEqual([7, 'time', 7, 'client']);
    expect(secondsOf([udp({ mode: 'time', seconds: 5 })])).toEqual([5, 'time', 5, 'client']);
    expect(secondsOf([udp({ mode: 'count', count: 5 })])).toEqual([null, 'continuous', 10, 'server']);
  });

  it('are refused with pointers where records are missing or of another kind', () => {
    const plan = planned({
      accessPlane: [
        { agent: { id: 9 }, dhcp: [5] },
        { agent: { id: 1 }, dhcp: [6, 99], interfaces: [99] },
      ],
      controlPlane: [{ agent: { id: 1 } }],
    });
    expect(issueCodes(plan).sort()).toEqual([
      '/accessPlane/0/agent/id AGENT_UNKNOWN',
      '/accessPlane/1/dhcp/0 DICTIONARY_TYPE',
      '/accessPlane/1/dhcp/1 DICTIONARY_UNKNOWN',
      '/accessPlane/1/interfaces/0 INTERFACE_UNKNOWN',
      '/controlPlane/0/interfaces/0 INTERFACE_NEEDED',
    ]);
  });
});

describe('entries of the access plane', () => {
  const codesOf = (entry: object) =>
    issueCodes(planned({ accessPlane: [{ agent: { id: 1 }, interfaces: [11], ...entry }] }));
  const profilesOf = (entry: object) => {
    const { agents } = planned({ accessPlane: [{ agent: { id: 1 }, interfaces: [11], ...entry }] });
    const [job] = agents.flatMap(({ jobs }) => jobs) as [PlannedJob];
    return (job.job.config as AccessPlaneConfig).profiles;
  };

  it('get profiles that they need and do not name', () => {
    expect(Object.keys(profilesOf({ dhcp: [5] })).sort()).toEqual(['dhcp', 'ipoe', 'sessions']);
    expect(Object.keys(profilesOf({ dhcp: [5], igmp: [8] })).sort()).toEqual(['dhcp', 'igmp', 'ipoe', 'sessions']);
    expect(Object.keys(profilesOf({ lag: [22] }))).toEqual(['lag']);
    expect(Object.keys(profilesOf({ stp: [20] }))).toEqual(['stp']);
    expect(Object.keys(profilesOf({ dot1x: [24] })).sort()).toEqual(['dot1x', 'sessions']);
    expect(Object.keys(profilesOf({ ipoe: [11] })).sort()).toEqual(['dhcp', 'dhcpv6', 'ipoe', 'sessions']);
    expect(profilesOf({ pppoe: [7] })).toMatchObject({
      sessions: [{ load: { count: 100 } }],
      pppoe: [{ discovery: { timeoutSec: 5 } }],
      ppp: [{ lcp: { mru: 1492 } }],
    });
    expect(Object.keys(profilesOf({ pppoe: [7], dhcpv6: [17] })).sort()).toEqual([
      'dhcpv6',
      'ppp',
      'pppoe',
      'sessions',
    ]);
    expect(Object.keys(profilesOf({ l2tp: [45] })).sort()).toEqual(['l2tp', 'ppp', 'sessions']);
    expect(Object.keys(profilesOf({ l2tp: [45], isServer: true })).sort()).toEqual(['l2tp', 'ppp']);
    expect(Object.keys(profilesOf({ dhcp: [5], pppoe: [7], isServer: true })).sort()).toEqual([
      'dhcp',
      'ipoe',
      'ppp',
      'pppoe',
    ]);
  });

  it.each([
    ['nothing about sessions', {}, ['/accessPlane/0 NOT_SUPPORTED']],
    ['both kinds of sessions', { dhcp: [5], pppoe: [7] }, ['/accessPlane/0/dhcp/0 NOT_SUPPORTED']],
    ['a bridge with sessions', { dhcp: [5], stp: [20] }, ['/accessPlane/0/dhcp/0 NOT_SUPPORTED']],
    ['a clock with sessions', { dhcp: [5], gptp: [48] }, ['/accessPlane/0/dhcp/0 NOT_SUPPORTED']],
    ['tunnels with the address of the interface', { l2tp: [43] }, ['/accessPlane/0/l2tp/0 NOT_SUPPORTED']],
    [
      'tunnels with an address of the machine and over IPv6',
      { l2tp: [46], isServer: true },
      ['/accessPlane/0/l2tp/0 NOT_SUPPORTED', '/accessPlane/0/l2tp/0 NOT_SUPPORTED'],
    ],
    [
      'tunnels and other sessions, ports and lines, on several interfaces',
      { l2tp: [45], pppoe: [7], dhcp: [5], dot1x: [24], accessLine: [16], interfaces: [11, 12] },
      ['dhcp/0', 'pppoe/0', 'dot1x/0', 'accessLine/0', 'interfaces/1'].map(
        (name) => `/accessPlane/0/${name} NOT_SUPPORTED`,
      ),
    ],
    ['groups of a server', { dhcp: [5], igmp: [8], isServer: true }, ['/accessPlane/0/igmp/0 NOT_SUPPORTED']],
    [
      'sources of IGMPv2 and groups that are none',
      { dhcp: [5], igmp: [21] },
      ['/accessPlane/0/igmp/0 NOT_SUPPORTED', '/accessPlane/0/igmp/0 NOT_SUPPORTED'],
    ],
    [
      'more links than there are',
      { dhcp: [5], lag: [23], interfaces: [11, 12] },
      ['/accessPlane/0/lag/0 NOT_SUPPORTED', '/accessPlane/0/lag/0 NOT_SUPPORTED'],
    ],
    [
      'methods and members of 802.1X that an authenticator cannot do',
      { dot1x: [25], isServer: true },
      Array.from({ length: 2 }, () => '/accessPlane/0/dot1x/0 NOT_SUPPORTED'),
    ],
    [
      'a RADIUS server without a secret, and two of them',
      { pppoe: [7], ppp: [27], dot1x: [26], isServer: true },
      ['/accessPlane/0/ppp/0 NOT_SUPPORTED', '/accessPlane/0/dot1x/0 NOT_SUPPORTED'],
    ],
    [
      'RADIUS that would not be asked about IPv6',
      { ipoe: [11], dhcp: [44], isServer: true },
      ['/accessPlane/0/ipoe/0 NOT_SUPPORTED'],
    ],
    ['a supplicant by certificate without one', { dot1x: [50] }, ['/accessPlane/0/dot1x/0 NOT_SUPPORTED']],
    ['groups of ports without addresses', { dot1x: [24], igmp: [8] }, ['/accessPlane/0 NOT_SUPPORTED']],
    ['two profiles', { dhcp: [5, 5] }, ['/accessPlane/0/dhcp/1 NOT_SUPPORTED']],
    [
      'too few VLANs, tags twice, and ANCP',
      { dhcp: [5], accessLine: [9], links: [10] },
      [
        '/accessPlane/0/accessLine/0 NOT_SUPPORTED',
        '/accessPlane/0/accessLine/0 NOT_SUPPORTED',
        '/accessPlane/0/links/0 NOT_SUPPORTED',
      ],
    ],
    ['two circuit ids', { dhcp: [15], accessLine: [16] }, ['/accessPlane/0/dhcp/0 NOT_SUPPORTED']],
    ['DHCPv6 without IPv6', { dhcp: [5], dhcpv6: [17] }, ['/accessPlane/0/dhcpv6/0 NOT_SUPPORTED']],
    ['DHCPv6 through an access node in PPP', { pppoe: [7], dhcpv6: [49] }, ['/accessPlane/0/dhcpv6/0 NOT_SUPPORTED']],
    ['DHCPv6 that asks for nothing', { ipoe: [11], dhcpv6: [18] }, ['/accessPlane/0/dhcpv6/0 NOT_SUPPORTED']],
    ['neither version of IP', { ipoe: [19] }, ['/accessPlane/0/ipoe/0 NOT_SUPPORTED']],
    ['a link of a server', { dhcp: [5], links: [10], isServer: true }, ['/accessPlane/0/links/0 NOT_SUPPORTED']],
  ])('are refused with %s', (_name, entry, codes) => {
    expect(codesOf(entry)).toEqual(codes);
  });
});

it('protocols and values that emulated routers cannot do are refused with their pointers', () => {
  const plan = planned({
    controlPlane: [{ agent: { id: 1 }, interfaces: [[11]], bgp: [6], bfd: [14], ospf: [13], 'mpls-tp': [12] }],
  });
  expect(plan.issues.map(({ path, message }) => `${path} ${message}`)).toEqual([
    '/controlPlane/0/mpls-tp/0 profile 12: /protection/kind cannot be done yet: leave it out',
    '/controlPlane/0/bfd/0 emulated routers need /session/peerAddress of the profile',
  ]);
});

it('members of routers that contradict others are refused with their pointers', () => {
  const plan = planned({
    controlPlane: [
      { agent: { id: 1 }, interfaces: [[11]], rip: [30, 31, 32], ospf: [33, 34], 'igmp-querier': [35, 36] },
      { agent: { id: 1 }, interfaces: [[11]], bgp: [37], ldp: [38] },
      { agent: { id: 1 }, interfaces: [[11], [11]], evpn: [39, 40] },
      { agent: { id: 1 }, interfaces: [[11]], pim: [55, 56, 57] },
    ],
  });
  expect(plan.issues.map(({ path, message }) => `${path} ${message}`)).toEqual([
    '/controlPlane/0/igmp-querier/0 /querier/lastMemberMs: version 1 has no field for it',
    '/controlPlane/0/igmp-querier/1 /querier/responseMs: version 2 has 25500 at most',
    '/controlPlane/0/igmp-querier/1 /querier/responseMs: must be less than the time between queries',
    '/controlPlane/0/ospf/0 /authentication/kind: version 3 takes hmac-sha-256 only',
    '/controlPlane/0/ospf/1 /instance/instanceId: version 2 has no instances',
    '/controlPlane/0/ospf/1 /topology/prefixesPerNode: routers of version 2 announce 5000 at most',
    '/controlPlane/0/ospf/1 /interface/bfd: needs a profile of BFD in the entry',
    '/controlPlane/0/rip/0 /authentication/kind: RIPng has no authentication of its own',
    '/controlPlane/0/rip/0 /instance/send: IPv6 has no broadcast',
    '/controlPlane/0/rip/0 /routes/ipv4Count: RIPng announces IPv6 prefixes',
    '/controlPlane/0/rip/1 /authentication/kind: version 1 has no authentication',
    '/controlPlane/0/rip/1 /routes/tag: version 1 has no tags',
    '/controlPlane/0/rip/2 /routes/ipv6Count: needs version ng',
    '/controlPlane/1/bgp/0 /authentication/key: MD5 needs a key',
    '/controlPlane/2/evpn/0 needs a profile of BGP with the family l2vpn-evpn in the entry',
    '/controlPlane/2/evpn/0 /instance/idStart: labels below 16 are reserved',
    '/controlPlane/2/evpn/0 /instance/vlanStart: vlan-aware instances need a VLAN',
    '/controlPlane/2/evpn/0 /segment/identifier: routes of type 1 and 4 need it',
    '/controlPlane/2/evpn/1 needs a profile of BGP with the family l2vpn-evpn in the entry',
    '/controlPlane/2/evpn/1 /hosts/ipv4Start: the network is too small for 300 hosts',
    '/controlPlane/2/evpn/1 /hosts/moveSec: needs a second router with the profile',
    '/controlPlane/3/pim/0 profile 55: /interface/mode cannot be done yet: leave it out',
    '/controlPlane/3/pim/0 /joins: addresses are not all of the same version',
    '/controlPlane/3/pim/0 /joins/groupStart: is no multicast group',
    '/controlPlane/3/pim/1 /joins/sources: the mode source-specific needs sources',
    '/controlPlane/3/pim/1 /registers/perSec: the mode source-specific has no rendezvous point',
    '/controlPlane/3/pim/2 /joins/sources: there is no rendezvous point: name sources',
    '/controlPlane/3/pim/2 /registers/perSec: there is no rendezvous point',
  ]);
});

describe('a gateway of the control plane', () => {
  const plan = (entry: object) => planned({ controlPlane: [{ agent: { id: 1 }, interfaces: [[11]], ...entry }] });

  it('is the one of the access plane, with the pools and the RADIUS server of its profile', () => {
    const { agents, issues } = plan({ access: [29] });
    expect(issues).toEqual([]);
    const [job] = agents.flatMap(({ jobs }) => jobs) as [PlannedJob];
    expect(job).toMatchObject({ engine: 'plane.access', pluginId: 102, path: '/controlPlane/0', role: 'server' });
    expect((job.job.config as AccessPlaneConfig).profiles).toMatchObject({
      pppoe: [{ server: { maxSessions: 500 } }],
      ppp: [
        {
          server: { decision: 'radius', localAddress: '10.9.0.1', poolStart: '100.70.0.1', poolSize: 254 },
          radius: { address: '10.0.0.9', accountingPort: 1813, accounting: true },
        },
      ],
    });
  });

  it('divides its addresses among sessions with and without PPP', () => {
    const [job] = plan({ access: [28] }).agents.flatMap(({ jobs }) => jobs) as [PlannedJob];
    expect((job.job.config as AccessPlaneConfig).profiles).toMatchObject({
      ppp: [{ server: { decision: 'accept', poolStart: '100.64.0.2', poolSize: 16_000 } }],
      dhcp: [{ server: { poolStart: '100.64.128.0', netmask: '255.255.0.0', router: '100.64.0.1' } }],
      dhcpv6: [{ server: { poolStart: '2001:db8:2000::2', validSec: 3600 } }],
    });
  });

  it('divides its addresses among PPPoE and tunnels, which end at its address', () => {
    const [job] = plan({ access: [47] }).agents.flatMap(({ jobs }) => jobs) as [PlannedJob];
    expect((job.job.config as AccessPlaneConfig).profiles).toMatchObject({
      ppp: [{ server: { poolStart: '100.64.0.1', poolSize: 100, localAddress: '10.9.0.1' } }],
      l2tp: [{ tunnel: { localAddress: '10.9.0.1' }, server: { maxSessions: 100 } }],
      l2tpPpp: [{ server: { poolStart: '100.64.128.0', poolSize: 100, localAddress: '10.9.0.1' } }],
    });
  });

  it('is refused with what it cannot do', () => {
    const messages = plan({ access: [41] }).issues.map(({ path, message }) => `${path} ${message}`);
    expect(messages).toEqual([
      '/controlPlane/0/access/0 profile 41: /pools/announce cannot be done yet: leave it out',
      '/controlPlane/0/access/0 /authentication/kind: sessions of ipoe are not authenticated: leave it out',
      '/controlPlane/0/access/0 /authentication/password: is needed',
      '/controlPlane/0/access/0 /gateway/unnumberedFrom: tunnels of l2tp need an address that is not one of the machine',
    ]);
    expect(plan({ access: [28], bgp: [6] }).issues.map(({ path }) => path)).toEqual(['/controlPlane/0/bgp/0']);
  });
});

it('agents and clients have the same names of tables and actions', () => {
  // Keys are read with the capture they decrypt.
  expect([...runTables, 'keys']).toEqual(resultTables);
  expect(contractActions).toEqual(planeActions);
});
