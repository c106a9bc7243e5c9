import { optional } from '../../schema.ts';
import { ignored } from '../plugins/members/values.ts';
import {
  choice,
  flag,
  flaps,
  ipv4Pattern,
  list,
  mac,
  optionalAddress,
  optionalRouterId,
  pairPattern,
  profile,
  section,
  text,
  unsupported,
  whole,
} from './field.ts';
import { label } from './mpls.ts';

const service = {
  count: whole('Services', 1, [1, 100_000]),
  mtu: whole('MTU of the service', 1500, [64, 9216]),
  controlWord: flag('Use the control word', true),
  labelStart: label('First label', 400_000),
};

const discovery = {
  routeDistinguisher: optional.string({
    description: 'First route distinguisher; made from the router id when left out',
    pattern: pairPattern,
  }),
  routeTargets: list('Route targets', { pattern: pairPattern, value: [] }),
};

const hosts = ignored(
  section('Hosts behind the emulated router', {
    perService: whole('Hosts of each service', 0, [0, 1_000_000]),
    macStart: mac('First MAC address', '02:00:5e:20:00:01'),
    vlan: whole('VLAN of the hosts; 0 for untagged', 0, [0, 4094]),
  }),
);

export const pseudowire = profile('Pseudowires signalled by LDP with FEC 128 (RFC 8077)', {
  wire: section('The wires', {
    peerAddress: optionalRouterId('Other end; the neighbour when left out'),
    idStart: whole('First pseudowire id', 1, [1, 4_294_967_295]),
    groupId: whole('Group id', 0, [0, 4_294_967_295]),
    kind: choice('What they carry', ['ethernet', 'ethernet-vlan', 'ppp', 'hdlc', 'atm-cell', 'frame-relay', 'ip']),
    ...service,
  }),
  status: section('State of a wire', {
    statusTlv: flag('Send notifications of the state', true),
    backup: choice('Role in a redundant pair', ['none', 'primary', 'backup']),
    vccv: unsupported(choice('How the wire is checked', ['none', 'lsp-ping', 'bfd']), ['lsp-ping', 'bfd']),
  }),
  flaps: flaps('a wire'),
});

export const vpls = profile('Virtual private LAN service (RFC 4761, RFC 4762)', {
  instance: section('Instances', {
    signalling: choice('How wires are agreed on', ['ldp', 'bgp']),
    vpnIdStart: whole('First VPN id', 1, [1, 4_294_967_295]),
    ...service,
  }),
  sites: section('Sites, for signalling by BGP', {
    siteIdStart: whole('First site id; each router is a site', 1, [1, 65_535]),
    blockSize: whole('Labels of a block; further blocks follow for sites beyond it', 8, [1, 65_535]),
    routeDistinguisher: discovery.routeDistinguisher,
    routeTargets: list('Route targets of the first instance, which others follow; made from AS and VPN id when empty', {
      pattern: pairPattern,
      value: [],
    }),
  }),
  neighbours: section('Neighbours, for signalling by LDP', {
    peers: list('Their addresses; the neighbour when empty', { pattern: ipv4Pattern, value: [] }),
    splitHorizon: ignored(flag('Pass nothing from one wire to another', true)),
    macWithdraw: flag('Withdraw addresses when a site goes down', true),
  }),
  hosts,
  flaps: flaps('a site'),
});

export const vpws = profile('Virtual private wire service by BGP or EVPN (RFC 6624, RFC 8214)', {
  instance: section('Instances', {
    signalling: choice('How wires are agreed on', ['evpn', 'bgp']),
    localId: whole('First own service or site id', 1, [1, 16_777_215]),
    remoteId: whole('First service or site id of the other end', 2, [1, 16_777_215]),
    ...service,
    ...discovery,
  }),
  attachment: ignored(
    section('The attached side', {
      kind: choice('What is attached', ['port', 'vlan', 'double-vlan']),
      outerVlan: whole('Outer VLAN', 0, [0, 4094]),
      innerVlan: whole('Inner VLAN', 0, [0, 4094]),
    }),
  ),
  hosts,
  flaps: flaps('a wire'),
});

export const fec129 = profile('Pseudowires signalled with the generalized FEC 129 (RFC 8077, RFC 6074)', {
  attachment: section('Ends of the wires', {
    type: choice('Type of attachment identifiers', ['2', '1']),
    groupId: text('Attachment group identifier', '65000:1', 64),
    sourceStart: whole('First own identifier', 1, [1, 4_294_967_295]),
    targetStart: whole('First identifier of the other end', 1, [1, 4_294_967_295]),
    globalId: whole('Global id of type 2, usually the AS number', 0, [0, 4_294_967_295]),
    prefix: optionalAddress('Prefix of type 2; the LSR id when left out'),
    ...service,
  }),
  discovery: ignored(section('Finding the other ends by BGP', { enabled: flag('Use BGP'), ...discovery })),
  segments: ignored(
    section('Wires of several segments (RFC 7267)', {
      enabled: flag('Set up a path over switching points'),
      hops: whole('Switching points', 0, [0, 30]),
    }),
  ),
  flaps: flaps('a wire'),
});
