import type { LinkCodec } from './link.ts';

const messageType = { echoRequest: 1, echoResponse: 2, errorIndication: 26, endMarker: 254, packet: 255 } as const;
const extensionType = { none: 0, pduSession: 0x85 } as const;
const flag = { extension: 4, sequence: 2, pduNumber: 1 } as const;
const versionOne = 0x30;

export interface GtpuOptions {
  /** Tunnel endpoint identifier of the far end, and ours. */
  readonly remoteTeid: number;
  readonly localTeid: number;
  readonly port?: number;
  readonly hasSequence?: boolean;
  /** PDU session container (3GPP TS 38.415): direction and QoS flow. */
  readonly pduSession?: { readonly isUplink: boolean; readonly qosFlow: number };
}

/** GTP-U version 1 (3GPP TS 29.281) with IP inside; answers echo requests. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table: encode and decode of one header
export const createGtpu = ({
  remoteTeid,
  localTeid,
  port = 2152,
  hasSequence = false,
  pduSession,
}: GtpuOptions): LinkCodec => {
  const hasOptional = hasSequence || pduSession !== undefined;
  const headerLength = 8 + (hasOptional ? 4 : 0) + (pduSession === undefined ? 0 : 4);
  const flags = versionOne | (pduSession === undefined ? 0 : flag.extension) | (hasSequence ? flag.sequence : 0);
  let sent = 0;
  return {
    name: 'gtpu',
    carrier: { kind: 'udp', port },
    payload: 'ip',
    headerLength,
    id: localTeid | 0,
    idAt: ({ view }, start, end) => (end - start < 8 ? -1 : view.getInt32(start + 4)),
    wrap({ view }, start, end) {
      const at = start - headerLength;
      view.setUint16(at, (flags << 8) | messageType.packet);
      view.setUint16(at + 2, end - at - 8);
      view.setInt32(at + 4, remoteTeid | 0);
      if (!hasOptional) return at;
      view.setUint16(at + 8, hasSequence ? sent++ & 0xffff : 0);
      view.setUint16(at + 10, pduSession === undefined ? extensionType.none : extensionType.pduSession);
      // One unit of four bytes: type of PDU, QoS flow, no further extension.
      if (pduSession !== undefined)
        view.setInt32(at + 12, (1 << 24) | ((pduSession.isUplink ? 0x10 : 0) << 16) | (pduSession.qosFlow << 8));
      return at;
    },
    unwrap({ view }, start, end) {
      if (end - start < 8 || view.getUint8(start) >>> 4 !== 3) return -1;
      if (view.getUint8(start + 1) !== messageType.packet || view.getUint32(start + 4) !== localTeid >>> 0) return -1;
      const seen = view.getUint8(start) & 7;
      let at = start + 8;
      if (seen !== 0) {
        if (at + 4 > end) return -1;
        let next = (seen & flag.extension) !== 0 ? view.getUint8(at + 3) : extensionType.none;
        at += 4;
        while (next !== extensionType.none) {
          const length = at < end ? view.getUint8(at) * 4 : 0;
          if (length === 0 || at + length > end) return -1;
          next = view.getUint8(at + length - 1);
          at += length;
        }
      }
      return at;
    },
    answer({ view, bytes }, start, end) {
      if (end - start < 8 || view.getUint8(start + 1) !== messageType.echoRequest) return -1;
      const sequence =
        end - start >= 12 && (view.getUint8(start) & flag.sequence) !== 0 ? view.getUint16(start + 8) : 0;
      view.setUint16(start, ((versionOne | flag.sequence) << 8) | messageType.echoResponse);
      view.setUint16(start + 2, 6);
      view.setInt32(start + 4, 0);
      view.setInt32(start + 8, sequence << 16);
      // Recovery information element; the restart counter is not used.
      bytes[start + 12] = 14;
      bytes[start + 13] = 0;
      return start + 14;
    },
  };
};

/** Writes an echo request of 12 bytes and returns its end. */
export const writeGtpuEchoRequest = ({ view }: { view: DataView }, at: number, sequence: number): number => {
  view.setUint16(at, ((versionOne | flag.sequence) << 8) | messageType.echoRequest);
  view.setUint16(at + 2, 4);
  view.setInt32(at + 4, 0);
  view.setInt32(at + 8, sequence << 16);
  return at + 12;
};
