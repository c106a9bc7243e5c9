import { checksumOf, isSumValid, sumBytes } from '../bytes/checksum.ts';
import type { Memory } from '../bytes/memory.ts';

export const ipv4Bytes = 20;
export const dontFragment = 0x4000;
export const moreFragments = 0x2000;
export const fragmentOffsetMask = 0x1fff;

/** An IPv4 header (RFC 791), parsed into one object that is used again. */
export class Ipv4Header {
  protocol = 0;
  ttl = 0;
  tos = 0;
  identification = 0;
  /** Flags and fragment offset in units of 8 bytes, as they stand in the header. */
  fragment = 0;
  source = 0;
  destination = 0;
  payload = 0;
  end = 0;

  /** Reads the header; bytes behind the packet (Ethernet padding) are left out. Returns false if it cannot be valid. */
  parse(memory: Memory, start: number, end: number, checks: boolean): boolean {
    const { view } = memory;
    if (end - start < ipv4Bytes) return false;
    const first = view.getUint8(start);
    const headerLength = (first & 15) << 2;
    const total = view.getUint16(start + 2);
    if (first >>> 4 !== 4 || headerLength < ipv4Bytes || total < headerLength || start + total > end) return false;
    if (checks && !isSumValid(sumBytes(memory, start, start + headerLength))) return false;
    this.tos = view.getUint8(start + 1);
    this.identification = view.getUint16(start + 4);
    this.fragment = view.getUint16(start + 6);
    this.ttl = view.getUint8(start + 8);
    this.protocol = view.getUint8(start + 9);
    this.source = view.getInt32(start + 12);
    this.destination = view.getInt32(start + 16);
    this.payload = start + headerLength;
    this.end = start + total;
    return true;
  }

  get isFragment(): boolean {
    return (this.fragment & (moreFragments | fragmentOffsetMask)) !== 0;
  }
}

export interface Ipv4Fields {
  tos: number;
  length: number;
  identification: number;
  fragment: number;
  ttl: number;
  protocol: number;
  source: number;
  destination: number;
}

/** Writes a header without options, checksum included. */
export const writeIpv4 = (view: DataView, at: number, fields: Ipv4Fields): void => {
  const { source, destination } = fields;
  const first = 0x4500 | fields.tos;
  const life = (fields.ttl << 8) | fields.protocol;
  const addresses = (source >>> 16) + (source & 0xffff) + (destination >>> 16) + (destination & 0xffff);
  view.setUint16(at, first);
  view.setUint16(at + 2, fields.length);
  view.setUint16(at + 4, fields.identification);
  view.setUint16(at + 6, fields.fragment);
  view.setUint16(at + 8, life);
  view.setUint16(
    at + 10,
    checksumOf(first + fields.length + fields.identification + fields.fragment + life + addresses),
  );
  view.setInt32(at + 12, source);
  view.setInt32(at + 16, destination);
};
