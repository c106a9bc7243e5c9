import { Type } from 'typebox';
import { Id } from '../../scalars.ts';
import { optional } from '../../schema.ts';
import {
  authentication,
  choice,
  flag,
  flaps,
  ipv4Prefix,
  ipv6Prefix,
  list,
  mac,
  optionalAddress,
  optionalRouterId,
  pairPattern,
  profile,
  section,
  subset,
  whole,
} from './field.ts';

const asNumber = (description: string, value: number) => whole(description, value, [1, 4_294_967_295]);

const families = [
  'ipv4-unicast',
  'ipv6-unicast',
  'ipv4-labeled',
  'ipv6-labeled',
  'ipv4-multicast',
  'ipv6-multicast',
  'vpnv4',
  'vpnv6',
  'l2vpn-vpls',
  'l2vpn-evpn',
  'ipv4-flowspec',
  'ipv6-flowspec',
] as const;

export const bgp = profile('Border Gateway Protocol (RFC 4271)', {
  session: section('The neighbour', {
    localAs: asNumber('Own AS number', 65_000),
    peerAs: asNumber('AS number of the neighbour', 65_001),
    localAddress: optionalAddress('Own address; the address of the interface when left out'),
    peerAddress: optionalAddress('Address of the neighbour; the gateway of the network when left out'),
    routerId: optionalRouterId('Own router id; the local address when left out'),
    holdSec: whole('Hold time; 0 switches keepalives off', 90, [0, 65_535]),
    keepaliveSec: whole('Time between keepalives', 30, [0, 21_845]),
    connectRetrySec: whole('Wait before connecting again', 5, [1, 65_535]),
    passive: flag('Wait to be called'),
    ttl: whole('TTL of packets; more than 1 for neighbours that are not adjacent', 1, [1, 255]),
    bfd: flag('Watch the neighbour with BFD'),
  }),
  capabilities: section('What is offered to the neighbour', {
    families: subset('Address families', families, ['ipv4-unicast']),
    fourByteAs: flag('AS numbers of four bytes', true),
    routeRefresh: flag('Route refresh', true),
    gracefulRestartSec: whole('Restart time of graceful restart; 0 for none', 0, [0, 4095]),
    addPath: choice('Several paths to a prefix (RFC 7911)', ['none', 'send', 'receive', 'both']),
    extendedMessages: flag('Messages beyond 4096 bytes (RFC 8654)'),
    extendedNextHop: flag('IPv4 routes with IPv6 next hops (RFC 8950)'),
  }),
  routes: section('What is announced', {
    ipv4Count: whole('IPv4 prefixes', 0, [0, 4_000_000]),
    ipv4Start: ipv4Prefix('First IPv4 prefix; the others follow it', '10.128.0.0/24'),
    ipv6Count: whole('IPv6 prefixes', 0, [0, 4_000_000]),
    ipv6Start: ipv6Prefix('First IPv6 prefix; the others follow it', '2001:db8:8000::/48'),
    nextHop: optionalAddress('Next hop; the local address when left out'),
    origin: choice('Origin', ['igp', 'egp', 'incomplete']),
    localPreference: whole('Local preference, to neighbours of the same AS', 100, [0, 4_294_967_295]),
    med: whole('Multi-exit discriminator', 0, [0, 4_294_967_295]),
    asPath: Type.Array(Type.Integer({ minimum: 1, maximum: 4_294_967_295 }), {
      description: 'AS numbers behind the own one',
      default: [],
      maxItems: 255,
    }),
    communities: list('Communities, e.g. 65000:100', { pattern: pairPattern, value: [] }),
    pathsPerPrefix: whole('Paths of each prefix, with add-path', 1, [1, 64]),
    updatesPerSec: whole('Pace of updates; 0 for as fast as possible', 0, [0, 1_000_000]),
    endOfRib: flag('Say when everything was announced', true),
  }),
  imported: section('Routes of a file, announced besides the generated ones', {
    fileID: optional.described(Id, 'MRT file with a table of routes (RFC 6396: TABLE_DUMP_V2), plain or as gzip'),
    peerIndex: optional.integer(
      [0, 65_535],
      'Peer of the file whose routes are announced; the first route to each prefix when left out',
    ),
    maxRoutes: whole('Routes at most', 4_000_000, [1, 4_000_000]),
  }),
  churn: section('Routes that come and go', {
    intervalSec: whole('Time between withdrawals; 0 for none', 0, [0, 86_400]),
    sharePct: whole('Share of the prefixes withdrawn', 10, [1, 100]),
    downSec: whole('Time until they are announced again', 10, [1, 86_400]),
  }),
  authentication: authentication(['none', 'md5']),
  flaps: flaps('the session'),
});

export const evpn = profile('Ethernet VPN (RFC 7432, RFC 8365); its routes travel over BGP', {
  instance: section('EVPN instances', {
    count: whole('Instances', 1, [1, 16_000]),
    encapsulation: choice('Data plane', ['vxlan', 'mpls', 'geneve']),
    service: choice('How VLANs map to instances', ['vlan-based', 'vlan-bundle', 'vlan-aware']),
    idStart: whole('First VNI or label', 10_001, [1, 16_777_215]),
    vlanStart: whole('First VLAN; 0 for untagged', 0, [0, 4094]),
    routeDistinguisher: optional.string({
      description: 'First route distinguisher; made from the router id when left out',
      pattern: pairPattern,
    }),
    routeTargets: list('Route targets; made from AS and id when empty', { pattern: pairPattern, value: [] }),
    routeTypes: subset('Routes that are announced', ['1', '2', '3', '4', '5'], ['2', '3']),
  }),
  segment: section('Ethernet segment of a site with several routers', {
    identifier: optional.string({ description: 'ESI, ten bytes', pattern: '^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){9}$' }),
    redundancy: choice('Who forwards', ['all-active', 'single-active']),
    election: choice('How the designated forwarder is chosen', ['modulo', 'preference', 'highest-weight']),
    preference: whole('Preference in the election', 32_767, [0, 65_535]),
  }),
  hosts: section('Hosts behind the emulated routers', {
    perInstance: whole('Hosts of each instance', 10, [0, 1_000_000]),
    macStart: mac('First MAC address', '02:00:5e:10:00:01'),
    withIpv4: flag('Announce IPv4 addresses with them', true),
    ipv4Start: ipv4Prefix('Network of the hosts', '10.200.0.0/16'),
    moveSec: whole('Time between moves of a host to another router; 0 for none', 0, [0, 86_400]),
  }),
});
