import { describe, expect, it } from 'vitest';
import type { Profiles } from './access-profiles.ts';
import { clientOptionsOf } from './client-options.ts';

const share = { first: 10, count: 5, interfaceMac: Uint8Array.of(2, 0, 0, 0, 0, 1), interfaceName: 'eth1' };
const vlan = {
  mode: 'untagged',
  outerStart: 0,
  outerEnd: 0,
  innerStart: 0,
  innerEnd: 0,
  outerTpid: '0x8100',
  priority: 0,
};
const line = { circuitId: 'olt {n}', remoteId: 'home-{n}', kind: 'vdsl2', upstreamKbps: 10, downstreamKbps: 20 };
const sessions = { load: { count: 5 }, life: {}, traffic: { ipv4PacketsPerSec: 0, dscp: 0, label: 'session' } };
const ids = { enabled: true, circuitId: 'own {n}', remoteId: 'own-{n}' };
const pppoe = { discovery: { serviceName: '', acName: '' }, accessLine: ids };
const ppp = { lcp: {}, auth: {}, ipcp: {}, ip6cp: {} };
const dhcp = { client: { hostName: '', vendorClass: '', parameters: [] }, relay: ids };
const ipoe = { ipv4: { enabled: true, method: 'dhcp' }, ipv6: { enabled: false }, neighbours: { trustedGateways: [] } };
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
const accessOf = (profiles: object) => clientOptionsOf({ sessions, ...profiles } as unknown as Profiles, share).access;

describe('the access line', () => {
  it('names the line in the tag of PPPoE, with its type and rates', () => {
    const access = accessOf({ pppoe, ppp, accessLine: { line, vlan } });
    const tag = 'pppoe' in access ? access.pppoe.line?.(1) : undefined;
    expect([text(tag?.circuitId), text(tag?.remoteId)]).toEqual(['olt 12', 'home-12']);
    expect(tag).toMatchObject({ dslType: 5, upstreamKbps: 10, downstreamKbps: 20 });
    const other = accessOf({ pppoe, ppp, accessLine: { line: { ...line, kind: 'gpon' }, vlan } });
    expect('pppoe' in other && other.pppoe.line?.(0).dslType).toBe(0);
  });

  it('names the line in option 82, and the protocol does where there is no access line', () => {
    const relayOf = (profiles: object) => {
      const access = accessOf({ ipoe, dhcp, ...profiles });
      const ipv4 = 'ipoe' in access ? access.ipoe.ipv4 : undefined;
      return ipv4 && 'dhcp' in ipv4 ? ipv4.dhcp.relay : undefined;
    };
    expect(text(relayOf({ accessLine: { line, vlan } })?.remoteId(0))).toBe('home-11');
    expect(text(relayOf({})?.remoteId(0))).toBe('own-11');
  });
});
