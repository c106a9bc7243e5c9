import { dhcpv6Option, dhcpv6Type } from '../../access/dhcpv6/message.ts';
import type { Dhcpv6ServerOptions } from '../../access/dhcpv6/server-options.ts';
import type { Ipoe6Options } from '../../access/ipv6/ipoe6.ts';
import { icmp6Type } from '../../icmp/icmp.ts';
import { parseAddress } from '../../ip/address.ts';
import {
  dhcpv6ClientOptions,
  dhcpv6ServerOptions,
  gateway6Options,
  ipoe6Options,
  ipoeOptions,
} from '../access-ends.ts';
import { type Fault, fromPeer, onUpTamper, withGateway } from './fault.ts';

const ip = 14;
const payload = ip + 40;
const message = payload + 8;
const optionsAt = message + 4;
const icmp = 58;

const isIpv6 = (frame: Uint8Array, protocol: number) =>
  frame[12] === 0x86 && frame[13] === 0xdd && frame[ip + 6] === protocol;
const isUdp = (frame: Uint8Array) => isIpv6(frame, 17);
const isIcmp = (frame: Uint8Array, type: number) => isIpv6(frame, icmp) && frame[payload] === type;
const isType = (frame: Uint8Array, type: number) => isUdp(frame) && frame[message] === type;

const withoutDhcp = (frame: Uint8Array) => (isUdp(frame) ? undefined : frame);
const withoutRouter = (frame: Uint8Array) => (isIcmp(frame, icmp6Type.routerAdvertisement) ? undefined : frame);
const withoutNeighbour = (frame: Uint8Array) => (isIcmp(frame, icmp6Type.neighbourAdvertisement) ? undefined : frame);

/** A copy of a message of ICMP with other bytes at a place and the right checksum. */
const changedIcmp = (frame: Uint8Array, at: number, bytes: readonly number[]): Uint8Array => {
  const copy = frame.slice();
  copy.set(bytes, at);
  copy.set([0, 0], payload + 2);
  let sum = frame.length - payload + icmp;
  for (let i = ip + 8; i < copy.length; i += 2) sum += ((copy[i] ?? 0) << 8) | (copy[i + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  copy.set([(~sum >>> 8) & 255, ~sum & 255], payload + 2);
  return copy;
};

/** Turns answers of the gateway into those of another machine that has the address of the session. */
const ownedByOther = () => {
  let address: number[] = [];
  return (frame: Uint8Array, from: 0 | 1) => {
    if (from === 0 && isIcmp(frame, icmp6Type.neighbourSolicitation) && frame[ip + 8] === 0)
      address = [...frame.subarray(payload + 8, payload + 24)];
    const isAnswer = from === 1 && isIcmp(frame, icmp6Type.neighbourAdvertisement) && address.length > 0;
    return isAnswer ? changedIcmp(frame, payload + 8, address) : frame;
  };
};

/** A reply whose address has a code that no client knows. */
const withoutAddress = (frame: Uint8Array): Uint8Array => {
  if (!isType(frame, dhcpv6Type.reply)) return frame;
  const copy = frame.slice();
  const view = new DataView(copy.buffer);
  for (let at = optionsAt; at + 4 <= copy.length; at += 4 + view.getUint16(at + 2))
    if (view.getUint16(at) === dhcpv6Option.iaNa) view.setUint16(at, 0xfff0);
  return copy;
};

const clientWith = (
  neighbours: Partial<Ipoe6Options['neighbours']> = {},
  method: Ipoe6Options['method'] = { dhcpv6: { ...dhcpv6ClientOptions, retries: 1 } },
) => {
  const own = { ...ipoe6Options.neighbours, retries: 2, intervalMs: 0, ...neighbours };
  const ipv6 = { ...ipoe6Options, method, neighbours: own };
  return { access: { ipoe: { ...ipoeOptions, ipv4: undefined, ipv6 } } };
};
const serverWith = (more: Partial<Dhcpv6ServerOptions> = {}) => ({
  dhcp: undefined,
  ipv6: { ...gateway6Options, dhcpv6: { ...dhcpv6ServerOptions, ...more } },
});
const through = (change: (frame: Uint8Array) => Uint8Array | undefined) =>
  withGateway(clientWith(), serverWith(), fromPeer(change));
const shortLease = serverWith({ preferredSec: 2, validSec: 4 });

const dhcpv6Faults: readonly Fault[] = [
  { name: 'a silent server', cause: 'DHCPv6: no answer', create: through(withoutDhcp) },
  {
    name: 'answers to another question',
    cause: 'DHCPv6: no answer',
    create: through((frame) => {
      if (!isUdp(frame)) return frame;
      const copy = frame.slice();
      copy.set([1, 2, 3], message + 1);
      return copy;
    }),
  },
  {
    name: 'truncated answers',
    cause: 'DHCPv6: no answer',
    create: through((frame) => (isUdp(frame) ? frame.subarray(0, optionsAt + 7) : frame)),
  },
  {
    name: 'an advertisement that is not kept',
    cause: 'DHCPv6: no answer',
    create: through((frame) => (isType(frame, dhcpv6Type.reply) ? undefined : frame)),
  },
  { name: 'a reply without an address', cause: 'DHCPv6: refused', create: through(withoutAddress) },
  {
    name: 'an exhausted pool',
    cause: 'pool exhausted',
    create: withGateway({ ...clientWith(), count: 2 }, serverWith({ poolSize: 1 })),
  },
  {
    name: 'a server that is gone when the lease is renewed',
    cause: 'DHCPv6: lease expired',
    create: withGateway(clientWith(), shortLease),
    onUp: onUpTamper(withoutDhcp),
  },
  {
    name: 'a renewal without an address',
    cause: 'DHCPv6: refused',
    create: withGateway(clientWith(), shortLease),
    onUp: onUpTamper(withoutAddress),
  },
];

const second = 1000;
const prefix = { words: parseAddress('2001:db8:7::'), validSec: 3, preferredSec: 2 };
const slaac = clientWith({}, 'slaac');
const routerAlone = { dhcp: undefined, ipv6: { ...gateway6Options, dhcpv6: undefined, prefix } };

/** Routers, gateways and servers of IPv6 that misbehave. */
export const ipv6Faults: readonly Fault[] = [
  ...dhcpv6Faults,
  { name: 'no router', cause: 'router advertisement: none', create: through(withoutRouter) },
  {
    name: 'a router of no time',
    cause: 'router advertisement: none',
    create: through((frame) =>
      isIcmp(frame, icmp6Type.routerAdvertisement) ? changedIcmp(frame, payload + 6, [0, 0]) : frame,
    ),
  },
  {
    name: 'truncated advertisements',
    cause: 'router advertisement: none',
    create: through((frame) =>
      isIcmp(frame, icmp6Type.routerAdvertisement) ? frame.subarray(0, payload + 11) : frame,
    ),
  },
  {
    name: 'a router without a prefix',
    cause: 'router advertisement: none',
    create: withGateway(slaac, { ...routerAlone, ipv6: { ...routerAlone.ipv6, prefix: undefined } }),
  },
  {
    name: 'a strange router',
    cause: 'router advertisement: none',
    create: withGateway(clientWith({ trusted: [parseAddress('fe80::9')] }), serverWith()),
  },
  {
    name: 'a prefix that is advertised no more',
    cause: 'router advertisement: expired',
    create: withGateway(slaac, routerAlone),
    onUp: onUpTamper(withoutRouter),
  },
  { name: 'a silent gateway', cause: 'IPv6: gateway does not answer', create: through(withoutNeighbour) },
  {
    name: 'a gateway that is gone',
    cause: 'IPv6: gateway does not answer',
    create: withGateway(clientWith({ intervalMs: second }), serverWith()),
    onUp: onUpTamper(withoutNeighbour),
  },
  {
    name: 'an address of another machine',
    cause: 'IPv6: address in use',
    create: (context) => withGateway(clientWith(), serverWith(), ownedByOther())(context),
  },
];
