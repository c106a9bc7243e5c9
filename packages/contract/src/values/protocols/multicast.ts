import {
  addressPattern,
  choice,
  flag,
  ipv4,
  ipv4Pattern,
  ipv6,
  ipv6Pattern,
  list,
  optionalAddress,
  profile,
  section,
  unsupported,
  whole,
} from './field.ts';

const membership = {
  groupCount: whole('Groups', 1, [1, 1_000_000]),
  groupStep: whole('Distance between two groups', 1, [1, 65_536]),
  filter: choice('include joins the sources, exclude all but them', ['exclude', 'include']),
  robustness: whole('Times a report is sent', 2, [1, 255]),
  reportDelayMs: whole('Time between repeated reports', 1000, [10, 60_000]),
};

const pace = section('How hosts join', {
  autostart: flag('Join as soon as the session is up', true),
  delaySec: whole('Wait before the first join', 0, [0, 3600]),
  joinsPerSec: whole('Joins a second; 0 for all at once', 0, [0, 1_000_000]),
  groupsPerHost: whole('Groups each host joins', 1, [1, 10_000]),
});

const zapping = section('Changing channels, and how long it takes', {
  intervalSec: whole('Time on one channel; 0 for no zapping', 0, [0, 3600]),
  count: whole('Changes before a pause; 0 for no pause', 10, [0, 1000]),
  pauseSec: whole('Length of the pause', 30, [0, 3600]),
  waitMs: whole('Longest acceptable wait for the new channel', 3000, [1, 60_000]),
  overlapMs: whole('Time the old channel is kept while the new one starts', 0, [0, 60_000]),
});

const querier = {
  queryIntervalSec: whole('Time between general queries', 125, [1, 31_744]),
  responseMs: whole('Longest wait a host may take to answer', 10_000, [100, 31_744_000]),
  robustness: whole('Packets that may get lost', 2, [1, 7]),
  startupCount: whole('Queries at the start', 2, [1, 100]),
  lastMemberMs: whole('Wait after a leave', 1000, [100, 31_744_000]),
  lastMemberCount: whole('Queries after a leave', 2, [1, 100]),
  routerAlert: flag('Send the router alert option', true),
  yieldToLower: flag('Fall silent when a lower address queries', true),
};

export const igmp = profile('IGMP hosts (RFC 2236, RFC 3376)', {
  host: section('What hosts join', {
    version: whole('Version', 3, [1, 3]),
    groupStart: ipv4('First group', '239.0.0.1'),
    sources: list('Sources', { pattern: ipv4Pattern, value: [] }),
    ...membership,
  }),
  join: pace,
  zapping,
});

export const mld = profile('MLD hosts (RFC 2710, RFC 3810)', {
  host: section('What hosts join', {
    version: whole('Version', 2, [1, 2]),
    groupStart: ipv6('First group', 'ff35::8000:1'),
    sources: list('Sources', { pattern: ipv6Pattern, value: [] }),
    ...membership,
  }),
  join: pace,
  zapping,
});

export const igmpQuerier = profile('IGMP querier', {
  querier: section('What the querier asks, and how often', { version: whole('Version', 3, [1, 3]), ...querier }),
});

export const mldQuerier = profile('MLD querier', {
  querier: section('What the querier asks, and how often', { version: whole('Version', 2, [1, 2]), ...querier }),
});

export const pim = profile('Protocol Independent Multicast (RFC 7761)', {
  interface: section('Neighbours', {
    mode: unsupported(choice('Mode', ['sparse', 'source-specific', 'dense', 'bidirectional']), [
      'dense',
      'bidirectional',
    ]),
    helloSec: whole('Time between hellos', 30, [1, 18_724]),
    holdSec: whole('Life of a neighbour', 105, [1, 65_535]),
    drPriority: whole('Priority to become designated router', 1, [0, 4_294_967_295]),
    propagationDelayMs: whole('Delay of the network', 500, [0, 32_767]),
    overrideMs: whole('Time others have to object to a prune', 2500, [0, 65_535]),
    generationId: flag('Send a generation id', true),
    bfd: flag('Watch neighbours with BFD'),
  }),
  rendezvous: section('Rendezvous point of sparse and bidirectional mode', {
    kind: choice('How it is found', ['static', 'bootstrap', 'none']),
    address: optionalAddress('Its address; unset takes the neighbour'),
    bootstrapPriority: whole('Priority as bootstrap candidate', 0, [0, 255]),
  }),
  joins: section('Trees that are joined', {
    joinPruneSec: whole('Time between join and prune messages', 60, [1, 65_535]),
    groupStart: optionalAddress('First group; 239.0.0.1 or ff3e::8000:1 when left out'),
    groupCount: whole('Groups; 0 for none', 0, [0, 1_000_000]),
    sources: list('Sources; without any the shared tree is joined', { pattern: addressPattern, value: [] }),
  }),
  registers: section('Sources that register at the rendezvous point', {
    perSec: whole('Register messages a second', 0, [0, 100_000]),
    nullRegister: flag('Without data inside', true),
  }),
});
