import { optional } from '../../schema.ts';
import { ignored } from '../plugins/members/values.ts';
import {
  addressPattern,
  authentication,
  choice,
  flag,
  flaps,
  ipv4,
  ipv4Prefix,
  ipv6Prefix,
  list,
  optionalAddress,
  optionalRouterId,
  profile,
  section,
  unsupported,
  whole,
} from './field.ts';

/** Labels below 16 are reserved. */
export const label = (description: string, value: number) => whole(description, value, [16, 1_048_575]);

export const ldp = profile('Label Distribution Protocol (RFC 5036)', {
  session: section('The neighbour', {
    lsrId: optionalRouterId('First LSR id; the address of the interface when left out. Needed over IPv6'),
    transportAddress: optionalAddress(
      'Address of the TCP session; the LSR id when left out. With an IPv6 address all is IPv6 (RFC 7552)',
    ),
    helloSec: whole('Time between link hellos', 5, [1, 21_845]),
    helloHoldSec: whole('Life of a link neighbour', 15, [1, 65_534]),
    keepaliveSec: whole('Time between keepalives', 60, [1, 21_845]),
    holdSec: whole('Life of a silent session', 180, [1, 65_534]),
    distribution: unsupported(choice('Who asks for labels', ['unsolicited', 'on-demand']), ['on-demand']),
    retention: unsupported(choice('Labels that are not used', ['liberal', 'conservative']), ['conservative']),
    control: choice('When labels are given out', ['ordered', 'independent']),
    gracefulRestartSec: ignored(whole('Reconnect time of graceful restart; 0 for none', 0, [0, 3600])),
  }),
  targeted: section('Neighbours that are not adjacent', {
    peers: list('Their addresses', { pattern: addressPattern, value: [] }),
    helloSec: whole('Time between targeted hellos', 10, [1, 21_845]),
    holdSec: whole('Life of a targeted neighbour', 45, [1, 65_534]),
    accept: flag('Answer targeted hellos of others', true),
  }),
  bindings: section('Labels that are given out', {
    count: whole('IPv4 prefixes', 0, [0, 1_000_000]),
    start: ipv4Prefix('First IPv4 prefix', '10.130.0.0/32'),
    ipv6Count: whole('IPv6 prefixes, over IPv6', 0, [0, 1_000_000]),
    ipv6Start: ipv6Prefix('First IPv6 prefix', '2001:db8:7800::/64'),
    labelStart: label('First label', 100_000),
    implicitNull: flag('Ask the neighbour to remove the label for own addresses', true),
  }),
  authentication: authentication(['none', 'md5']),
  flaps: flaps('the session'),
});

export const mldp = profile('Multicast extensions of LDP (RFC 6388)', {
  tree: section('Trees', {
    kind: choice('Kind of tree', ['point-to-multipoint', 'multipoint-to-multipoint']),
    role: choice('Place of the emulated router', ['leaf', 'root', 'transit']),
    root: ipv4('Address of the root', '192.0.2.1'),
    count: whole('Trees', 1, [1, 100_000]),
    opaqueStart: whole('First LSP id', 1, [0, 4_294_967_295]),
    leaves: ignored(whole('Leaves of each tree', 1, [1, 10_000])),
    labelStart: label('First label', 200_000),
  }),
  service: section('What the trees carry', {
    groupStart: ipv4('First group', '239.1.0.1'),
    source: ipv4('Source', '198.51.100.1'),
    inBand: flag('Signal group and source in the LSP id (RFC 6826)'),
  }),
  resilience: section('Surviving failures', {
    makeBeforeBreakMs: whole('Time the old branch is kept', 1000, [0, 60_000]),
  }),
  flaps: flaps('a branch'),
});

export const mplsTp = profile('MPLS transport profile (RFC 5921)', {
  path: section('Label switched paths', {
    count: whole('Paths', 1, [1, 100_000]),
    tunnelIdStart: whole('First tunnel number', 1, [1, 65_535]),
    sourceNode: ipv4('Source node id', '192.0.2.1'),
    destinationNode: ipv4('Destination node id', '192.0.2.2'),
    globalId: whole('Global id, usually the AS number', 0, [0, 4_294_967_295]),
    labelInStart: label('First label expected', 300_000),
    labelOutStart: label('First label sent', 300_000),
  }),
  protection: section('Linear protection (RFC 6378)', {
    kind: unsupported(choice('Architecture', ['none', '1+1', '1:1']), ['1+1', '1:1']),
    revertive: ignored(flag('Go back once the working path is well', true)),
    waitToRestoreSec: ignored(whole('Wait before going back', 300, [0, 3600])),
    holdOffMs: ignored(whole('Wait before switching over', 0, [0, 10_000])),
  }),
  oam: section('Continuity', {
    kind: unsupported(choice('Protocol', ['bfd', 'y1731', 'none']), ['y1731', 'none']),
    intervalMs: whole('Time between packets', 100, [3, 60_000]),
    multiplier: whole('Packets missed before the path is down', 3, [1, 255]),
    group: ignored(optional.string({ description: 'Maintenance entity group', maxLength: 48 })),
    lockInstruct: flag('Send lock instruct when a path is taken out of service', true),
  }),
  flaps: flaps('the working path'),
});
