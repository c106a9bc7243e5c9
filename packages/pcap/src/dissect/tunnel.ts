import { i32, u8, u16 } from '../bytes.ts';
import { LINK_ETHERNET, LINK_PPP, LINK_RAW } from '../read/link-type.ts';
import { dissectLayers } from './dissect.ts';
import { Frame, UDP } from './frame.ts';
import { ETHERTYPE_IPV4, ETHERTYPE_IPV6 } from './link-layer.ts';

const IP_IN_IP = 4;
const IPV6_IN_IP = 41;
const GRE = 47;
const VXLAN_PORTS = [4789, 8472];
const GENEVE_PORT = 6081;
const TEREDO_PORT = 3544;
const ETHERTYPE_BRIDGED = 0x6558;
const ETHERTYPE_ERSPAN = 0x88be;
const ETHERTYPE_PPTP = 0x880b;
const MAX_DEPTH = 4;

/** Whether an IP protocol carries other IP packets. */
export function isTunnelProtocol(protocol: number): boolean {
  return protocol === GRE || protocol === IP_IN_IP || protocol === IPV6_IN_IP;
}

/** Whether a UDP frame is VXLAN, Geneve or Teredo: by its port and the fixed bits of the header. */
export function isTunnel(frame: Frame): boolean {
  return frame.hasPorts && frame.protocol === UDP && contentOfUdp(frame) !== undefined;
}

/** What a tunnel header is followed by: an Ethernet frame, an IP packet or a PPP frame. */
interface Content {
  readonly linkType: number;
  readonly start: number;
}

/** Opens tunnels. Frames are reused: the result is valid until the next call. */
export class TunnelReader {
  readonly #frames = Array.from({ length: MAX_DEPTH }, () => new Frame());

  /** The TCP or UDP frame inside all tunnels of `outer`, or a fragment of it; undefined when there is none. */
  inside(outer: Frame): Frame | undefined {
    let frame = outer;
    for (const inner of this.#frames) {
      const content = contentOf(frame);
      if (content === undefined) break;
      inner.bytes = frame.bytes;
      inner.linkType = content.linkType;
      inner.linkStart = content.start;
      inner.end = Math.min(frame.end, frame.transportStart + frame.transportLength);
      dissectLayers(inner);
      frame = inner;
    }
    return frame !== outer && (frame.hasPorts || frame.isFragment) ? frame : undefined;
  }
}

function contentOf(frame: Frame): Content | undefined {
  if (frame.ipVersion === 0 || frame.isFragment) return undefined;
  if (frame.hasPorts) return frame.protocol === UDP ? contentOfUdp(frame) : undefined;
  if (frame.protocol === IP_IN_IP || frame.protocol === IPV6_IN_IP) {
    return { linkType: LINK_RAW, start: frame.transportStart };
  }
  return frame.protocol === GRE ? contentOfGre(frame) : undefined;
}

function contentOfGre({ bytes, transportStart: at, captured }: Frame): Content | undefined {
  if (captured < 8) return undefined;
  const flags = u16(bytes, at);
  const version = flags & 7;
  const type = u16(bytes, at + 2);
  const sequenceBytes = (flags & 0x1000) === 0 ? 0 : 4;
  const keyBytes = (flags & 0x2000) === 0 ? 0 : 4;
  // Version 1 is PPTP: acknowledgements instead of checksums, and PPP inside.
  if (version === 1 && type === ETHERTYPE_PPTP) {
    return { linkType: LINK_PPP, start: at + 4 + keyBytes + sequenceBytes + ((flags & 0x80) === 0 ? 0 : 4) };
  }
  // Source routing (0x4000) is deprecated and of variable length.
  if (version !== 0 || (flags & 0x4000) !== 0) return undefined;
  const start = at + 4 + ((flags & 0x8000) === 0 ? 0 : 4) + keyBytes + sequenceBytes;
  // ERSPAN type II has a sequence number and a header of 8 bytes, type I has neither.
  if (type === ETHERTYPE_ERSPAN) return { linkType: LINK_ETHERNET, start: sequenceBytes === 0 ? start : start + 8 };
  return contentOfType(type, start);
}

function contentOfType(type: number, start: number): Content | undefined {
  if (type === ETHERTYPE_BRIDGED) return { linkType: LINK_ETHERNET, start };
  return type === ETHERTYPE_IPV4 || type === ETHERTYPE_IPV6 ? { linkType: LINK_RAW, start } : undefined;
}

function contentOfUdp(frame: Frame): Content | undefined {
  const { bytes, payloadStart: at, payloadCaptured, destinationPort, sourcePort } = frame;
  if (payloadCaptured < 8) return undefined;
  if (VXLAN_PORTS.includes(destinationPort)) {
    return (i32(bytes, at) & 0x08000000) === 0 ? undefined : { linkType: LINK_ETHERNET, start: at + 8 };
  }
  if (destinationPort === GENEVE_PORT) {
    if (u8(bytes, at) >>> 6 !== 0) return undefined;
    return contentOfType(u16(bytes, at + 2), at + 8 + (u8(bytes, at) & 63) * 4);
  }
  return sourcePort === TEREDO_PORT || destinationPort === TEREDO_PORT ? contentOfTeredo(frame) : undefined;
}

/** An authentication and an origin header may precede the IPv6 packet (RFC 4380, 5.1.1). */
function contentOfTeredo({ bytes, payloadStart, payloadCaptured }: Frame): Content | undefined {
  const end = payloadStart + payloadCaptured;
  let at = payloadStart;
  if (at + 13 <= end && u16(bytes, at) === 1) at += 13 + u8(bytes, at + 2) + u8(bytes, at + 3);
  if (at + 8 <= end && u16(bytes, at) === 0) at += 8;
  if (at + 40 > end || u8(bytes, at) >>> 4 !== 6) return undefined;
  return { linkType: LINK_RAW, start: at };
}
