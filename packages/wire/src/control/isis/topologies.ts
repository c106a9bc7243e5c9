import { MessageWriter } from '../message-writer.ts';
import { packedTlvs, type ReceivedPdu, type Tlv, tlvType, valuesOf } from './pdu.ts';

/** Numbers of topologies (RFC 5120, section 7.5). */
export const topologyId = { standard: 0, ipv6: 2 } as const;
const overloadBit = 0x8000;
const idMask = 0xfff;

export interface Topologies {
  readonly hasIpv4: boolean;
  readonly hasIpv6: boolean;
  /** IPv6 has a topology of its own. */
  readonly isMultiTopology: boolean;
}

const hasOwnIpv6 = ({ hasIpv6, isMultiTopology }: Topologies): boolean => hasIpv6 && isMultiTopology;

const idBytes = (id: number): Uint8Array => Uint8Array.of(id >> 8, id & 255);

/** What topologies a system is in, where it has more than the standard one. */
export const topologyTlvs = (topologies: Topologies, isOverloaded = false): Tlv[] => {
  if (!hasOwnIpv6(topologies)) return [];
  const ids = [...(topologies.hasIpv4 ? [topologyId.standard] : []), topologyId.ipv6];
  const writer = new MessageWriter(8);
  for (const id of ids) writer.u16(id | (isOverloaded ? overloadBit : 0));
  return [{ type: tlvType.topologies, value: writer.take() }];
};

/** Neighbouring systems, as `systemReachability` writes them, in the topologies that they share with the system. */
export const systemsTlvs = (
  topologies: Topologies,
  standard: readonly Uint8Array[],
  ipv6: readonly Uint8Array[] = standard,
): Tlv[] => {
  const isOwn = hasOwnIpv6(topologies);
  return [
    ...(isOwn && !topologies.hasIpv4 ? [] : packedTlvs(tlvType.reachableSystems, standard)),
    ...(isOwn ? packedTlvs(tlvType.topologySystems, ipv6, idBytes(topologyId.ipv6)) : []),
  ];
};

export const ipv6Tlvs = (topologies: Topologies, prefixes: readonly Uint8Array[]): Tlv[] =>
  hasOwnIpv6(topologies)
    ? packedTlvs(tlvType.topologyIpv6, prefixes, idBytes(topologyId.ipv6))
    : packedTlvs(tlvType.reachableIpv6, prefixes);

/** Topologies of the sender of a hello; without a word about it the standard one. */
export const readTopologies = (pdu: Pick<ReceivedPdu, 'tlvs'>): number[] => {
  const values = valuesOf(pdu, tlvType.topologies);
  if (values.length === 0) return [topologyId.standard];
  return values.flatMap((value) =>
    Array.from(
      { length: value.length >> 1 },
      (_, i) => (((value[2 * i] as number) << 8) | (value[2 * i + 1] as number)) & idMask,
    ),
  );
};
