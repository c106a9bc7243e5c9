import { i32, putU16, putU32, u8, u16 } from '../bytes.ts';
import { dissectEthernet } from '../dissect/dissect.ts';
import { FIN, Frame, PSH, TCP } from '../dissect/frame.ts';
import { setIpv4Checksum, setTransportChecksum } from './frame-checksums.ts';

const CWR = 0x80;
const FRAGMENT_HEADER = 44;

const piece = new Frame();

/**
 * Cuts a frame whose IP packet is longer than `mtu`: TCP into segments as the sender's card would have, the rest into
 * fragments. Undefined when it cannot be cut.
 */
export function fitToMtu(frame: Frame, mtu: number): Uint8Array[] | undefined {
  if (frame.ipVersion === 0) return undefined;
  if (frame.hasPorts && frame.protocol === TCP && !frame.isFragment) return segmentsOf(frame, mtu);
  if (frame.ipVersion === 4) return ipv4Fragments(frame, mtu);
  return frame.transportStart === frame.networkStart + 40 ? ipv6Fragments(frame, mtu) : undefined;
}

function partsOf(length: number, maxBytes: number): { at: number; length: number; isLast: boolean }[] {
  return Array.from({ length: Math.ceil(length / maxBytes) }, (_, index) => {
    const at = index * maxBytes;
    return { at, length: Math.min(maxBytes, length - at), isLast: at + maxBytes >= length };
  });
}

function segmentsOf(frame: Frame, mtu: number): Uint8Array[] | undefined {
  const { bytes, linkStart, networkStart, payloadStart, payloadLength, transportStart, ipVersion } = frame;
  const maxBytes = mtu - (payloadStart - networkStart);
  if (maxBytes < 1) return undefined;
  const [head, network, transport] = [payloadStart, networkStart, transportStart].map((at) => at - linkStart) as [
    number,
    number,
    number,
  ];
  return partsOf(payloadLength, maxBytes).map((part, index) => {
    const out = new Uint8Array(head + part.length);
    out.set(bytes.subarray(linkStart, payloadStart));
    out.set(bytes.subarray(payloadStart + part.at, payloadStart + part.at + part.length), head);
    putU32(out, transport + 4, i32(bytes, transportStart + 4) + part.at);
    const flags = u8(bytes, transportStart + 13);
    out[transport + 13] = flags & ~(part.isLast ? 0 : FIN | PSH) & ~(index === 0 ? 0 : CWR);
    if (ipVersion === 4) {
      putU16(out, network + 2, out.length - network);
      putU16(out, network + 4, (u16(bytes, networkStart + 4) + index) & 0xffff);
      setIpv4Checksum(out, network);
    } else putU16(out, network + 4, out.length - network - 40);
    dissectEthernet(piece, out, 0, out.length);
    setTransportChecksum(piece, 0);
    return out;
  });
}

function ipv4Fragments(frame: Frame, mtu: number): Uint8Array[] | undefined {
  const { bytes, linkStart, networkStart, transportStart, transportLength } = frame;
  const maxBytes = (mtu - (transportStart - networkStart)) & ~7;
  // Authentication headers make the rest begin later than IP does.
  if (maxBytes < 8 || transportStart !== networkStart + (u8(bytes, networkStart) & 15) * 4) return undefined;
  const [head, network] = [transportStart - linkStart, networkStart - linkStart];
  return partsOf(transportLength, maxBytes).map((part) => {
    const out = new Uint8Array(head + part.length);
    out.set(bytes.subarray(linkStart, transportStart));
    out.set(bytes.subarray(transportStart + part.at, transportStart + part.at + part.length), head);
    putU16(out, network + 2, out.length - network);
    const hasMore = !part.isLast || frame.hasMoreFragments;
    putU16(out, network + 6, ((frame.fragmentOffset + part.at) >>> 3) | (hasMore ? 0x2000 : 0));
    setIpv4Checksum(out, network);
    return out;
  });
}

function ipv6Fragments(frame: Frame, mtu: number): Uint8Array[] | undefined {
  const { bytes, linkStart, networkStart, transportStart, transportLength, protocol } = frame;
  const maxBytes = (mtu - 48) & ~7;
  if (maxBytes < 8) return undefined;
  const [head, network] = [transportStart - linkStart, networkStart - linkStart];
  return partsOf(transportLength, maxBytes).map((part) => {
    const out = new Uint8Array(head + 8 + part.length);
    out.set(bytes.subarray(linkStart, transportStart));
    out.set(bytes.subarray(transportStart + part.at, transportStart + part.at + part.length), head + 8);
    putU16(out, network + 4, part.length + 8);
    out[network + 6] = FRAGMENT_HEADER;
    out[head] = protocol;
    putU16(out, head + 2, part.at | (part.isLast ? 0 : 1));
    // The identification must differ between datagrams in flight: derived from the content.
    putU32(out, head + 4, i32(bytes, transportStart) ^ i32(bytes, transportStart + 4) ^ (transportLength << 16));
    return out;
  });
}
