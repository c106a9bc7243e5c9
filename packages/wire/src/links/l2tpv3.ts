import { ipProtocol } from '../ip/header-fields.ts';
import type { LinkCodec } from './link.ts';

const dataVersion = 3;

export interface L2tpv3Options {
  /** Session the far end expects, and ours. */
  readonly remoteSession: number;
  readonly localSession: number;
  /** 0, 4 or 8 bytes. */
  readonly remoteCookie?: Uint8Array;
  readonly localCookie?: Uint8Array;
  readonly encapsulation?: 'ip' | 'udp';
  readonly port?: number;
  /** Default L2-specific sublayer of four bytes. */
  readonly hasSublayer?: boolean;
  /** The sublayer carries sequence numbers. */
  readonly hasSequence?: boolean;
}

const none = new Uint8Array(0);

/** L2TPv3 data messages with Ethernet inside (RFC 3931, RFC 4719), static sessions. */
export const createL2tpv3 = (options: L2tpv3Options): LinkCodec => {
  const { remoteCookie = none, localCookie = none, encapsulation = 'udp', port = 1701, hasSublayer = true } = options;
  const prefix = encapsulation === 'udp' ? 4 : 0;
  const sublayer = hasSublayer ? 4 : 0;
  const headerLength = prefix + 4 + remoteCookie.length + sublayer;
  let sent = 0;
  return {
    name: 'l2tpv3',
    carrier: encapsulation === 'udp' ? { kind: 'udp', port } : { kind: 'ip', protocol: ipProtocol.l2tp },
    payload: 'ethernet',
    headerLength,
    id: options.localSession | 0,
    idAt: ({ view }, start, end) => (end - start < prefix + 4 ? -1 : view.getInt32(start + prefix)),
    wrap({ view, bytes }, start) {
      const at = start - headerLength;
      if (prefix > 0) view.setInt32(at, dataVersion << 16);
      view.setInt32(at + prefix, options.remoteSession | 0);
      bytes.set(remoteCookie, at + prefix + 4);
      if (hasSublayer) {
        view.setInt32(start - 4, options.hasSequence ? 0x40000000 | sent : 0);
        sent = (sent + 1) & 0xffffff;
      }
      return at;
    },
    unwrap({ view, bytes }, start, end) {
      const payload = start + prefix + 4 + localCookie.length + sublayer;
      if (payload > end) return -1;
      // The T bit marks control messages.
      if (prefix > 0 && (view.getUint16(start) & 0x800f) !== dataVersion) return -1;
      if (view.getUint32(start + prefix) !== options.localSession >>> 0) return -1;
      for (let i = 0; i < localCookie.length; i++) if (bytes[start + prefix + 4 + i] !== localCookie[i]) return -1;
      return payload;
    },
  };
};
