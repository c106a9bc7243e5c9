import { Type } from 'typebox';
import { Id } from '../../scalars.ts';
import { optional } from '../../schema.ts';
import { secret } from '../../secret.ts';
import {
  choice,
  flag,
  flaps,
  ipv4,
  ipv4Prefix,
  ipv6Prefix,
  numbered,
  optionalAddress,
  optionalMac,
  profile,
  secretText,
  section,
  subset,
  text,
  unsupported,
  whole,
} from './field.ts';
import { radiusServer } from './radius.ts';

/** Control plane `access`: the gateway that subscribers of the access plane come through. */
export const access = profile('Broadband network gateway: what the emulated router offers to subscribers', {
  gateway: section('Sessions that are accepted', {
    protocols: subset('Protocols', ['pppoe', 'ipoe', 'l2tp'], ['pppoe', 'ipoe']),
    maxSessions: whole('Sessions at once, the same number for each protocol', 32_000, [1, 1_000_000]),
    setupPerSec: whole('Sessions accepted a second; 0 for no limit', 0, [0, 100_000]),
    unnumberedFrom: optionalAddress('Address shown to subscribers; the interface when left out'),
  }),
  pools: section('Addresses that are handed out', {
    ipv4: ipv4Prefix('IPv4 network, divided evenly among the protocols', '100.64.0.0/16'),
    ipv6: ipv6Prefix('IPv6 network of single addresses', '2001:db8:2000::/48'),
    delegated: ipv6Prefix('IPv6 network that prefixes are delegated from', '2001:db8:4000::/36'),
    delegatedLength: whole('Length of a delegated prefix', 56, [8, 64]),
    leaseSec: whole('Life of a lease', 3600, [30, 604_800]),
    announce: unsupported(choice('How routes to subscribers are announced', ['none', 'aggregate', 'each']), [
      'aggregate',
      'each',
    ]),
  }),
  authentication: section('Who is let in', {
    kind: choice('Everyone, a fixed password, or whoever RADIUS lets in', ['accept', 'password', 'radius']),
    password: secretText('The fixed password'),
    radiusAddress: ipv4('RADIUS server', '192.0.2.10'),
    radiusPort: whole('Port of the RADIUS server; accounting has the next one', 1812, [1, 65_535]),
    radiusSecret: secretText('Secret shared with it'),
    accounting: flag('Send accounting'),
    interimSec: whole('Time between interim records; 0 for none', 600, [0, 86_400]),
  }),
});

export const dot1x = profile('Port authentication (IEEE 802.1X), supplicant and authenticator', {
  supplicant: section('Who asks to be let in', {
    method: choice('EAP method', ['peap-mschapv2', 'md5', 'ttls-pap', 'ttls-mschapv2', 'tls']),
    identity: numbered('Identity', 'user{n}@rushhour.test'),
    outerIdentity: text('Identity shown outside the tunnel; empty shows the real one'),
    password: numbered('Password', 'test-{n}', secret),
    certificateID: optional.described(Id, 'Certificate with its key, for method tls'),
    caCertificateID: optional.described(Id, 'Authority that the server must be signed by; unset accepts any'),
    version: whole('Version of EAPOL', 2, [1, 3]),
    logoff: flag('Say goodbye at the end', true),
  }),
  timers: section('Patience', {
    startPeriodSec: whole('Time between start messages', 30, [1, 65_535]),
    maxStart: whole('Start messages before going on without authentication', 3, [1, 100]),
    authPeriodSec: whole('Wait for the authenticator', 30, [1, 65_535]),
    heldPeriodSec: whole('Wait after a refusal', 60, [0, 65_535]),
    reauthSec: whole('Authenticate again after; 0 for never', 0, [0, 604_800]),
  }),
  authenticator: section('What the server side does', {
    decision: choice('Accept everyone, check the password, refuse everyone, or leave it to RADIUS', [
      'check',
      'accept',
      'reject',
      'radius',
    ]),
    groupAddress: optionalMac('Destination of EAPOL frames; the standard group address when left out'),
    vlan: whole('VLAN handed out; 0 for none', 0, [0, 4094]),
    rejectPct: whole('Share of attempts refused whatever they say', 0, [0, 100]),
  }),
  radius: radiusServer,
});

/** The wire between a subscriber and the network: identity, VLANs, speed. */
export const accessLine = profile('Access line of a subscriber, as a DSLAM or OLT describes it', {
  line: section('What the access node says about the line (TR-101, RFC 6320)', {
    circuitId: numbered('Agent circuit id', 'rushhour eth 0/0:{n}'),
    remoteId: numbered('Agent remote id', 'line-{n}'),
    kind: choice('Technology of the line', ['vdsl2', 'adsl2plus', 'gpon', 'xgspon', 'gfast', 'ethernet', 'other']),
    upstreamKbps: whole('Actual rate upstream; 0 leaves it out', 40_000, [0, 100_000_000]),
    downstreamKbps: whole('Actual rate downstream; 0 leaves it out', 100_000, [0, 100_000_000]),
  }),
  vlan: section('VLANs of the line', {
    mode: choice('One VLAN a subscriber, or one for all', ['1:1', 'n:1', 'untagged']),
    outerStart: whole('First outer VLAN; 0 for none', 1, [0, 4094]),
    outerEnd: whole('Last outer VLAN', 4094, [0, 4094]),
    innerStart: whole('First inner VLAN; 0 for none', 0, [0, 4094]),
    innerEnd: whole('Last inner VLAN', 0, [0, 4094]),
    outerTpid: choice('EtherType of the outer tag', ['0x8100', '0x88a8', '0x9100']),
    priority: whole('Priority bits of the control traffic', 0, [0, 7]),
  }),
  ancp: section('Access Node Control Protocol towards the gateway', {
    enabled: flag('Report the lines by ANCP'),
    peerAddress: ipv4('Address of the gateway', '192.0.2.1'),
    port: whole('TCP port', 6068, [1, 65_535]),
    keepaliveSec: whole('Time between keepalives', 25, [1, 600]),
  }),
});

export const links = profile('Physical or virtual links of an access network', {
  link: section('Properties of the link', {
    mtu: whole('Largest packet', 1500, [68, 9216]),
    sourceMac: optionalMac('First MAC address; the address of the interface when left out'),
    macStep: whole('Distance between the addresses of two sessions', 1, [1, 65_536]),
    txBurst: whole('Packets sent at once', 64, [1, 4096]),
    txIntervalUs: whole('Time between two bursts', 1000, [10, 1_000_000]),
  }),
  vlan: section('Tags put on every packet', {
    outer: whole('Outer VLAN; 0 for none', 0, [0, 4094]),
    inner: whole('Inner VLAN; 0 for none', 0, [0, 4094]),
    priority: whole('Priority bits', 0, [0, 7]),
  }),
  flaps: flaps('the link'),
});

export const lag = profile('Link aggregation (IEEE 802.1AX)', {
  lacp: section('How the group is agreed on', {
    mode: choice('Who speaks first; static speaks no LACP', ['active', 'passive', 'static']),
    timeout: choice('short sends every second, long every 30', ['short', 'long']),
    systemPriority: whole('Priority of the system', 32_768, [0, 65_535]),
    systemId: optionalMac('System id; made from the interface when left out'),
    portPriority: whole('Priority of each port', 32_768, [0, 65_535]),
    key: whole('Operational key', 1, [1, 65_535]),
  }),
  group: section('Members of the group', {
    minActiveLinks: whole('Links that must be up for the group to be up', 1, [1, 255]),
    maxActiveLinks: whole('Links that may carry traffic; the rest stand by', 255, [1, 255]),
    hash: choice('What chooses the link of a packet', ['layer3+4', 'layer2', 'layer2+3', 'round-robin']),
  }),
  flaps: flaps('one member link'),
});

export const sessions = profile('How many subscriber sessions there are, and how fast they come and go', {
  load: section('Number and pace', {
    count: whole('Sessions', 100, [1, 1_000_000]),
    startPerSec: whole('Sessions started a second', 400, [1, 100_000]),
    stopPerSec: whole('Sessions stopped a second', 400, [1, 100_000]),
    maxOutstanding: whole('Sessions that may be in setup at once', 800, [1, 100_000]),
    startDelaySec: whole('Wait before the first session', 0, [0, 3600]),
  }),
  life: section('What a session does once it is up', {
    holdSec: whole('Time a session stays; 0 until the end of the task', 0, [0, 2_592_000]),
    reconnect: flag('Start again when a session ends or fails', true),
    reconnectDelaySec: whole('Wait before starting again', 1, [0, 3600]),
    maxAttempts: whole('Attempts for each session; 0 for no end', 0, [0, 1_000_000]),
  }),
  traffic: section('Traffic that proves a session works', {
    ipv4PacketsPerSec: Type.Number({
      description: 'IPv4 packets a second and session',
      default: 1,
      minimum: 0,
      maximum: 1e6,
    }),
    ipv6PacketsPerSec: Type.Number({
      description: 'IPv6 packets a second and session',
      default: 0,
      minimum: 0,
      maximum: 1e6,
    }),
    dscp: whole('DSCP of these packets', 0, [0, 63]),
    label: text('Name of the traffic in results', 'session', 64),
  }),
});
