import { putU16, u8, u16 } from '../bytes.ts';
import { adjustedChecksum, checksumOf, pseudoHeaderSum, sumOf } from '../checksum.ts';
import { dissect } from '../dissect/dissect.ts';
import { addressBytesOf, Frame, TCP, UDP } from '../dissect/frame.ts';
import { formatAddress, parseAddress } from '../dissect/ip-address.ts';
import { ETHERTYPE_ARP } from '../dissect/link-layer.ts';
import { isTunnel } from '../dissect/tunnel.ts';
import { LINK_ETHERNET, LINK_SLL, LINK_SLL2 } from '../read/link-type.ts';
import type { Packet } from '../read/packet.ts';
import { AddressMap } from './address-map.ts';

const ICMP = 1;
const ICMPV6 = 58;

export interface AnonymiseOptions {
  readonly ips?: boolean;
  readonly macs?: boolean;
}

/** Rewrites the addresses in the headers of packets. Payload is left as it is, whatever it may name. */
export class Anonymiser {
  readonly #options: AnonymiseOptions;
  readonly #addresses = new AddressMap();
  readonly #frame = new Frame();

  constructor(options: AnonymiseOptions) {
    this.#options = options;
  }

  /** The packet with new addresses, or null if it may contain addresses at unknown offsets. */
  rewritten(packet: Packet): Packet | null {
    const bytes = packet.bytes.slice(packet.start, packet.start + packet.length);
    const copy = { ...packet, bytes, start: 0 };
    const frame = this.#frame;
    dissect(frame, copy);
    if (this.#options.macs === true) this.#rewriteLink(frame);
    if (frame.etherType === ETHERTYPE_ARP) return this.#rewriteArp(frame) ? copy : null;
    if (!isUnderstood(frame)) return null;
    if (this.#options.ips === true) this.#rewriteIp(frame);
    return copy;
  }

  /** Text form of an address after the rewriting. */
  address(text: string): string {
    const bytes = parseAddress(text);
    if (this.#options.ips !== true) return text;
    const count = bytes.length === 4 ? 4 : 16;
    return formatAddress(this.#addresses.ip(bytes, 0, count), 0, count);
  }

  #rewriteLink(frame: Frame): void {
    const { bytes, linkType, end } = frame;
    if (linkType === LINK_ETHERNET && end >= 12) {
      this.#putMac(bytes, 0);
      this.#putMac(bytes, 6);
    } else if (linkType === LINK_SLL && end >= 16) {
      this.#putSllAddress(bytes, 6, u16(bytes, 4));
    } else if (linkType === LINK_SLL2 && end >= 20) {
      this.#putSllAddress(bytes, 12, u8(bytes, 11));
    }
  }

  #putSllAddress(bytes: Uint8Array, at: number, length: number): void {
    if (length === 6) this.#putMac(bytes, at);
    else bytes.fill(0, at, at + 8);
  }

  #putMac(bytes: Uint8Array, at: number): void {
    bytes.set(this.#addresses.mac(bytes, at), at);
  }

  /** Ethernet and IPv4 only; other kinds of ARP are not understood. */
  #rewriteArp(frame: Frame): boolean {
    const { bytes, networkStart: at, end } = frame;
    if (at + 28 > end || u16(bytes, at + 2) !== 0x0800 || u16(bytes, at + 4) !== 0x0604) return false;
    for (const part of [at + 8, at + 18]) {
      if (this.#options.macs === true) this.#putMac(bytes, part);
      if (this.#options.ips === true) bytes.set(this.#addresses.ip(bytes, part + 6, 4), part + 6);
    }
    return true;
  }

  #rewriteIp(frame: Frame): void {
    const { bytes, source, destination } = frame;
    const count = addressBytesOf(frame);
    const before = sumOf(bytes, source, source + count) + sumOf(bytes, destination, destination + count);
    for (const at of [source, destination]) bytes.set(this.#addresses.ip(bytes, at, count), at);
    if (frame.ipVersion === 4) finishIpv4Header(frame);
    finishTransport(frame, before);
  }
}

function isUnderstood(frame: Frame): boolean {
  const { protocol } = frame;
  if (frame.ipVersion === 0 || frame.hasAddressesInside) return false;
  if (frame.isFragment) return protocol === TCP || protocol === UDP;
  if (frame.hasPorts) return protocol === TCP || !isTunnel(frame);
  if (frame.captured < 8) return false;
  const type = u8(frame.bytes, frame.transportStart);
  // Only echo messages carry no address.
  if (protocol === ICMP) return frame.ipVersion === 4 && (type === 0 || type === 8);
  return protocol === ICMPV6 && frame.ipVersion === 6 && (type === 128 || type === 129);
}

/** Options may record a route: they are overwritten with no-operations. */
function finishIpv4Header(frame: Frame): void {
  const { bytes, networkStart: at } = frame;
  const length = (u8(bytes, at) & 15) * 4;
  bytes.fill(1, at + 20, at + length);
  putU16(bytes, at + 10, 0);
  putU16(bytes, at + 10, checksumOf(sumOf(bytes, at, at + length)));
}

/** Computed anew where the whole packet is there; otherwise adjusted by what changed in the addresses. */
function finishTransport(frame: Frame, sumBefore: number): void {
  const { bytes, transportStart: start, protocol } = frame;
  const at = start + checksumOffset(protocol);
  if (frame.fragmentOffset > 0 || at < start || at + 2 > start + frame.captured) return;
  const isUdp = protocol === UDP;
  const present = u16(bytes, at);
  if (isUdp && frame.ipVersion === 4 && present === 0) return;
  const count = addressBytesOf(frame);
  const length = isUdp && frame.hasPorts ? frame.payloadLength + 8 : frame.transportLength;
  const sumAfter =
    sumOf(bytes, frame.source, frame.source + count) + sumOf(bytes, frame.destination, frame.destination + count);
  let checksum = adjustedChecksum(present, sumBefore, sumAfter);
  if (!frame.isFragment && frame.captured >= length) {
    putU16(bytes, at, 0);
    const pseudo = pseudoHeaderSum(bytes.subarray(0, 0), protocol, length) + sumAfter;
    checksum = checksumOf(pseudo + sumOf(bytes, start, start + length));
  }
  putU16(bytes, at, isUdp && checksum === 0 ? 0xffff : checksum);
}

/** Negative where the checksum does not cover addresses. */
function checksumOffset(protocol: number): number {
  if (protocol === TCP) return 16;
  if (protocol === UDP) return 6;
  return protocol === ICMPV6 ? 2 : -1;
}
