import { checksumOf, isSumValid, sumBytes } from '../bytes/checksum.ts';
import { etherType } from '../ethernet/ethernet.ts';
import { ipProtocol } from '../ip/header-fields.ts';
import { ipVersionAt, type LinkCodec, type LinkPayload } from './link.ts';

const flag = { checksum: 0x8000, key: 0x2000, sequence: 0x1000 } as const;

export interface GreOptions {
  readonly key?: number | undefined;
  readonly hasChecksum?: boolean;
  readonly hasSequence?: boolean;
  readonly payload?: LinkPayload;
}

/** GRE (RFC 2784, RFC 2890). Packets with another key are not ours; late sequence numbers are dropped. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table: encode and decode of one header
export const createGre = ({
  key,
  hasChecksum = false,
  hasSequence = false,
  payload = 'ip',
}: GreOptions = {}): LinkCodec => {
  const flags =
    (hasChecksum ? flag.checksum : 0) | (key === undefined ? 0 : flag.key) | (hasSequence ? flag.sequence : 0);
  const headerLength = 4 + 4 * [hasChecksum, key !== undefined, hasSequence].filter(Boolean).length;
  let sent = 0;
  let received = -1;
  return {
    name: 'gre',
    carrier: { kind: 'ip', protocol: ipProtocol.gre },
    payload,
    headerLength,
    id: key === undefined ? 0 : key | 0,
    idAt({ view }, start, end) {
      if (end - start < 4) return -1;
      const seen = view.getUint16(start);
      if ((seen & flag.key) === 0) return 0;
      const at = start + ((seen & flag.checksum) !== 0 ? 8 : 4);
      return at + 4 <= end ? view.getInt32(at) : -1;
    },
    wrap(memory, start, end) {
      const { view } = memory;
      const at = start - headerLength;
      const isV6 = ipVersionAt(memory, start, end) === 6;
      view.setUint16(at, flags);
      view.setUint16(at + 2, payload === 'ethernet' ? etherType.bridged : isV6 ? etherType.ipv6 : etherType.ipv4);
      let field = at + 4;
      if (hasChecksum) {
        view.setInt32(field, 0);
        field += 4;
      }
      if (key !== undefined) {
        view.setInt32(field, key | 0);
        field += 4;
      }
      if (hasSequence) view.setInt32(field, sent++ | 0);
      if (hasChecksum) view.setUint16(at + 4, checksumOf(sumBytes(memory, at, end)));
      return at;
    },
    unwrap(memory, start, end) {
      const { view } = memory;
      if (end - start < 4) return -1;
      const seen = view.getUint16(start);
      const type = view.getUint16(start + 2);
      const isExpected =
        payload === 'ethernet' ? type === etherType.bridged : type === etherType.ipv4 || type === etherType.ipv6;
      // Version 0 without routing.
      if ((seen & 0x4fff) !== 0 || !isExpected) return -1;
      let field = start + 4;
      const length = 4 * (((seen >>> 15) & 1) + ((seen >>> 13) & 1) + ((seen >>> 12) & 1));
      if (field + length > end) return -1;
      if ((seen & flag.checksum) !== 0) {
        if (!isSumValid(sumBytes(memory, start, end))) return -1;
        field += 4;
      }
      const seenKey = (seen & flag.key) !== 0 ? view.getUint32(field) : undefined;
      if (seenKey !== (key === undefined ? undefined : key >>> 0)) return -1;
      if (seenKey !== undefined) field += 4;
      if ((seen & flag.sequence) !== 0) {
        const sequence = view.getInt32(field);
        if (hasSequence && received !== -1 && ((sequence - received) | 0) <= 0) return -1;
        received = sequence;
        field += 4;
      }
      return field;
    },
  };
};
