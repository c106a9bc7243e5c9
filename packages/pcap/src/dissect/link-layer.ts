import { i32, u8, u16 } from '../bytes.ts';
import {
  LINK_C_HDLC,
  LINK_ETHERNET,
  LINK_IPV4,
  LINK_IPV6,
  LINK_LOOP,
  LINK_NULL,
  LINK_PPP,
  LINK_PPP_HDLC,
  LINK_RAW,
  LINK_RAW_BSD,
  LINK_SLL,
  LINK_SLL2,
} from '../read/link-type.ts';
import type { Frame } from './frame.ts';

export const ETHERTYPE_IPV4 = 0x0800;
export const ETHERTYPE_ARP = 0x0806;
export const ETHERTYPE_IPV6 = 0x86dd;
const ETHERTYPE_PPPOE_SESSION = 0x8864;
const ETHERTYPE_BRIDGE_PORT = 0x893f;
const MAX_TAGS = 8;
const VLAN_TAG = 4;
/** E-TAG of IEEE 802.1BR. */
const BRIDGE_PORT_TAG = 8;
const AF_INET = 2;

/** Sets etherType, networkStart and tags; leaves etherType 0 when the header is cut or strange. */
export function readLinkLayer(frame: Frame): void {
  frame.isLinkKnown = true;
  frame.etherType = 0;
  frame.vlanTags = 0;
  frame.tagBytes = 0;
  if (frame.linkType === LINK_ETHERNET) readEtherType(frame, frame.linkStart + 12);
  else readOtherLink(frame);
}

function readOtherLink(frame: Frame): void {
  const at = frame.linkStart;
  switch (frame.linkType) {
    case LINK_NULL:
    case LINK_LOOP:
      readAddressFamily(frame, at);
      break;
    case LINK_RAW:
    case LINK_RAW_BSD:
    case LINK_IPV4:
    case LINK_IPV6:
      readBareIp(frame, at);
      break;
    case LINK_SLL:
      readEtherType(frame, at + 14);
      break;
    case LINK_SLL2:
      readSll2(frame, at);
      break;
    case LINK_PPP:
    case LINK_PPP_HDLC:
      readPppLink(frame, at);
      break;
    case LINK_C_HDLC:
      readEtherType(frame, at + 2);
      break;
    default:
      frame.isLinkKnown = false;
  }
}

function readEtherType(frame: Frame, start: number): void {
  const { bytes, end } = frame;
  let at = start;
  if (at + 2 > end) return;
  let type = u16(bytes, at);
  for (let tags = 0; tags < MAX_TAGS; tags++) {
    const length = tagLength(type);
    if (length === 0 || at + length + 2 > end) break;
    if (length === VLAN_TAG) frame.vlanTags++;
    frame.tagBytes += length;
    at += length;
    type = u16(bytes, at);
  }
  frame.etherType = type;
  frame.networkStart = at + 2;
  if (type === ETHERTYPE_PPPOE_SESSION) readPpp(frame, at + 8);
  else if (type < 0x600) readSnap(frame, at + 2);
}

/** 0 when the type is no tag. */
function tagLength(type: number): number {
  if (isVlanTag(type)) return VLAN_TAG;
  return type === ETHERTYPE_BRIDGE_PORT ? BRIDGE_PORT_TAG : 0;
}

function isVlanTag(type: number): boolean {
  return type === 0x8100 || type === 0x88a8 || type === 0x9100 || type === 0x9200;
}

function readSnap(frame: Frame, at: number): void {
  const { bytes, end } = frame;
  frame.etherType = 0;
  if (at + 8 > end || u16(bytes, at) !== 0xaaaa || u8(bytes, at + 2) !== 3) return;
  frame.etherType = u16(bytes, at + 6);
  frame.networkStart = at + 8;
}

/** The family is in the byte order of the machine that captured; only the low half is ever used. */
function readAddressFamily(frame: Frame, at: number): void {
  if (at + 4 > frame.end) return;
  const value = i32(frame.bytes, at) >>> 0;
  const family = value > 0xffff ? u8(frame.bytes, at) | (u8(frame.bytes, at + 1) << 8) : value;
  // 10, 24, 28 and 30 are the IPv6 families of Linux, NetBSD, FreeBSD and macOS.
  if (family === AF_INET) frame.etherType = ETHERTYPE_IPV4;
  else if (family === 10 || family === 24 || family === 28 || family === 30) frame.etherType = ETHERTYPE_IPV6;
  frame.networkStart = at + 4;
}

function readBareIp(frame: Frame, at: number): void {
  if (at >= frame.end) return;
  const version = u8(frame.bytes, at) >>> 4;
  if (version === 4) frame.etherType = ETHERTYPE_IPV4;
  else if (version === 6) frame.etherType = ETHERTYPE_IPV6;
  frame.networkStart = at;
}

function readSll2(frame: Frame, at: number): void {
  if (at + 20 > frame.end) return;
  const type = u16(frame.bytes, at);
  if (!isVlanTag(type)) {
    frame.etherType = type;
    frame.networkStart = at + 20;
  } else if (at + 24 <= frame.end) {
    frame.vlanTags++;
    readEtherType(frame, at + 22);
  }
}

/** Cisco HDLC framing carries an EtherType instead of a PPP protocol. */
function readPppLink(frame: Frame, at: number): void {
  const lead = at + 4 <= frame.end ? u16(frame.bytes, at) : 0;
  if (lead === 0x0f00 || lead === 0x8f00) readEtherType(frame, at + 2);
  else readPpp(frame, at);
}

function readPpp(frame: Frame, start: number): void {
  const { bytes, end } = frame;
  let at = start;
  if (at + 4 > end) return;
  if (u16(bytes, at) === 0xff03) at += 2;
  const isCompressed = (u8(bytes, at) & 1) === 1;
  const protocol = isCompressed ? u8(bytes, at) : u16(bytes, at);
  frame.networkStart = at + (isCompressed ? 1 : 2);
  if (protocol === 0x21) frame.etherType = ETHERTYPE_IPV4;
  else if (protocol === 0x57) frame.etherType = ETHERTYPE_IPV6;
}
