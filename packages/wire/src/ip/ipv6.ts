import type { Memory } from '../bytes/memory.ts';
import { ipProtocol } from './header-fields.ts';

export const ipv6Bytes = 40;
export const fragmentHeaderBytes = 8;
const extension = { hopByHop: 0, routing: 43, fragment: 44, noNext: 59, destination: 60, authentication: 51 } as const;
const maxExtensions = 8;

/** An IPv6 header with its extension headers (RFC 8200), parsed into one object that is used again. */
export class Ipv6Header {
  /** Of the upper layer, after all extension headers. */
  protocol = 0;
  hopLimit = 0;
  trafficClass = 0;
  flowLabel = 0;
  isFragment = false;
  /** Units of 8 bytes × 8 + more-fragments bit, as they stand in the fragment header. */
  fragment = 0;
  identification = 0;
  payload = 0;
  end = 0;

  parse({ view }: Memory, start: number, end: number): boolean {
    if (end - start < ipv6Bytes) return false;
    const first = view.getInt32(start);
    if (first >>> 28 !== 6) return false;
    this.trafficClass = (first >>> 20) & 255;
    this.flowLabel = first & 0xfffff;
    this.end = start + ipv6Bytes + view.getUint16(start + 4);
    if (this.end > end) return false;
    this.protocol = view.getUint8(start + 6);
    this.hopLimit = view.getUint8(start + 7);
    this.payload = start + ipv6Bytes;
    this.isFragment = false;
    return this.#skipExtensions(view);
  }

  #skipExtensions(view: DataView): boolean {
    for (let count = 0; count < maxExtensions; count++) {
      const kind = this.protocol;
      const isFragment = kind === extension.fragment;
      const isOptions = kind === extension.hopByHop || kind === extension.routing || kind === extension.destination;
      if (!isFragment && !isOptions && kind !== extension.authentication) return kind !== extension.noNext;
      if (this.payload + 8 > this.end) return false;
      const units = view.getUint8(this.payload + 1);
      this.protocol = view.getUint8(this.payload);
      if (isFragment) {
        this.isFragment = true;
        this.fragment = view.getUint16(this.payload + 2);
        this.identification = view.getInt32(this.payload + 4);
        this.payload += fragmentHeaderBytes;
        // What follows in a fragment other than the first is not a header.
        return true;
      }
      this.payload += kind === extension.authentication ? (units + 2) * 4 : (units + 1) * 8;
      if (this.payload > this.end) return false;
    }
    return false;
  }
}

/** Writes a fixed header; addresses are the caller's. */
export const writeIpv6 = (
  view: DataView,
  at: number,
  fields: { trafficClass: number; flowLabel: number; payloadLength: number; protocol: number; hopLimit: number },
): void => {
  view.setInt32(at, (6 << 28) | (fields.trafficClass << 20) | fields.flowLabel);
  view.setUint16(at + 4, fields.payloadLength);
  view.setUint16(at + 6, (fields.protocol << 8) | fields.hopLimit);
};

export const writeFragmentHeader = (
  view: DataView,
  at: number,
  fields: { protocol: number; offset: number; isMore: boolean; identification: number },
): void => {
  view.setUint16(at, fields.protocol << 8);
  view.setUint16(at + 2, fields.offset | (fields.isMore ? 1 : 0));
  view.setInt32(at + 4, fields.identification);
};

export const fragmentProtocol = extension.fragment;
/** ICMP of the version. */
export const icmpOf = (isV6: boolean): number => (isV6 ? ipProtocol.icmp6 : ipProtocol.icmp);
