import { i32, u8, u16 } from '../bytes.ts';
import { type Frame, TCP, UDP } from '../dissect/frame.ts';
import { ETHERTYPE_ARP } from '../dissect/link-layer.ts';

const ICMP = 1;
const ICMPV6 = 58;
/** Captured bytes of a frame that a key covers at most. */
export const KEY_BYTES = 384;
const MAX_CONTENT_BYTES = 64;
// Errors quote a packet whose addresses may be others here; discovery names neighbours.
const ICMP_QUOTING = new Set([3, 4, 5, 11, 12]);
const ICMPV6_QUOTING = new Set([1, 2, 3, 4, 135, 136, 137]);

/** Two hashes combined into 53 bits, so that foreign frames do not match by chance. */
class Digest {
  #low = 0x811c9dc5 | 0;
  #high = 0x1b873593 | 0;

  add(word: number): void {
    const low = Math.imul(this.#low ^ word, 0x85ebca6b);
    this.#low = low ^ (low >>> 13);
    const high = Math.imul(this.#high ^ word, 0xc2b2ae35);
    this.#high = (high << 5) | (high >>> 27);
  }

  addBytes(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    for (; at + 4 <= end; at += 4) this.add(i32(bytes, at));
    for (; at < end; at++) this.add(u8(bytes, at));
  }

  take(): number {
    const key = (this.#low >>> 0) * 0x20_0000 + (this.#high >>> 11);
    this.#low = 0x811c9dc5 | 0;
    this.#high = 0x1b873593 | 0;
    return key;
  }
}

const digest = new Digest();

/**
 * A number for what a frame carries. It leaves out what changes on the way or from time to time: MAC addresses, tags,
 * IP header, ports, checksums and TCP options. Equal frames have equal keys.
 */
export function contentKeyOf(frame: Frame): number {
  digest.add(frame.ipVersion === 0 ? frame.etherType : frame.ipVersion * 256 + frame.protocol);
  if (frame.ipVersion === 0) addOther(frame);
  else if (frame.isFragment) addFragment(frame);
  else if (frame.hasPorts && frame.protocol === TCP) addTcp(frame);
  else if (frame.hasPorts) addPayload(frame);
  else addDatagram(frame);
  return digest.take();
}

function addOther({ bytes, networkStart, linkStart, end, etherType }: Frame): void {
  if (etherType === ETHERTYPE_ARP && networkStart + 8 <= end) digest.add(u16(bytes, networkStart + 6));
  else {
    const start = etherType === 0 ? linkStart + 14 : networkStart;
    digest.addBytes(bytes, start, Math.min(end, start + MAX_CONTENT_BYTES / 2));
  }
}

function addFragment(frame: Frame): void {
  const { bytes, transportStart, captured } = frame;
  digest.add(frame.fragmentId);
  digest.add(frame.fragmentOffset);
  digest.add(frame.transportLength);
  // Ports, and the checksum of UDP.
  const skipped = frame.fragmentOffset === 0 ? 8 : 0;
  const isTcpStart = skipped > 0 && frame.protocol === TCP;
  if (!isTcpStart)
    digest.addBytes(bytes, transportStart + skipped, transportStart + Math.min(captured, MAX_CONTENT_BYTES));
}

function addTcp(frame: Frame): void {
  digest.add(frame.sequence);
  digest.add(frame.acknowledgement);
  digest.add(frame.flags);
  digest.add(frame.window);
  addPayload(frame);
}

function addPayload({ bytes, payloadStart, payloadLength, payloadCaptured }: Frame): void {
  digest.add(payloadLength);
  digest.addBytes(bytes, payloadStart, payloadStart + Math.min(payloadCaptured, MAX_CONTENT_BYTES));
}

function addDatagram(frame: Frame): void {
  const { bytes, transportStart: at, captured, protocol } = frame;
  digest.add(frame.transportLength);
  const isIcmp = (protocol === ICMP || protocol === ICMPV6) && captured >= 4;
  if (isIcmp) {
    const type = u8(bytes, at);
    digest.add(u16(bytes, at));
    if ((protocol === ICMP ? ICMP_QUOTING : ICMPV6_QUOTING).has(type)) return;
  }
  // Cut TCP and UDP headers say nothing that lasts.
  if (protocol === TCP || protocol === UDP) return;
  digest.addBytes(bytes, at + (isIcmp ? 4 : 0), at + Math.min(captured, MAX_CONTENT_BYTES));
}
