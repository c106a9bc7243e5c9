import { etherType } from '../ethernet/ethernet.ts';
import type { LinkCodec } from './link.ts';

export interface GeneveOption {
  readonly optionClass: number;
  /** With the critical bit (0x80) where the receiver must know the option. */
  readonly type: number;
  /** A multiple of four bytes, at most 124. */
  readonly data: Uint8Array;
}

const criticalType = 0x80;

const bytesOf = (options: readonly GeneveOption[]): Uint8Array => {
  const parts = options.flatMap(({ optionClass, type, data }) => {
    if (data.length % 4 !== 0 || data.length > 124)
      throw new RangeError('Geneve option data is 0 to 124 bytes, in fours');
    return [optionClass >>> 8, optionClass & 255, type, data.length / 4, ...data];
  });
  if (parts.length > 252) throw new RangeError('Geneve options exceed 252 bytes');
  return Uint8Array.from(parts);
};

/** Geneve (RFC 8926) with Ethernet inside. Received options are skipped, unknown critical ones make a packet not ours. */
export const createGeneve = ({
  network,
  port = 6081,
  options = [],
}: {
  network: number;
  port?: number;
  options?: readonly GeneveOption[];
}): LinkCodec => {
  const optionBytes = bytesOf(options);
  const headerLength = 8 + optionBytes.length;
  const known = new Set(options.map(({ optionClass, type }) => optionClass * 256 + type));
  const isCritical = options.some(({ type }) => (type & criticalType) !== 0);
  return {
    name: 'geneve',
    carrier: { kind: 'udp', port },
    payload: 'ethernet',
    headerLength,
    id: network,
    idAt: ({ view }, start, end) => (end - start < 8 ? -1 : view.getInt32(start + 4) >>> 8),
    wrap({ view, bytes }, start) {
      const at = start - headerLength;
      view.setUint16(at, (optionBytes.length << 6) | (isCritical ? 0x40 : 0));
      view.setUint16(at + 2, etherType.bridged);
      view.setInt32(at + 4, network << 8);
      if (optionBytes.length > 0) bytes.set(optionBytes, at + 8);
      return at;
    },
    unwrap({ view }, start, end) {
      if (end - start < 8) return -1;
      const first = view.getUint16(start);
      const payload = start + 8 + ((first >>> 8) & 0x3f) * 4;
      // Version 0, no control packet.
      if (first >>> 14 !== 0 || (first & 0x80) !== 0 || payload > end) return -1;
      if (view.getUint16(start + 2) !== etherType.bridged || view.getInt32(start + 4) >>> 8 !== network) return -1;
      for (let at = start + 8; at < payload; ) {
        const type = view.getUint8(at + 2);
        if ((type & criticalType) !== 0 && !known.has(view.getUint16(at) * 256 + type)) return -1;
        at += 4 + (view.getUint8(at + 3) & 0x1f) * 4;
        if (at > payload) return -1;
      }
      return payload;
    },
  };
};
