import { createMemory } from '../bytes/memory.ts';
import { isMappedAddress, writeAddress6 } from '../ip/address.ts';
import { ipProtocol } from '../ip/header-fields.ts';
import { ipv4Bytes, writeIpv4 } from '../ip/ipv4.ts';
import { ipv6Bytes, writeIpv6 } from '../ip/ipv6.ts';
import { icmp4Type, icmp6Type } from './icmp.ts';
import { neighbourBodyBytes, solicitedNode, writeNeighbourBody } from './neighbour-discovery.ts';

/** Messages that hosts send on their own. */
export type IcmpRequestKind =
  | 'echo'
  | 'timestamp'
  | 'unreachable'
  | 'redirect'
  | 'neighbourSolicitation'
  | 'routerSolicitation';

interface RequestType {
  /** Type of the message and of its answer; undefined: the IP version has no such message. */
  readonly v4?: { readonly type: number; readonly reply?: number };
  readonly v6?: { readonly type: number; readonly reply?: number };
  readonly code: readonly [v4: number, v6: number];
  /** Identifier and sequence number are in the second word, and in the answer. */
  readonly isNumbered: boolean;
}

export const icmpRequests: Readonly<Record<IcmpRequestKind, RequestType>> = {
  echo: {
    v4: { type: icmp4Type.echo, reply: icmp4Type.echoReply },
    v6: { type: icmp6Type.echo, reply: icmp6Type.echoReply },
    code: [0, 0],
    isNumbered: true,
  },
  timestamp: {
    v4: { type: icmp4Type.timestamp, reply: icmp4Type.timestampReply },
    code: [0, 0],
    isNumbered: true,
  },
  // Port unreachable.
  unreachable: {
    v4: { type: icmp4Type.unreachable },
    v6: { type: icmp6Type.unreachable },
    code: [3, 4],
    isNumbered: false,
  },
  // Redirect for the host.
  redirect: { v4: { type: icmp4Type.redirect }, v6: { type: icmp6Type.redirect }, code: [1, 0], isNumbered: false },
  neighbourSolicitation: {
    v6: { type: icmp6Type.neighbourSolicitation, reply: icmp6Type.neighbourAdvertisement },
    code: [0, 0],
    isNumbered: false,
  },
  routerSolicitation: {
    v4: { type: icmp4Type.routerSolicitation, reply: icmp4Type.routerAdvertisement },
    v6: { type: icmp6Type.routerSolicitation, reply: icmp6Type.routerAdvertisement },
    code: [0, 0],
    isNumbered: false,
  },
};

export interface IcmpRequest {
  readonly type: number;
  readonly code: number;
  /** Second word; identifier and sequence number replace it where the kind is numbered. */
  readonly word: number;
  readonly body: Uint8Array;
  /** Words of the address it goes to. */
  readonly destination: Int32Array;
  /** Required by the protocol: messages of the link have 255, which no router has lowered. */
  readonly ttl?: number;
}

export interface IcmpRequestOptions {
  /** Words of both addresses. */
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly mac: Uint8Array;
  /** Bytes after the header where the kind leaves them open. */
  readonly size: number;
}

const linkTtl = 255;
const quotedPorts = [33_434, 33_434] as const;
const optionBytes = 8;
const sourceLinkAddress = 1;

/** A message of a host to a target. Throws where the version of the addresses has none of the kind. */
export const createIcmpRequest = (kind: IcmpRequestKind, options: IcmpRequestOptions): IcmpRequest => {
  const isV6 = !isMappedAddress(options.target, 0);
  const found = isV6 ? icmpRequests[kind].v6 : icmpRequests[kind].v4;
  if (found === undefined) throw new RangeError(`ICMP${isV6 ? 'v6' : ''} has no message of type ${kind}`);
  const code = icmpRequests[kind].code[isV6 ? 1 : 0];
  const common = { type: found.type, code, word: 0, destination: options.target };
  if (kind === 'neighbourSolicitation' || kind === 'routerSolicitation') {
    return { ...common, ...(kind === 'routerSolicitation' ? toRouters(options, isV6) : toNeighbour(options)) };
  }
  if (kind === 'timestamp') return { ...common, body: new Uint8Array(12) };
  if (kind === 'unreachable') return { ...common, body: quotedPacket(options, isV6) };
  if (kind === 'redirect') return { ...common, ...redirect(options, isV6) };
  return { ...common, body: Uint8Array.from({ length: options.size }, (_, i) => (i + 8) & 0xff) };
};

const toNeighbour = ({ target, mac }: IcmpRequestOptions) => {
  const memory = createMemory(neighbourBodyBytes);
  const destination = new Int32Array(4);
  solicitedNode(target, 0, destination, 0);
  writeNeighbourBody(memory, 0, { target, targetAt: 0, mac, isSolicitation: true });
  return { body: memory.bytes, destination, ttl: linkTtl };
};

/** All routers of the link, by ff02::2 with the link address option, or by 224.0.0.2 (RFC 1256). */
const toRouters = ({ mac }: IcmpRequestOptions, isV6: boolean) => {
  if (!isV6) return { body: new Uint8Array(0), destination: Int32Array.of(0, 0, 0xffff, 0xe0000002 | 0), ttl: 1 };
  const body = new Uint8Array(optionBytes);
  body.set([sourceLinkAddress, 1]);
  body.set(mac, 2);
  return { body, destination: Int32Array.of(0xff020000 | 0, 0, 0, 2), ttl: linkTtl };
};

/** The host names itself as the better next hop to itself. */
const redirect = (options: IcmpRequestOptions, isV6: boolean) => {
  const { source } = options;
  if (!isV6) return { body: quotedPacket(options, false), word: source[3] as number };
  const memory = createMemory(32);
  writeAddress6(memory.view, 0, source, 0);
  writeAddress6(memory.view, 16, source, 0);
  return { body: memory.bytes, ttl: linkTtl };
};

/** The beginning of a UDP datagram of the target to the host, as an error message quotes it. */
const quotedPacket = ({ source, target, size }: IcmpRequestOptions, isV6: boolean): Uint8Array => {
  const headers = (isV6 ? ipv6Bytes : ipv4Bytes) + 8;
  const memory = createMemory(Math.max(size, headers));
  const { view, bytes } = memory;
  const protocol = ipProtocol.udp;
  if (isV6) {
    const payloadLength = bytes.length - ipv6Bytes;
    writeIpv6(view, 0, { trafficClass: 0, flowLabel: 0, payloadLength, protocol, hopLimit: 64 });
    writeAddress6(view, 8, target, 0);
    writeAddress6(view, 24, source, 0);
  } else {
    writeIpv4(view, 0, {
      ...{ tos: 0, length: bytes.length, identification: 0, fragment: 0, ttl: 64, protocol },
      ...{ source: target[3] as number, destination: source[3] as number },
    });
  }
  const at = headers - 8;
  view.setUint16(at, quotedPorts[0]);
  view.setUint16(at + 2, quotedPorts[1]);
  view.setUint16(at + 4, bytes.length - at);
  return bytes;
};
