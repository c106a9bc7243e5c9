import { Type } from 'typebox';
import { ignored } from '../plugins/members/values.ts';
import {
  addressPattern,
  authentication,
  choice,
  flag,
  flaps,
  ipv4Prefix,
  ipv6Prefix,
  list,
  numbered,
  optionalRouterId,
  profile,
  section,
  subset,
  whole,
} from './field.ts';

const topology = section('Routers and prefixes behind the emulated ones', {
  kind: choice('Shape', ['none', 'grid', 'ring', 'tree', 'mesh', 'random']),
  nodes: whole('Routers', 0, [0, 100_000]),
  degree: whole('Links of each, for random', 3, [1, 64]),
  prefixesPerNode: whole('Prefixes of each', 1, [0, 10_000]),
  ipv4Start: ipv4Prefix('First IPv4 prefix', '10.64.0.0/24'),
  ipv6Start: ipv6Prefix('First IPv6 prefix', '2001:db8:6000::/64'),
  changeSec: whole('Time between changes of a metric somewhere; 0 for none', 0, [0, 86_400]),
});

const segmentRouting = section('Segment routing over MPLS', {
  enabled: flag('Announce a segment for each router: its router id with an index'),
  blockStart: whole('First label of the global block', 16_000, [16, 1_048_575]),
  blockSize: whole('Labels in it', 8000, [1, 1_000_000]),
  nodeIndexStart: whole('Index of the first router', 1, [0, 1_000_000]),
});

export const isis = profile('IS-IS (ISO 10589, RFC 5305, RFC 5308)', {
  instance: section('The emulated router', {
    level: choice('Levels', ['2', '1', '1-2']),
    areas: list('Areas', { pattern: '^[0-9A-Fa-f]{2}(\\.[0-9A-Fa-f]{4}){0,6}$', value: ['49.0001'], maxItems: 3 }),
    systemIdStart: Type.String({
      description: 'First system id',
      default: '0100.0000.0001',
      pattern: '^[0-9A-Fa-f]{4}\\.[0-9A-Fa-f]{4}\\.[0-9A-Fa-f]{4}$',
    }),
    routerId: optionalRouterId('First router id; the address of the interface when left out'),
    hostName: numbered('Host name', 'rushhour-{n}'),
    protocols: subset('Network protocols', ['ipv4', 'ipv6'], ['ipv4', 'ipv6']),
    multiTopology: flag('A topology of its own for IPv6 (RFC 5120)'),
    overload: flag('Set the overload bit'),
    lspLifetimeSec: whole('Life of a link state packet', 1200, [330, 65_535]),
    lspRefreshSec: whole('Time between refreshes', 900, [1, 65_235]),
  }),
  interface: section('Neighbours', {
    network: choice('Kind of network', ['point-to-point', 'broadcast']),
    helloSec: whole('Time between hellos', 10, [1, 600]),
    holdMultiplier: whole('Hellos missed before the neighbour is lost', 3, [2, 100]),
    metric: whole('Metric', 10, [1, 16_777_214]),
    priority: whole('Priority to become designated', 64, [0, 127]),
    padding: flag('Pad hellos to the MTU', true),
    csnpSec: whole('Time between complete sequence numbers', 10, [1, 600]),
    bfd: flag('End the adjacency with the BFD session of the router'),
  }),
  authentication: authentication(['none', 'simple', 'md5', 'hmac-sha-256']),
  segmentRouting: segmentRouting,
  topology,
  flaps: flaps('the adjacency'),
});

const ospfNetworks = ['point-to-point', 'broadcast', 'non-broadcast', 'point-to-multipoint'] as const;

export const ospf = profile('OSPF, version 2 (RFC 2328) or 3 (RFC 5340)', {
  instance: section('The emulated router', {
    version: whole('Version', 2, [2, 3]),
    routerId: optionalRouterId('First router id; the address of the interface when left out'),
    area: Type.String({ description: 'Area', format: 'ipv4', default: '0.0.0.0' }),
    areaKind: choice('Kind of area', ['normal', 'stub', 'totally-stub', 'nssa']),
    instanceId: whole('Instance id of version 3', 0, [0, 255]),
    gracefulRestartSec: ignored(whole('Grace period; 0 for none', 0, [0, 1800])),
    overload: flag('Announce the highest metric'),
  }),
  interface: section('Neighbours', {
    network: choice('Kind of network', ospfNetworks),
    neighbours: list('Neighbours on non-broadcast networks; on point-to-multipoint ones hellos go to all when empty', {
      pattern: addressPattern,
      value: [],
    }),
    helloSec: whole('Time between hellos', 10, [1, 65_535]),
    deadSec: whole('Silence after which the neighbour is lost', 40, [2, 65_535]),
    retransmitSec: whole('Wait before sending again', 5, [1, 3600]),
    cost: whole('Cost', 10, [1, 65_535]),
    priority: whole('Priority to become designated', 1, [0, 255]),
    ignoreMtu: flag('Accept neighbours with another MTU'),
    bfd: flag('End the adjacency with the BFD session of the router'),
  }),
  authentication: authentication(['none', 'simple', 'md5', 'hmac-sha-256']),
  externals: section('Routes from outside', {
    count: whole('External routes', 0, [0, 1_000_000]),
    start: ipv4Prefix('First prefix', '10.96.0.0/24'),
    ipv6Start: ipv6Prefix('First prefix of version 3', '2001:db8:6800::/64'),
    metricKind: choice('Kind of metric', ['2', '1']),
    metric: whole('Metric', 20, [0, 16_777_214]),
  }),
  segmentRouting: ignored(segmentRouting),
  topology,
  flaps: flaps('the adjacency'),
});

export const rip = profile('RIP, version 1, 2 (RFC 2453) or next generation (RFC 2080)', {
  instance: section('The emulated router', {
    version: choice('Version', ['2', '1', 'ng']),
    updateSec: whole('Time between updates', 30, [1, 65_535]),
    timeoutSec: whole('Life of a route', 180, [1, 65_535]),
    garbageSec: whole('Time a dead route is still announced', 120, [1, 65_535]),
    send: choice('Destination of updates', ['multicast', 'broadcast', 'unicast']),
    splitHorizon: choice('What is told to whom it came from', ['poisoned', 'simple', 'none']),
  }),
  routes: section('What is announced', {
    ipv4Count: whole('IPv4 prefixes', 0, [0, 1_000_000]),
    ipv4Start: ipv4Prefix('First IPv4 prefix', '10.112.0.0/24'),
    ipv6Count: whole('IPv6 prefixes, of next generation', 0, [0, 1_000_000]),
    ipv6Start: ipv6Prefix('First IPv6 prefix', '2001:db8:7000::/64'),
    metric: whole('Metric', 1, [1, 15]),
    tag: whole('Route tag', 0, [0, 65_535]),
  }),
  authentication: authentication(['none', 'simple', 'md5']),
});
