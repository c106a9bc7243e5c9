import { expect, it } from 'vitest';
import type { Memory } from '../bytes/memory.ts';
import { parseAddress, writeAddress6 } from '../ip/address.ts';
import {
  createEnds,
  dhcpv6ClientOptions,
  dhcpv6ServerOptions,
  gateway6Options,
  ipoe6Options,
  ipoeOptions,
  pppoeClientOptions,
  pppoeServerOptions,
} from '../testing/access-ends.ts';
import type { AccessClientOptions } from './access-client.ts';
import type { AccessGatewayOptions } from './access-gateway.ts';
import { sessionState } from './session-table.ts';

const host = parseAddress('2001:db8:50::1');
const bytes = 48;

/** A datagram of eight bytes. */
const write = ({ view }: Memory, at: number, from: Int32Array, to: Int32Array): void => {
  view.setUint32(at, 0x60000000);
  view.setUint32(at + 4, (8 << 16) | 0x1140);
  writeAddress6(view, at + 8, from, 0);
  writeAddress6(view, at + 24, to, 0);
  view.setUint32(at + 40, (9000 << 16) | 9001);
  view.setUint32(at + 44, 8 << 16);
};

const overIpoe = (method: typeof ipoe6Options.method) => ({
  ipoe: { ...ipoeOptions, ipv4: undefined, ipv6: { ...ipoe6Options, method } },
});
const prefix = { words: parseAddress('2001:db8:7::'), preferredSec: 1800, validSec: 3600 };
const [near, far] = [pppoeClientOptions.ppp, pppoeServerOptions.ppp];
const dhcpv6 = { ...dhcpv6ClientOptions, releases: true };
const overPppoe = { ...pppoeClientOptions, ppp: { ...near, ip6cp: { ...near.ip6cp, dhcpv6 } } };
const concentrator = { ...pppoeServerOptions, ppp: { ...far, ip6cp: { ...far.ip6cp, pools: dhcpv6ServerOptions } } };

it.each<[string, AccessClientOptions['access'], Partial<AccessGatewayOptions>]>([
  ['DHCPv6', overIpoe(ipoe6Options.method), { ipv6: gateway6Options }],
  ['an advertised prefix', overIpoe('slaac'), { ipv6: { address: gateway6Options.address, prefix } }],
  ['DHCPv6 in PPPoE', { pppoe: overPppoe }, { dhcp: undefined, pppoe: concentrator }],
])(
  'IPv6 of hosts goes through sessions with addresses of %s, and comes back to the right one',
  (_, access, options) => {
    const { lab, client, gateway } = createEnds({ count: 5, access }, options);
    const { table } = client.subscribers;
    client.subscribers.begin();
    expect(lab.run(8000, () => table.counts[sessionState.up] === 5)).toBe(true);
    const own = new Int32Array(4);
    expect(client.writeAddress(3, 6, own)).toBe(true);
    const [atGateway, atClient]: [number[], [number, number][]] = [[], []];
    gateway.onPacket = (_memory, start, end) => atGateway.push(end - start);
    client.onPacket = (session, _memory, start, end) => atClient.push([session, end - start]);
    const at = client.beginPacket(3, bytes);
    write(client.frames.memory, at, own, host);
    client.sendPacket(3, at, at + bytes);
    lab.run(10);
    expect(atGateway).toEqual([bytes]);
    expect(gateway.reaches(host, 0)).toBe(false);
    const back = gateway.beginPacket(own, 0, bytes);
    write(gateway.frames.memory, back, host, own);
    gateway.sendPacket(back, back + bytes);
    lab.run(10);
    expect(atClient).toEqual([[3, bytes]]);
    expect(table.rxBytes[3]).toBeGreaterThanOrEqual(bytes);
    client.subscribers.stop(3, 4);
    lab.run(1000);
    expect(client.writeAddress(3, 6, own)).toBe(false);
  },
);
