import { etherType } from '../ethernet/ethernet.ts';
import { ipVersionAt, type LinkCodec } from './link.ts';

export interface MplsLabel {
  readonly label: number;
  readonly trafficClass?: number;
  readonly ttl?: number;
}

const bottom = 0x100;

/**
 * An MPLS label stack (RFC 3032) over Ethernet with IP inside, after the control word of a pseudowire (RFC 4385) if
 * asked for. Received stacks must end with our label, if one is given.
 */
export const createMpls = ({
  labels,
  localLabel,
  hasControlWord = false,
}: {
  labels: readonly MplsLabel[];
  localLabel?: number;
  hasControlWord?: boolean;
}): LinkCodec => {
  const controlBytes = hasControlWord ? 4 : 0;
  const words = labels.map(
    ({ label, trafficClass = 0, ttl = 64 }, index) =>
      (label << 12) | (trafficClass << 9) | (index === labels.length - 1 ? bottom : 0) | ttl,
  );
  const headerLength = labels.length * 4 + controlBytes;
  return {
    name: 'mpls',
    carrier: { kind: 'ethernet', etherType: etherType.mpls },
    payload: 'ip',
    headerLength,
    id: 0,
    idAt: () => 0,
    wrap({ view }, start) {
      for (let i = 0; i < words.length; i++) view.setInt32(start - headerLength + i * 4, words[i] as number);
      // No flags, no length and no sequence number.
      if (hasControlWord) view.setInt32(start - controlBytes, 0);
      return start - headerLength;
    },
    unwrap(memory, start, end) {
      for (let at = start; at + 4 <= end; at += 4) {
        const word = memory.view.getInt32(at);
        if ((word & bottom) === 0) continue;
        if (localLabel !== undefined && word >>> 12 !== localLabel) return -1;
        const packet = at + 4 + controlBytes;
        // The first four bits tell a control word from an IP packet and from a control channel.
        if (hasControlWord && (packet > end || memory.view.getUint8(at + 4) >>> 4 !== 0)) return -1;
        return ipVersionAt(memory, packet, end) === 0 ? -1 : packet;
      }
      return -1;
    },
  };
};
