import { Type } from 'typebox';
import { StrictObject } from '../../schema.ts';
import { secret } from '../../secret.ts';
import { choice, flag, ipv4, numbered, optionalAddress, profile, secretText, section, text, whole } from './field.ts';
import { radiusServer } from './radius.ts';

export const ppp = profile('Point-to-Point Protocol: LCP, authentication, IPCP and IP6CP', {
  lcp: section('Link control (RFC 1661)', {
    mru: whole('Largest packet that may be received', 1492, [64, 9216]),
    timeoutSec: whole('Wait for an answer', 5, [1, 120]),
    retries: whole('Configure requests before giving up', 10, [1, 255]),
    magicNumber: flag('Detect loops with a magic number', true),
    echoSec: whole('Time between echo requests; 0 for none', 30, [0, 65_535]),
    echoRetries: whole('Unanswered echoes before the session is down', 3, [1, 255]),
    vendorExtensions: flag('Answer vendor-specific requests instead of rejecting them'),
  }),
  auth: section('Who the subscriber is', {
    protocol: choice('What is offered; any accepts what the peer wants', ['any', 'chap', 'pap', 'mschapv2', 'none']),
    username: numbered('User name; a server with an empty one takes every name', 'user{n}@rushhour.test'),
    password: numbered('Password', 'test-{n}', secret),
    timeoutSec: whole('Wait for an answer', 5, [1, 120]),
    retries: whole('Attempts before giving up', 30, [1, 255]),
  }),
  ipcp: section('IPv4 (RFC 1332)', {
    enabled: flag('Negotiate IPv4', true),
    address: optionalAddress('Address asked for; unset asks the peer'),
    requestDns: flag('Ask for two name servers (RFC 1877)', true),
  }),
  ip6cp: section('IPv6 (RFC 5072)', {
    enabled: flag('Negotiate IPv6', true),
    autoconfigure: flag('Wait for a router advertisement afterwards', true),
  }),
  server: section('Who the server side lets in, and what it hands out', {
    decision: choice('Check the password, accept everyone, or leave it to RADIUS', ['check', 'accept', 'radius']),
    localAddress: ipv4('Address of the server', '100.64.0.1'),
    poolStart: ipv4('First address for subscribers', '100.64.0.2'),
    poolSize: whole('Addresses in the pool', 4096, [1, 16_777_216]),
    pools: Type.Array(
      StrictObject({
        name: Type.String({ minLength: 1, maxLength: 64 }),
        start: Type.String({ format: 'ipv4' }),
        size: Type.Integer({ minimum: 1, maximum: 16_777_216 }),
      }),
      { description: 'Further pools, which RADIUS chooses by Framed-Pool', default: [], maxItems: 16 },
    ),
    dns1: ipv4('First name server', '100.64.0.1'),
    dns2: ipv4('Second name server', '100.64.0.1'),
  }),
  radius: radiusServer,
});

export const pppoe = profile('PPP over Ethernet (RFC 2516)', {
  discovery: section('Finding an access concentrator', {
    serviceName: text('Service asked for; empty takes any'),
    acName: text('Concentrator asked for; empty takes the first that answers'),
    timeoutSec: whole('Wait for an answer', 5, [1, 120]),
    retries: whole('Attempts before giving up', 10, [1, 1000]),
    hostUniq: flag('Send Host-Uniq', true),
    maxPayload: whole('PPP-Max-Payload (RFC 4638); 0 leaves it out', 0, [0, 9216]),
    vlanPriority: whole('Priority bits of discovery and control', 6, [0, 7]),
  }),
  accessLine: section('Vendor tag with the access line (TR-101)', {
    enabled: flag('Add circuit id, remote id and rates of the access line'),
    circuitId: numbered('Agent circuit id', 'rushhour eth 0/0:{n}'),
    remoteId: numbered('Agent remote id', 'line-{n}'),
  }),
  server: section('What the server side says', {
    acName: text('Name of the concentrator', 'rushhour', 64),
    serviceName: text('Service offered'),
    cookie: flag('Hand out an AC-Cookie', true),
    maxSessions: whole('Sessions accepted', 65_535, [1, 1_000_000]),
    setupPerSec: whole('Sessions accepted a second; 0 for no limit', 0, [0, 100_000]),
    answerDelayMs: whole('Wait before an offer', 0, [0, 60_000]),
  }),
});

export const l2tp = profile('Layer Two Tunneling Protocol, version 2 (RFC 2661)', {
  tunnel: section('Control connection', {
    hostName: numbered('Own host name', 'rushhour-{n}'),
    localAddress: optionalAddress('Own address; the address of the interface when left out'),
    peerAddress: optionalAddress('Address of the other end; unset waits to be called'),
    secret: secretText('Shared secret; empty for none'),
    helloSec: whole('Time between hellos; 0 for none', 60, [0, 3600]),
    receiveWindow: whole('Unacknowledged control messages accepted', 16, [1, 65_535]),
    timeoutSec: whole('Wait before a control message is sent again', 1, [1, 60]),
    retries: whole('Attempts before the tunnel is down', 5, [1, 30]),
    tosOfControl: whole('Type of service of control packets', 0, [0, 255]),
  }),
  session: section('Sessions in a tunnel', {
    maxPerTunnel: whole('Sessions accepted in one tunnel', 65_535, [1, 65_535]),
    dataSequencing: flag('Number data packets'),
    proxyAuth: flag('Accept what the access concentrator negotiated', true),
    dataLength: flag('Put a length into data packets'),
  }),
  server: section('What the network server accepts', {
    maxSessions: whole('Sessions accepted', 4096, [1, 1_000_000]),
    setupPerSec: whole('Sessions accepted a second; 0 for no limit', 0, [0, 100_000]),
  }),
});
