import { i32, u8, u16 } from '../bytes.ts';
import type { Frame } from './frame.ts';
import { ETHERTYPE_IPV4, ETHERTYPE_IPV6 } from './link-layer.ts';

const MAX_EXTENSION_HEADERS = 16;
const HOP_BY_HOP = 0;
const ROUTING = 43;
const FRAGMENT = 44;
const AUTHENTICATION = 51;
const DESTINATION_OPTIONS = 60;
const MOBILITY = 135;

/** Sets the IP members; ipVersion stays 0 if the header is truncated or invalid. */
export function readNetworkLayer(frame: Frame): void {
  frame.ipVersion = 0;
  frame.isFragment = false;
  frame.fragmentOffset = 0;
  frame.hasMoreFragments = false;
  frame.hasAddressesInside = false;
  if (frame.etherType === ETHERTYPE_IPV4) readIpv4(frame);
  else if (frame.etherType === ETHERTYPE_IPV6) readIpv6(frame);
}

function readIpv4(frame: Frame): void {
  const { bytes, end, networkStart: at } = frame;
  if (at + 20 > end) return;
  const first = u8(bytes, at);
  const headerLength = (first & 15) * 4;
  if (first >>> 4 !== 4 || headerLength < 20 || at + headerLength > end) return;
  // Segmentation offload leaves the total length zero: the frame itself is then the measure.
  const totalLength = u16(bytes, at + 2) || end - at;
  if (totalLength < headerLength) return;
  frame.ipVersion = 4;
  frame.source = at + 12;
  frame.destination = at + 16;
  frame.protocol = u8(bytes, at + 9);
  const fragmentWord = u16(bytes, at + 6);
  if ((fragmentWord & 0x3fff) !== 0) {
    frame.isFragment = true;
    frame.fragmentId = u16(bytes, at + 4);
    frame.fragmentOffset = (fragmentWord & 0x1fff) * 8;
    frame.hasMoreFragments = (fragmentWord & 0x2000) !== 0;
  }
  setTransport(frame, at + headerLength, at + totalLength);
  if (frame.protocol === AUTHENTICATION && !frame.isFragment) readExtensions(frame, at + totalLength);
}

function readIpv6(frame: Frame): void {
  const { bytes, end, networkStart: at } = frame;
  if (at + 40 > end || u8(bytes, at) >>> 4 !== 6) return;
  frame.ipVersion = 6;
  frame.source = at + 8;
  frame.destination = at + 24;
  frame.protocol = u8(bytes, at + 6);
  // Zero means a jumbogram or segmentation offload: the frame itself is then the measure.
  const payloadLength = u16(bytes, at + 4) || end - at - 40;
  setTransport(frame, at + 40, at + 40 + payloadLength);
  readExtensions(frame, at + 40 + payloadLength);
}

/** Points `frame` at a reassembled datagram and reads the headers that were split with it. */
export function readWholeDatagram(frame: Frame, start: number, finish: number): void {
  setTransport(frame, start, finish);
  if (frame.ipVersion === 6 || frame.protocol === AUTHENTICATION) readExtensions(frame, finish);
}

function setTransport(frame: Frame, start: number, finish: number): void {
  frame.transportStart = start;
  frame.transportLength = Math.max(0, finish - start);
  frame.captured = Math.max(0, Math.min(finish, frame.end) - start);
}

function readExtensions(frame: Frame, finish: number): void {
  for (let count = 0; count < MAX_EXTENSION_HEADERS; count++) {
    const at = frame.transportStart;
    const length = extensionLength(frame, at);
    // Beyond the fragment header lies a part of the datagram: it is read once the datagram is whole.
    if (length === 0 || frame.isFragment) return;
    if (frame.protocol === FRAGMENT) readFragmentHeader(frame, at);
    else if (frame.protocol !== HOP_BY_HOP && frame.protocol !== AUTHENTICATION) frame.hasAddressesInside = true;
    frame.protocol = u8(frame.bytes, at);
    setTransport(frame, at + length, finish);
  }
}

/** 0 when the next header is no extension or was not captured. */
function extensionLength(frame: Frame, at: number): number {
  if (frame.captured < 8) return 0;
  switch (frame.protocol) {
    case HOP_BY_HOP:
    case ROUTING:
    case DESTINATION_OPTIONS:
    case MOBILITY:
      return (u8(frame.bytes, at + 1) + 1) * 8;
    case AUTHENTICATION:
      return (u8(frame.bytes, at + 1) + 2) * 4;
    case FRAGMENT:
      return 8;
    default:
      return 0;
  }
}

function readFragmentHeader(frame: Frame, at: number): void {
  const word = u16(frame.bytes, at + 2);
  frame.fragmentOffset = word & 0xfff8;
  frame.hasMoreFragments = (word & 1) === 1;
  // An atomic fragment is a whole datagram.
  frame.isFragment = frame.fragmentOffset > 0 || frame.hasMoreFragments;
  frame.fragmentId = i32(frame.bytes, at + 4);
}
