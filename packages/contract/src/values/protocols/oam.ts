import { ignored } from '../plugins/members/values.ts';
import {
  authentication,
  choice,
  flag,
  flaps,
  ipv4,
  optionalAddress,
  profile,
  section,
  unsupported,
  whole,
} from './field.ts';

const bfdKinds = ['none', 'simple', 'md5', 'meticulous-md5', 'sha1', 'meticulous-sha1'] as const;

export const bfd = profile('Bidirectional forwarding detection (RFC 5880)', {
  session: section('The session', {
    kind: unsupported(choice('What is watched', ['single-hop', 'multi-hop', 'micro', 'seamless']), ['seamless']),
    localAddress: optionalAddress('Own address; the address of the interface when left out'),
    peerAddress: optionalAddress('Address of the other end; the gateway of the network when left out'),
    txMs: whole('Wished time between own packets', 300, [3, 60_000]),
    rxMs: whole('Shortest time between packets that can be received', 300, [3, 60_000]),
    multiplier: whole('Packets missed before the session is down', 3, [1, 255]),
    passive: flag('Wait for the other end'),
    echoMs: whole('Time between echo packets; 0 for none', 0, [0, 60_000]),
    demand: flag('Ask for demand mode'),
    ttl: whole('TTL of packets; 255 for adjacent neighbours', 255, [1, 255]),
  }),
  authentication: authentication(bfdKinds),
  flaps: flaps('the session'),
});

const window = (what: string) => ({
  windowMs: whole(`Time over which ${what} are counted`, 1000, [100, 60_000]),
  threshold: whole(`Number of ${what} that is reported`, 1, [1, 4_294_967_295]),
});

export const linkOam = profile('Ethernet in the first mile, link OAM (IEEE 802.3, clause 57)', {
  discovery: section('Finding the other end', {
    mode: choice('Who may start', ['active', 'passive']),
    pdusPerSec: whole('Packets a second at most', 10, [1, 10]),
    lostLinkMs: whole('Silence after which the other end is lost', 5000, [2000, 90_000]),
    maxPduBytes: whole('Largest packet', 1518, [64, 1518]),
    variables: flag('Answer requests for variables', true),
  }),
  frames: section('Report of frames with errors', {
    enabled: flag('Report them', true),
    ...window('frames with errors'),
  }),
  symbols: ignored(
    section('Report of symbols with errors', {
      enabled: flag('Report them'),
      ...window('symbols with errors'),
    }),
  ),
  loopback: section('Remote loopback', {
    supported: ignored(flag('Let the other end start it')),
    start: flag('Start it at the other end'),
    durationSec: whole('How long it lasts', 10, [1, 3600]),
  }),
  events: section('Critical events that are sent on purpose', {
    kind: choice('Event', ['none', 'link-fault', 'dying-gasp', 'critical']),
    intervalSec: whole('Time between them', 60, [1, 86_400]),
  }),
});

export const mplsOam = profile('LSP ping and traceroute (RFC 8029)', {
  ping: section('Echo requests', {
    target: unsupported(
      choice('What is tested', ['ldp-ipv4', 'rsvp', 'pseudowire', 'vpn-ipv4', 'segment-routing', 'generic-ipv4']),
      ['rsvp', 'pseudowire', 'vpn-ipv4', 'segment-routing'],
    ),
    prefix: ipv4('Network address of the path', '10.128.0.0'),
    prefixLength: whole('Its length', 32, [0, 32]),
    destination: ipv4('Destination inside 127/8', '127.0.0.1'),
    intervalMs: whole('Time between requests', 1000, [10, 600_000]),
    timeoutMs: whole('Wait for an answer', 2000, [10, 600_000]),
    count: whole('Requests; 0 for no end', 0, [0, 1_000_000]),
    sizeBytes: whole('Padding', 0, [0, 9000]),
    ttl: whole('TTL of the label', 255, [1, 255]),
    trafficClass: whole('Traffic class of the label', 6, [0, 7]),
  }),
  reply: section('Answers', {
    mode: choice('How they come back', ['ip', 'router-alert', 'none']),
    answer: flag('Answer the requests of others, and keep the sessions of BFD that they ask for', true),
    dscp: whole('DSCP of answers', 48, [0, 63]),
  }),
  traceroute: section('Step by step', {
    enabled: flag('Trace the path'),
    maxTtl: whole('Longest path', 30, [1, 255]),
    multipath: ignored(flag('Explore every equal path (RFC 8029, section 3.3)')),
  }),
  bfd: section('BFD over the path (RFC 5884), asked for by the echo requests', {
    enabled: flag('Watch the path with BFD'),
    txMs: whole('Wished time between own packets', 100, [10, 60_000]),
    rxMs: whole('Shortest time between packets that can be received', 100, [10, 60_000]),
    multiplier: whole('Packets missed before the path is down', 3, [1, 255]),
  }),
});
