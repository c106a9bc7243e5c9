import {
  choice,
  flag,
  ipv4,
  ipv4Prefix,
  ipv6Prefix,
  maybeAddress,
  profile,
  secretText,
  section,
  subset,
  whole,
} from './field.ts';

/** Control plane `access`: the gateway that subscribers of the access plane come through. */
export const access = profile('Broadband network gateway: what the emulated router offers to subscribers', {
  gateway: section('Sessions that are accepted', {
    protocols: subset('Protocols', ['pppoe', 'ipoe', 'l2tp'], ['pppoe', 'ipoe']),
    maxSessions: whole('Sessions at once', 32_000, [1, 1_000_000]),
    setupPerSec: whole('Sessions accepted a second; 0 for no limit', 0, [0, 100_000]),
    unnumberedFrom: maybeAddress('Address shown to subscribers; the interface when left out'),
  }),
  pools: section('Addresses that are handed out', {
    ipv4: ipv4Prefix('IPv4 network', '100.64.0.0/16'),
    ipv6: ipv6Prefix('IPv6 network of single addresses', '2001:db8:2000::/48'),
    delegated: ipv6Prefix('IPv6 network that prefixes are delegated from', '2001:db8:4000::/36'),
    delegatedLength: whole('Length of a delegated prefix', 56, [8, 64]),
    leaseSec: whole('Life of a lease', 3600, [30, 604_800]),
    announce: choice('How routes to subscribers are announced', ['aggregate', 'each', 'none']),
  }),
  authentication: section('Who is let in', {
    kind: choice('Everyone, a fixed password, or whoever RADIUS lets in', ['accept', 'password', 'radius']),
    password: secretText('The fixed password'),
    radiusAddress: ipv4('RADIUS server', '192.0.2.10'),
    radiusPort: whole('Port of the RADIUS server', 1812, [1, 65_535]),
    radiusSecret: secretText('Secret shared with it'),
    accounting: flag('Send accounting'),
    interimSec: whole('Time between interim records; 0 for none', 600, [0, 86_400]),
  }),
});
