import { type ProtocolName, protocolProfiles } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { createSchemaCheck } from '../../schema-check.ts';
import { controlRefusals } from './control-refusals.ts';

/** What is refused of a profile with all defaults applied, in an entry with BGP for EVPN and LDP. */
const refused = (protocol: ProtocolName, given: object, routers = 1): string[] => {
  const config = structuredClone(given);
  expect(createSchemaCheck(protocolProfiles[protocol])(config)).toEqual([]);
  const bgp = [{ capabilities: { families: ['l2vpn-evpn'] } }];
  const found = controlRefusals(protocol, config, { profiles: { bgp, ldp: [{}], [protocol]: [config] }, routers });
  return found.map(([pointer, message]) => `${pointer}: ${message}`);
};

it.each([
  ['igmp', {}],
  ['mld', {}],
  ['mld-querier', {}],
  ['vpws', {}],
  ['mpls-oam', {}],
  ['mpls-tp', {}],
  ['ospf', {}],
  ['ospf', { interface: { network: 'non-broadcast', neighbours: ['10.0.0.2'] } }],
  ['ospf', { interface: { network: 'point-to-multipoint' } }],
  ['ospf', { instance: { version: 3 }, interface: { network: 'point-to-multipoint', neighbours: ['fe80::2'] } }],
] as const)('%s with %j is accepted', (protocol, given) => {
  expect(refused(protocol, given)).toEqual([]);
});

it.each([
  ...(
    [
      [{ network: 'non-broadcast' }, 'non-broadcast networks need them'],
      [{ neighbours: ['10.0.0.2'] }, 'point-to-point networks find them by multicast'],
      [{ network: 'non-broadcast', neighbours: ['2001:db8::1'] }, 'must be IPv4 addresses'],
    ] as const
  ).map(([given, message]) => ['ospf', { interface: given }, [`/interface/neighbours: ${message}`]] as const),
  ['isis', { instance: { multiTopology: true } }, []],
  [
    'isis',
    { instance: { multiTopology: true, protocols: ['ipv4'] } },
    ['/instance/multiTopology: needs ipv6 in protocols'],
  ],
  ['ospf', { authentication: { kind: 'md5', keyId: 300 } }, ['/authentication/keyId: must be at most 255']],
  ['ospf', { instance: { version: 3 }, authentication: { kind: 'hmac-sha-256', keyId: 300 } }, []],
  ['mld', { host: { groupStart: 'ff02::1:3' } }, []],
  ['mld', { host: { groupStart: 'ff01::5' } }, ['/host/groupStart: is no multicast group that hosts report']],
  ['mld', { host: { groupStart: '2001:db8::1' } }, ['/host/groupStart: is no multicast group that hosts report']],
  ['mld', { host: { version: 1, sources: ['2001:db8::1'] } }, ['/host/sources: the version has no sources']],
  ['mld', { host: { filter: 'include' } }, ['/host/filter: include needs sources to join']],
  ['mld', { zapping: { intervalSec: 5 } }, ['/zapping/intervalSec: there is no other group to change to']],
  ['igmp', { host: { groupStart: '224.0.0.5' } }, ['/host/groupStart: is no multicast group that hosts report']],
  [
    'igmp',
    { host: { groupStart: '239.255.255.255', groupCount: 2 } },
    ['/host/groupCount: the last group has no address'],
  ],
  [
    'mld-querier',
    { querier: { version: 1, responseMs: 70_000, lastMemberMs: 70_000 } },
    ['/querier/responseMs: version 1 has 65535 at most', '/querier/lastMemberMs: version 1 has 65535 at most'],
  ],
  [
    'mld-querier',
    { querier: { queryIntervalSec: 5 } },
    ['/querier/responseMs: must be less than the time between queries'],
  ],
  ['vpws', { instance: { labelStart: 1_048_575, count: 2 } }, ['/instance/count: the last wire has no label']],
  ['vpws', { instance: { remoteId: 16_777_215 } }, ['/instance/count: the last wire has no id']],
  ['mpls-tp', { path: { tunnelIdStart: 65_535, count: 2 } }, ['/path/count: the last path has no number']],
  ['mpls-tp', { path: { labelOutStart: 1_048_575, count: 2 } }, ['/path/count: the last path has no label']],
  ['mpls-oam', { ping: { destination: '10.0.0.1' } }, ['/ping/destination: must be inside of 127/8']],
  ['mpls-oam', { ping: { sizeBytes: 2000 } }, ['/ping/sizeBytes: 1400 bytes fit into a packet']],
  ['bfd', { session: { kind: 'micro', echoMs: 50 } }, ['/session/echoMs: echoes belong to neighbours on the link']],
] as const)('%s that contradicts itself is refused with its pointers', (protocol, given, refusals) => {
  expect(refused(protocol, given, protocol === 'vpws' ? 2 : 1)).toEqual(refusals);
});

it('VPWS needs BGP, and MPLS OAM needs LDP', () => {
  for (const protocol of ['vpws', 'mpls-oam'] as const) {
    const config = {};
    createSchemaCheck(protocolProfiles[protocol])(config);
    expect(controlRefusals(protocol, config, { profiles: { [protocol]: [config] }, routers: 1 })).toHaveLength(1);
  }
});
