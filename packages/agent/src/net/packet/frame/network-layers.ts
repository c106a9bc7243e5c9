import { checksumOf, sumOf } from '@rushhour/pcap/checksum';
import { addressToNumber, numberToAddress } from '../../addresses/address-range.ts';
import type { Layer } from './layer.ts';

/** 4 or 16 bytes of an address. */
export const addressBytes = (address: string): Buffer => {
  const width = address.includes(':') ? 32 : 8;
  return Buffer.from(addressToNumber(address).toString(16).padStart(width, '0'), 'hex');
};

export const addressText = (bytes: Uint8Array): string =>
  numberToAddress(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), bytes.length === 4 ? 4 : 6);

export interface IpFields {
  readonly source: string;
  readonly destination: string;
  /** Time to live, or hop limit. */
  readonly ttl: number;
  readonly dscp: number;
  readonly ecn: number;
  /** IPv4 only. */
  readonly isUnfragmentable: boolean;
  /** IPv6 only. */
  readonly flowLabel: number;
}

/** Default IP fields. */
export const plainIp = { ttl: 64, dscp: 0, ecn: 0, isUnfragmentable: false, flowLabel: 0 } as const;

const noNextHeader = 59;
const reserved = 255;

const ipv4Layer = (fields: IpFields): Layer => ({
  kind: 'ipv4',
  length: 20,
  etherType: 0x0800,
  ipProtocol: 4,
  write(frame, at, end, next) {
    frame.fill(0, at, at + 20);
    frame[at] = 0x45;
    frame[at + 1] = (fields.dscp << 2) | fields.ecn;
    frame.writeUInt16BE(end - at, at + 2);
    if (fields.isUnfragmentable) frame[at + 6] = 0x40;
    frame[at + 8] = fields.ttl;
    frame[at + 9] = next?.ipProtocol ?? reserved;
    frame.set(addressBytes(fields.source), at + 12);
    frame.set(addressBytes(fields.destination), at + 16);
    frame.writeUInt16BE(checksumOf(sumOf(frame, at, at + 20)), at + 10);
  },
});

const ipv6Layer = (fields: IpFields): Layer => ({
  kind: 'ipv6',
  length: 40,
  etherType: 0x86dd,
  ipProtocol: 41,
  write(frame, at, end, next) {
    const trafficClass = (fields.dscp << 2) | fields.ecn;
    frame.writeUInt32BE((0x6000_0000 + trafficClass * 0x10_0000 + fields.flowLabel) >>> 0, at);
    frame.writeUInt16BE(end - at - 40, at + 4);
    frame[at + 6] = next?.ipProtocol ?? noNextHeader;
    frame[at + 7] = fields.ttl;
    frame.set(addressBytes(fields.source), at + 8);
    frame.set(addressBytes(fields.destination), at + 24);
  },
});

/** IPv4 or IPv6, depending on the addresses. */
export const ipLayer = (fields: IpFields): Layer =>
  fields.destination.includes(':') ? ipv6Layer(fields) : ipv4Layer(fields);

/** GRE (RFC 2784), with an optional key (RFC 2890). */
export const greLayer = (key?: number): Layer => ({
  kind: 'gre',
  length: key === undefined ? 4 : 8,
  ipProtocol: 47,
  write(frame, at, _end, next) {
    frame.writeUInt16BE(key === undefined ? 0 : 0x2000, at);
    frame.writeUInt16BE(next?.etherType ?? 0, at + 2);
    if (key !== undefined) frame.writeUInt32BE(key, at + 4);
  },
});
