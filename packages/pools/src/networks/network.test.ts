import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findAddress, formatAddress } from '../addresses/address.ts';
import { findSubnet, readRange } from '../addresses/address-range.ts';
import { DraftError } from '../values/issue.ts';
import { createAddressSet, gatewayMacOf, issuesOf, portsOf } from './network.ts';
import type { NetworkDraft } from './network-draft.ts';

/** Every client address, found the slow way. */
function expand(draft: NetworkDraft): string[] {
  const subnet = findSubnet(draft.subnet);
  if (subnet === undefined) return [];
  const isV4 = subnet.version === 4;
  const excluded = (draft.excludes ?? []).map(readRange);
  const found: string[] = [];
  for (let value = subnet.first; value <= subnet.last; value++) {
    const isEdge = value === subnet.first || (isV4 && value === subnet.last);
    const isReserved = isEdge && subnet.prefixLength < (isV4 ? 31 : 127);
    const isExcluded = excluded.some((range) => 'first' in range && value >= range.first && value <= range.last);
    const isGateway = draft.gateway ? findAddress(draft.gateway)?.value === value : false;
    const lastOctet = Number(value & 255n);
    const isSelected = draft.pattern ? lastOctet % 3 === 0 : true;
    if (!isReserved && !isExcluded && !isGateway && isSelected) found.push(formatAddress(subnet.version, value));
  }
  return found;
}

const anyNetwork: fc.Arbitrary<NetworkDraft> = fc
  .record({
    version: fc.constantFrom(4 as const, 6 as const),
    hostBits: fc.integer({ min: 0, max: 9 }),
    hasPattern: fc.boolean(),
    gateway: fc.option(fc.nat(), { nil: undefined }),
    holes: fc.array(fc.tuple(fc.nat(), fc.nat({ max: 20 }), fc.constantFrom('one', 'range', 'cidr')), { maxLength: 8 }),
  })
  .map(({ version, hostBits, hasPattern, gateway, holes }) => {
    const base = version === 4 ? 0x0a000000n : 0x20010db8n << 96n;
    const size = 2 ** hostBits;
    const at = (n: number): string => formatAddress(version, base + BigInt(n % size));
    const excludes = holes.map(([n, length, kind]) => {
      if (kind === 'one') return at(n);
      if (kind === 'cidr')
        return `${at(n - (n % Math.min(2, size)))}/${(version === 4 ? 32 : 128) - Math.min(1, hostBits)}`;
      return `${at(n)}-${at(Math.min((n % size) + length, size - 1))}`;
    });
    return {
      subnet: `${at(0)}/${(version === 4 ? 32 : 128) - hostBits}`,
      gateway: gateway === undefined ? undefined : at(gateway),
      excludes,
      pattern: !hasPattern ? undefined : version === 4 ? '10.*.*.*/3' : '2001:db8::*:0-ff/3,100-1ff/3',
    };
  })
  // 0x100 is not a multiple of 3 below 256, so the IPv6 pattern keeps to the last octet.
  .filter((draft) => draft.pattern === undefined || !draft.subnet.includes(':') || !/\/11[0-9]$/.test(draft.subnet));

describe('client addresses of a network', () => {
  test('are those of a brute-force expansion, in order, whichever page they are read by', () => {
    fc.assert(
      fc.property(anyNetwork, fc.integer({ min: 1, max: 40 }), (draft, limit) => {
        const expected = expand(draft);
        if (expected.length === 0) {
          expect(() => createAddressSet(draft)).toThrow(DraftError);
          return;
        }
        fc.pre(!issuesOf(draft).some((issue) => issue.code === 'GATEWAY_RESERVED'));
        const set = createAddressSet(draft);
        expect(set.size).toBe(BigInt(expected.length));
        const pages: string[] = [];
        for (let start = 0; start < expected.length; start += limit) pages.push(...set.page(BigInt(start), limit));
        expect(pages).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test('at, indexOf and lowerBound agree', () => {
    fc.assert(
      fc.property(anyNetwork, (draft) => {
        const expected = expand(draft);
        fc.pre(issuesOf(draft).length === 0);
        const set = createAddressSet(draft);
        for (const [i, ip] of expected.entries()) {
          expect(set.at(BigInt(i))).toBe(ip);
          expect(set.indexOf(ip)).toBe(BigInt(i));
        }
        const subnet = findSubnet(draft.subnet);
        for (let value = subnet?.first ?? 0n; value <= (subnet?.last ?? 0n); value++) {
          const ip = formatAddress(set.version, value);
          const bound = set.values(set.lowerBound(value), 1)[0];
          expect(bound).toBe(expected.map((text) => findAddress(text)?.value ?? 0n).find((member) => member >= value));
          expect(set.has(value)).toBe(expected.includes(ip));
        }
        expect(set.values(set.size, 1)).toEqual([]);
        expect(() => set.at(set.size)).toThrow(RangeError);
        expect(() => set.at(-1n)).toThrow(RangeError);
      }),
      { numRuns: 25 },
    );
  });

  test('leave out network, broadcast and gateway of a /24', () => {
    const set = createAddressSet({ ipVersion: 'ipv4', subnet: '10.0.0.0/24', gateway: '10.0.0.1' });
    expect(set.size).toBe(253n);
    expect(set.at(0n)).toBe('10.0.0.2');
    expect(set.at(252n)).toBe('10.0.0.254');
    expect(set.indexOf('10.0.0.1')).toBeUndefined();
    expect(set.indexOf('::1')).toBeUndefined();
  });

  test('use both addresses of a /31 and the one of a /32', () => {
    expect(createAddressSet({ subnet: '10.0.0.0/31' }).page(0n, 9)).toEqual(['10.0.0.0', '10.0.0.1']);
    expect(createAddressSet({ subnet: '10.0.0.7/32' }).page(0n, 9)).toEqual(['10.0.0.7']);
    expect(createAddressSet({ subnet: '2001:db8::/127' }).size).toBe(2n);
  });

  test('of a whole IPv6 /0 are counted without being made', () => {
    const set = createAddressSet({ subnet: '::/0', excludes: ['ff00::/8'] });
    expect(set.size).toBe(2n ** 128n - 2n ** 120n - 1n);
    expect(set.at(set.size - 1n)).toBe('feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff');
  });
});

describe('issues of a network', () => {
  const codesOf = (draft: NetworkDraft): string[] => issuesOf(draft).map(({ path, code }) => `${path} ${code}`);

  test('a valid network has none', () => {
    expect(
      issuesOf({
        ipVersion: '6',
        subnet: '2001:db8::/64',
        gateway: 'fe80::1',
        excludes: ['2001:db8::5', '2001:db8::10-2001:db8::20', '2001:db8::ff00/120'],
        pattern: '2001:db8::*:*',
        ports: '80,8000-8100',
      }),
    ).toEqual([]);
  });

  test('are all reported at once', () => {
    expect(
      codesOf({
        ipVersion: '6',
        subnet: '10.0.0.5/24',
        gateway: '10.0.1.1',
        excludes: ['10.0.0.7', 'x', '10.0.0.9-10.0.0.8', '10.9.0.0/16', '2001:db8::1'],
        pattern: '10.0.7.*',
        ports: '80,99999',
        gatewayMacMode: 'static',
        macPolicy: { mode: 'perIp', prefix: '01:00:5e', step: 0 },
        macOverrides: [{ ip: '10.0.0.7', mac: 'ff:ff:ff:ff:ff:ff' }, { ip: '10.1.0.1' }],
      }),
    ).toEqual([
      '/ports PORTS_INVALID',
      '/ipVersion IP_VERSION_MISMATCH',
      '/subnet HOST_BITS_SET',
      '/gateway GATEWAY_OUTSIDE_SUBNET',
      '/excludes/1 RANGE_INVALID',
      '/excludes/2 RANGE_REVERSED',
      '/excludes/3 EXCLUDE_OUTSIDE_SUBNET',
      '/excludes/4 EXCLUDE_OUTSIDE_SUBNET',
      '/pattern PATTERN_EMPTY',
      '/macPolicy/prefix MAC_MULTICAST',
      '/macPolicy/step MAC_STEP_INVALID',
      '/macOverrides/0/ip OVERRIDE_EXCLUDED',
      '/macOverrides/0/mac MAC_MULTICAST',
      '/macOverrides/1/ip OVERRIDE_OUTSIDE_SUBNET',
      '/macOverrides/1 OVERRIDE_WITHOUT_MAC',
      '/gatewayMac GATEWAY_MAC_MISSING',
    ]);
  });

  test.each<[NetworkDraft, string]>([
    [{ subnet: '10.0.0.0' }, '/subnet SUBNET_INVALID'],
    [{ subnet: '10.0.0.0/24', ipVersion: '5' }, '/ipVersion IP_VERSION_UNKNOWN'],
    [{ subnet: '224.0.0.0/8' }, '/subnet SUBNET_MULTICAST'],
    [{ subnet: 'ff02::/16' }, '/subnet SUBNET_MULTICAST'],
    [{ subnet: '10.0.0.0/24', gateway: '10.0.0.255' }, '/gateway GATEWAY_RESERVED'],
    [{ subnet: '10.0.0.0/24', gateway: '::1' }, '/gateway GATEWAY_VERSION'],
    [{ subnet: '10.0.0.0/24', gateway: 'gw' }, '/gateway GATEWAY_INVALID'],
    [{ subnet: '10.0.0.0/24', pattern: '10.0.0' }, '/pattern PATTERN_INVALID'],
    [{ subnet: '10.0.0.0/24', excludes: ['10.0.0.0/24'] }, '/subnet NETWORK_EMPTY'],
    [{ subnet: '10.0.0.1/32', gateway: '10.0.0.1' }, '/subnet NETWORK_EMPTY'],
    [{ subnet: '10.0.0.0/24', gatewayMacMode: 'dhcp' }, '/gatewayMacMode GATEWAY_MAC_MODE_UNKNOWN'],
    [{ subnet: '10.0.0.0/24', gatewayMacMode: 'mac' }, '/gatewayMacId GATEWAY_MAC_MISSING'],
    [{ subnet: '10.0.0.0/24', macPolicy: { mode: 'toString' } }, '/macPolicy/mode MAC_MODE_UNKNOWN'],
  ])('%o is answered with %s', (draft, expected) => {
    expect(codesOf(draft)).toEqual([expected]);
  });

  test('the network and the subnet-router anycast address make IPv6 gateways as RFC 4291 has it', () => {
    expect(issuesOf({ subnet: '2001:db8::/64', gateway: '2001:db8::' })).toEqual([]);
  });

  test('the MAC of a gateway is what the network gives, or undefined where the gateway is asked', () => {
    const macs = new Map([[4, { kind: 'range', address: '02-00-00-00-00-10', count: 3 }]]);
    const draft = { subnet: '10.0.0.0/24', gateway: '10.0.0.1' };
    expect(gatewayMacOf(draft, macs)).toBeUndefined();
    expect(gatewayMacOf({ ...draft, gatewayMacMode: 'arp', gatewayMac: '02:00:00:00:00:01' }, macs)).toBeUndefined();
    expect(gatewayMacOf({ ...draft, gatewayMac: '02-00-00-00-00-0A' }, macs)).toBe('02:00:00:00:00:0a');
    expect(gatewayMacOf({ ...draft, gatewayMacMode: 'mac', gatewayMacId: 4 }, macs)).toBe('02:00:00:00:00:10');
    expect(() => gatewayMacOf({ ...draft, gatewayMacId: 5 }, macs)).toThrow(DraftError);
  });

  test('a network without ports has them all', () => {
    expect(portsOf({}).size).toBe(65_535);
    expect(portsOf({ ports: '80,443' }).size).toBe(2);
  });
});
