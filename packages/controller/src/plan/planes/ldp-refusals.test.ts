import { type ProtocolName, protocolProfiles } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { createSchemaCheck } from '../../schema-check.ts';
import { controlRefusals } from './control-refusals.ts';

/** A profile with all defaults applied. */
const profileOf = (protocol: ProtocolName, config: object): object => {
  expect(createSchemaCheck(protocolProfiles[protocol])(config)).toEqual([]);
  return config;
};

it.each([
  ['pseudowire', { wire: { labelStart: 1_048_575, count: 2 } }, ['/wire/count: the last wire has no label']],
  ['pseudowire', { wire: { idStart: 4_294_967_295 } }, ['/wire/count: the last wire has no number']],
  [
    'pseudowire',
    { status: { statusTlv: false, backup: 'backup' } },
    ['/status/backup: roles are signalled by the status'],
  ],
  [
    'vpls',
    { instance: { count: 100_000, labelStart: 900_000 }, neighbours: { peers: ['10.0.0.1', '10.0.0.2'] } },
    ['/instance/count: the last wire has no label'],
  ],
  [
    'mldp',
    { tree: { kind: 'multipoint-to-multipoint', labelStart: 1_048_575, count: 2 }, service: { inBand: true } },
    ['/tree/count: the last tree has no label', '/service/inBand: belongs to trees of one sender'],
  ],
  ['mldp', { service: { inBand: true, groupStart: '10.0.0.1' } }, ['/service/groupStart: is no multicast group']],
  [
    'fec129',
    { attachment: { type: '1', groupId: 'office', globalId: 7, prefix: '10.0.0.1' } },
    [
      '/attachment/groupId: must have the form 65000:1 or 192.0.2.1:1',
      '/attachment/globalId: belongs to type 2',
      '/attachment/prefix: belongs to type 2',
    ],
  ],
] as const)('%s without labels, numbers or names for all wires are refused', (protocol, given, refusals) => {
  const config = profileOf(protocol, structuredClone(given));
  const profiles = { ldp: [{}], [protocol]: [config] };
  const found = controlRefusals(protocol, config, { profiles, routers: 2 });
  expect(found.map(([pointer, message]) => `${pointer}: ${message}`)).toEqual(refusals);
});

it('BFD needs a key that its authentication has room for', () => {
  const refused = (authentication: object) =>
    controlRefusals('bfd', profileOf('bfd', { authentication }), { profiles: {}, routers: 1 });
  expect(refused({ kind: 'md5', keyId: 256 })).toEqual([
    ['/authentication/key', 'md5 needs a key'],
    ['/authentication/keyId', 'BFD has 255 at most'],
  ]);
  expect(refused({ kind: 'md5', key: 'a key of more than 16' })).toHaveLength(1);
  expect(refused({ kind: 'meticulous-sha1', key: 'a key of 20 bytes :)' })).toEqual([]);
});

it('link OAM is that of one router', () => {
  const config = profileOf('link-oam', {});
  const profiles = { 'link-oam': [config] };
  expect(controlRefusals('link-oam', config, { profiles, routers: 1 })).toEqual([]);
  expect(controlRefusals('link-oam', config, { profiles, routers: 2 })).toHaveLength(1);
});

it('pseudowires need LDP', () => {
  const config = profileOf('vpls', {});
  expect(controlRefusals('vpls', config, { profiles: { vpls: [config] }, routers: 1 })).toEqual([
    ['', 'needs a profile of LDP in the entry'],
  ]);
});

const bgpOf = (families: readonly string[]) => profileOf('bgp', { capabilities: { families: [...families] } });

it.each([
  ['vpls', { instance: { signalling: 'bgp' } }, ['l2vpn-vpls'], []],
  [
    'vpls',
    {
      instance: { signalling: 'bgp', count: 65_535, labelStart: 1_000_000 },
      sites: { siteIdStart: 65_535 },
      neighbours: { peers: ['10.0.0.1'] },
    },
    ['ipv4-unicast'],
    [
      ': needs a profile of BGP with the family l2vpn-vpls in the entry',
      '/instance/count: BGP has distinguishers for 65534',
      '/sites/blockSize: the last block has no labels',
      '/sites/siteIdStart: the last site has no id',
      '/neighbours/peers: BGP finds the neighbours',
    ],
  ],
  ['vpls', { sites: { blockSize: 16 } }, [], ['/sites: belongs to signalling by bgp']],
  [
    'vpws',
    { instance: { signalling: 'bgp', remoteId: 65_535 } },
    ['l2vpn-evpn'],
    [': needs a profile of BGP with the family l2vpn-vpls in the entry', '/instance/count: the last wire has no id'],
  ],
  ['vpws', { instance: { remoteId: 65_535 } }, ['l2vpn-evpn'], []],
] as const)(
  '%s over BGP needs its family, labels and ids for all sites and wires',
  (protocol, given, families, refusals) => {
    const config = profileOf(protocol, structuredClone(given));
    const profiles = { ldp: [{}], bgp: [bgpOf(families)], [protocol]: [config] };
    const found = controlRefusals(protocol, config, { profiles, routers: 2 });
    expect(found.map(([pointer, message]) => `${pointer}: ${message}`)).toEqual(refusals);
  },
);

it('a router of LDP has prefixes and neighbours of one version of IP', () => {
  const refused = (config: object) =>
    controlRefusals('ldp', profileOf('ldp', config), { profiles: {}, routers: 1 }).map(([pointer]) => pointer);
  const session = { transportAddress: '2001:db8::1', lsrId: '192.0.2.1' };
  expect(refused({ session, bindings: { ipv6Count: 10 }, targeted: { peers: ['2001:db8::2'] } })).toEqual([]);
  expect(
    refused({
      session: { transportAddress: '2001:db8::1' },
      bindings: { count: 1 },
      targeted: { peers: ['10.0.0.1'] },
    }),
  ).toEqual(['/session/lsrId', '/bindings/count', '/targeted/peers']);
  expect(refused({ bindings: { ipv6Count: 10 } })).toEqual(['/bindings/ipv6Count']);
});
