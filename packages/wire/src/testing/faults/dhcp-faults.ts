import { dhcpOption, dhcpType } from '../../access/dhcp/message.ts';
import type { IpoeOptions } from '../../access/ipoe.ts';
import { dhcpClientOptions, dhcpServerOptions, ip4, ipoeOptions } from '../access-ends.ts';
import { type Fault, fromPeer, onUpTamper, withGateway } from './fault.ts';

const ethernetBytes = 14;
const udp = ethernetBytes + 20;
const message = udp + 8;
const xidAt = message + 4;
const optionsAt = message + 240;

const isArp = (frame: Uint8Array) => frame[12] === 0x08 && frame[13] === 0x06;
const isUdp = (frame: Uint8Array) => frame[12] === 0x08 && frame[13] === 0 && frame[23] === 17;

/** Where the value of an option of DHCP stands, or -1. */
const optionAt = (frame: Uint8Array, code: number): number => {
  for (let at = optionsAt; at + 1 < frame.length && frame[at] !== 255; at += 2 + (frame[at + 1] as number))
    if (frame[at] === code) return at + 2;
  return -1;
};
const typeOf = (frame: Uint8Array) => (isUdp(frame) ? frame[optionAt(frame, dhcpOption.messageType)] : undefined);

/** A copy of a DHCP message with other bytes at a place, without a checksum. */
const changed = (frame: Uint8Array, at: number, bytes: readonly number[]): Uint8Array => {
  const copy = frame.slice();
  copy.set(bytes, at);
  copy.set([0, 0], udp + 6);
  return copy;
};
const refused = (frame: Uint8Array) =>
  typeOf(frame) === dhcpType.ack ? changed(frame, optionAt(frame, dhcpOption.messageType), [dhcpType.nak]) : frame;
const withoutDhcp = (frame: Uint8Array) => (isUdp(frame) ? undefined : frame);
const withoutArp = (frame: Uint8Array) => (isArp(frame) ? undefined : frame);

const dhcp = { ...dhcpClientOptions, retries: 1 };
const clientWith = (neighbours: Partial<IpoeOptions['neighbours']> = {}) => {
  const own = { ...ipoeOptions.neighbours, retries: 2, intervalMs: 0, ...neighbours };
  return { access: { ipoe: { ...ipoeOptions, ipv4: { dhcp }, neighbours: own } } };
};
const server = { dhcp: dhcpServerOptions };
const shortLease = { dhcp: { ...dhcpServerOptions, leaseSec: 4 } };
const through = (change: (frame: Uint8Array) => Uint8Array | undefined) =>
  withGateway(clientWith(), server, fromPeer(change));

/** The answer of the gateway to a question of ARP, turned into one of the owner of the session's address. */
const ofOwner = (frame: Uint8Array) => {
  if (!isArp(frame)) return frame;
  const copy = frame.slice();
  copy.set(frame.subarray(38, 42), 28);
  return copy;
};

/** Servers of DHCP and gateways that misbehave. */
export const dhcpFaults: readonly Fault[] = [
  { name: 'a silent server', cause: 'DHCP: no offer', create: through(withoutDhcp) },
  {
    name: 'answers to another question',
    cause: 'DHCP: no offer',
    create: through((frame) => (isUdp(frame) ? changed(frame, xidAt, [1, 2, 3, 4]) : frame)),
  },
  {
    name: 'truncated answers',
    cause: 'DHCP: no offer',
    create: through((frame) => (isUdp(frame) ? frame.subarray(0, optionsAt - 9) : frame)),
  },
  {
    name: 'an exhausted pool',
    cause: 'DHCP: no offer',
    create: withGateway({ ...clientWith(), count: 2 }, { dhcp: { ...dhcpServerOptions, poolSize: 1 } }),
  },
  {
    name: 'an offer without a server',
    cause: 'DHCP: no offer',
    create: through((frame) => {
      const at = isUdp(frame) ? optionAt(frame, dhcpOption.serverId) : -1;
      return at < 0 ? frame : changed(frame, at, [0, 0, 0, 0]);
    }),
  },
  {
    name: 'an offer that is not kept',
    cause: 'DHCP: no acknowledgement',
    create: through((frame) => (typeOf(frame) === dhcpType.ack ? undefined : frame)),
  },
  { name: 'a refusal of what was offered', cause: 'DHCP: refused', create: through(refused) },
  {
    name: 'a lease of no time',
    cause: 'DHCP: lease expired',
    create: through((frame) =>
      typeOf(frame) === dhcpType.ack ? changed(frame, optionAt(frame, dhcpOption.leaseTime), [0, 0, 0, 0]) : frame,
    ),
  },
  {
    name: 'a server that is gone when the lease is renewed',
    cause: 'DHCP: lease expired',
    create: withGateway(clientWith(), shortLease),
    onUp: onUpTamper(withoutDhcp),
  },
  {
    name: 'a refusal to renew',
    cause: 'DHCP: refused',
    create: withGateway(clientWith(), shortLease),
    onUp: onUpTamper(refused),
  },
  { name: 'an address of another machine', cause: 'DHCP: address in use', create: through(ofOwner) },
  { name: 'a silent gateway', cause: 'ARP: gateway does not answer', create: through(withoutArp) },
  {
    name: 'a gateway that is gone',
    cause: 'ARP: gateway does not answer',
    create: withGateway(clientWith({ intervalMs: 1000 }), server),
    onUp: onUpTamper(withoutArp),
  },
  {
    name: 'a strange gateway',
    cause: 'ARP: gateway is not trusted',
    create: withGateway(clientWith({ trusted: [ip4('100.64.9.9')] }), server),
  },
];
