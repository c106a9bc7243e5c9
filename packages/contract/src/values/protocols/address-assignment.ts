import { Type } from 'typebox';
import {
  addressPattern,
  choice,
  flag,
  ipv4,
  ipv4Pattern,
  ipv6,
  ipv6Pattern,
  ipv6Prefix,
  list,
  numbered,
  optionalAddress,
  profile,
  section,
  text,
  whole,
} from './field.ts';
import { radiusServer } from './radius.ts';

const patience = (timeoutSec: number, retries: number) => ({
  timeoutSec: whole('Wait for an answer before asking again', timeoutSec, [1, 120]),
  retries: whole('Attempts before giving up', retries, [0, 1000]),
});

export const dhcp = profile('DHCP for IPv4 (RFC 2131), client and server side', {
  client: section('How addresses are asked for', {
    ...patience(5, 10),
    broadcast: flag('Ask for broadcast answers'),
    rapidCommit: flag('Two messages instead of four (RFC 4039)'),
    hostName: numbered('Option 12', 'host-{n}'),
    vendorClass: text('Option 60; empty leaves it out'),
    clientId: choice('Option 61: the MAC address, a DUID, or none', ['mac', 'duid', 'none']),
    parameters: Type.Array(Type.Integer({ minimum: 1, maximum: 254 }), {
      description: 'Option 55: options asked for',
      default: [1, 3, 6, 15, 51, 54],
      uniqueItems: true,
      maxItems: 128,
    }),
    release: flag('Give the address back at the end', true),
    renewPct: whole('When to renew, in percent of the lease', 50, [1, 99]),
  }),
  relay: section('Option 82, as an access node adds it (RFC 3046)', {
    enabled: flag('Add option 82'),
    circuitId: numbered('Agent circuit id', 'rushhour eth 0/0:{n}'),
    remoteId: numbered('Agent remote id', 'line-{n}'),
    gatewayAddress: optionalAddress('giaddr; unset sends directly'),
  }),
  server: section('What the server side offers', {
    decision: choice('Every client gets an address, or those whose MAC RADIUS lets in', ['accept', 'radius']),
    poolStart: ipv4('First address', '100.64.0.2'),
    poolSize: whole('Addresses in the pool', 4096, [1, 16_777_216]),
    netmask: ipv4('Mask of the network', '255.192.0.0'),
    router: ipv4('Default gateway', '100.64.0.1'),
    leaseSec: whole('Life of a lease', 3600, [30, 4_294_967_294]),
    dnsServers: list('Name servers', { pattern: ipv4Pattern, value: ['100.64.0.1'], maxItems: 8 }),
    domain: text('Domain name', 'rushhour.test', 253),
    setupPerSec: whole('Leases offered to new clients a second; 0 for no limit', 0, [0, 100_000]),
    answerDelayMs: whole('Wait before answering', 0, [0, 60_000]),
  }),
  radius: radiusServer,
});

export const dhcpv6 = profile('DHCPv6 (RFC 8415), client and server side', {
  client: section('What is asked for', {
    ...patience(5, 10),
    address: flag('Ask for an address (IA_NA)', true),
    prefix: flag('Ask for a delegated prefix (IA_PD)', true),
    prefixLength: whole('Wished length of the delegated prefix', 56, [32, 64]),
    rapidCommit: flag('Two messages instead of four', true),
    reconfigure: flag('Let the server ask for a renewal (Reconfigure, with a key of the server)'),
    duid: choice('Kind of client id', ['ll', 'llt', 'uuid']),
    release: flag('Give everything back at the end', true),
  }),
  relay: section('Lightweight relay of an access node (RFC 6221)', {
    enabled: flag('Wrap messages as a relay does'),
    interfaceId: numbered('Option 18', 'rushhour eth 0/0:{n}'),
    remoteId: numbered('Option 37', 'line-{n}'),
  }),
  server: section('What the server side offers', {
    poolStart: ipv6('First address', '2001:db8:1::2'),
    poolSize: whole('Addresses in the pool', 4096, [1, 16_777_216]),
    delegatedFrom: ipv6Prefix('Prefix that delegated prefixes are cut from', '2001:db8:4000::/36'),
    delegatedLength: whole('Length of a delegated prefix', 56, [8, 64]),
    preferredSec: whole('Preferred lifetime', 1800, [30, 4_294_967_294]),
    validSec: whole('Valid lifetime', 3600, [30, 4_294_967_294]),
    dnsServers: list('Name servers', { pattern: ipv6Pattern, value: ['2001:db8:1::1'], maxItems: 8 }),
    domain: text('Search domain', 'rushhour.test', 253),
    reconfigureSec: whole('Time between requests to renew, to clients that agree; 0 for none', 0, [0, 86_400]),
  }),
});

export const ipoe = profile('IP over Ethernet: subscribers without PPP', {
  ipv4: section('IPv4 of a session', {
    enabled: flag('Use IPv4', true),
    method: choice('Where the address comes from', ['dhcp', 'static']),
    addressStart: ipv4('First static address', '100.64.0.2'),
    gateway: ipv4('Static gateway', '100.64.0.1'),
    addressStep: whole('Distance between two static addresses', 1, [1, 65_536]),
  }),
  ipv6: section('IPv6 of a session', {
    enabled: flag('Use IPv6'),
    method: choice('Where the address comes from', ['dhcpv6', 'slaac', 'static']),
    addressStart: ipv6('First static address', '2001:db8:1::2'),
    gateway: ipv6('Static gateway', 'fe80::1'),
  }),
  neighbours: section('ARP and neighbour discovery', {
    timeoutSec: whole('Wait for an answer', 1, [1, 60]),
    intervalSec: whole('Time between checks of the gateway; 0 for none', 300, [0, 86_400]),
    retries: whole('Attempts before the session fails', 3, [1, 100]),
    trustedGateways: list('Gateways that may answer; empty for any', { pattern: addressPattern, value: [] }),
  }),
});
