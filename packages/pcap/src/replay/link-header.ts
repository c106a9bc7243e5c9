import { putU16, u8, u16 } from '../bytes.ts';
import type { Frame } from '../dissect/frame.ts';
import { LINK_ETHERNET } from '../read/link-type.ts';
import type { Packet } from '../read/packet.ts';
import { isSpecial } from './frame-ends.ts';
import type { ReplayRules } from './replay-rules.ts';

const MACS = 12;
const TAG = 4;
const VLAN_TYPE = 0x8100;

/** Where the rest of an Ethernet frame begins, behind addresses and tags. */
const restOf = (frame: Frame): number => frame.linkStart + MACS + frame.tagBytes;

/**
 * Writes `packet` at `at` of `out` as an Ethernet frame of its true length, what was not captured being zeros. Other
 * link headers become an Ethernet header. Gives back the length; 0 when this cannot be a frame.
 */
export function writeFrame(
  frame: Frame,
  packet: Packet,
  rules: ReplayRules,
  { out, at }: { out: Uint8Array; at: number },
): number {
  const isEthernet = frame.linkType === LINK_ETHERNET;
  if (!frame.isLinkKnown || (isEthernet ? packet.length < 14 : frame.etherType < 0x600)) return 0;
  writeMacs(frame, rules, out, at);
  let next = at + MACS;
  if (rules.vlan === undefined) {
    if (isEthernet) next = copy(frame.bytes, packet.start + MACS, restOf(frame), out, next);
  } else if (rules.vlan > 0) {
    const priority = isEthernet && frame.tagBytes > 0 ? u16(frame.bytes, packet.start + MACS + 2) & 0xf000 : 0;
    putU16(out, next, VLAN_TYPE);
    putU16(out, next + 2, priority | rules.vlan);
    next += TAG;
  }
  if (!isEthernet) {
    putU16(out, next, frame.etherType);
    next += 2;
  }
  const rest = isEthernet ? restOf(frame) : frame.networkStart;
  next = copy(frame.bytes, rest, frame.end, out, next);
  const missing = Math.max(0, packet.wireLength - packet.length);
  out.fill(0, next, next + missing);
  return next + missing - at;
}

function copy(from: Uint8Array, start: number, end: number, out: Uint8Array, at: number): number {
  out.set(from.subarray(start, end), at);
  return at + end - start;
}

function writeMacs(frame: Frame, { macs, keepsMacs }: ReplayRules, out: Uint8Array, at: number): void {
  const { bytes, linkStart } = frame;
  const isEthernet = frame.linkType === LINK_ETHERNET;
  if (isEthernet && keepsMacs) {
    out.set(bytes.subarray(linkStart, linkStart + MACS), at);
    return;
  }
  out.set(macs.destination, at);
  out.set(macs.source, at + 6);
  // Multicast and broadcast MACs are kept.
  if (!isEthernet) writeGroupMac(frame, out, at);
  else if ((u8(bytes, linkStart) & 1) === 1) out.set(bytes.subarray(linkStart, linkStart + 6), at);
}

function writeGroupMac({ bytes, ipVersion, destination }: Frame, out: Uint8Array, at: number): void {
  const first = ipVersion === 0 ? 0 : u8(bytes, destination);
  if (ipVersion === 4 && first === 255 && isSpecial(bytes, destination, 4)) out.fill(0xff, at, at + 6);
  else if (ipVersion === 4 && first >>> 4 === 14) {
    out.set(
      [1, 0, 0x5e, u8(bytes, destination + 1) & 0x7f, u8(bytes, destination + 2), u8(bytes, destination + 3)],
      at,
    );
  } else if (ipVersion === 6 && first === 0xff) {
    out.set([0x33, 0x33, ...bytes.subarray(destination + 12, destination + 16)], at);
  }
}
