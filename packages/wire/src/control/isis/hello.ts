import { authenticationTlvs, sign } from './authentication.ts';
import { type AdjacencyState, adjacencyState, type IsisOptions } from './options.ts';
import {
  bytesOfHex,
  headerBytes,
  hexOf,
  type Level,
  pduType,
  type ReceivedPdu,
  type Tlv,
  tlvOf,
  tlvType,
  valuesOf,
  writePdu,
} from './pdu.ts';
import { readTopologies, topologyTlvs } from './topologies.ts';

const llcBytes = 3;
const maxPadding = 255;
const circuitId = 1;
const ipv4Protocol = 0xcc;
const ipv6Protocol = 0x8e;

/** A received hello. */
export interface Hello {
  readonly levels: readonly Level[];
  readonly systemId: string;
  readonly holdSec: number;
  readonly areas: readonly string[];
  readonly priority: number;
  /** Designated system and its pseudonode; empty on a point-to-point link. */
  readonly lanId: string;
  /** MACs that the neighbour hears. */
  readonly heard: readonly string[];
  /** IPv4 addresses of the interface. */
  readonly addresses: readonly number[];
  readonly topologies: readonly number[];
  readonly handshake: { readonly state: number; readonly neighbour: string } | undefined;
}

const levelsOf = (circuitType: number): Level[] =>
  ([1, 2] as const).filter((level) => ((circuitType & 3) >> (level - 1)) & 1);

const areasIn = (value: Uint8Array): string[] => {
  const areas: string[] = [];
  for (let at = 0; at < value.length; at += 1 + (value[at] as number))
    areas.push(hexOf(value.subarray(at + 1, at + 1 + (value[at] as number))));
  return areas;
};

const macsIn = (value: Uint8Array): string[] =>
  Array.from({ length: Math.floor(value.length / 6) }, (_, i) => hexOf(value.subarray(i * 6, i * 6 + 6)));

const wordsIn = (value: Uint8Array): number[] => {
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  return Array.from({ length: value.length >> 2 }, (_, i) => view.getUint32(i * 4));
};

export const readHello = (pdu: ReceivedPdu): Hello => {
  const { bytes, view, type } = pdu;
  const isLan = type !== pduType.pointToPointHello;
  const [handshake] = valuesOf(pdu, tlvType.handshake);
  return {
    levels: isLan ? [type === pduType.lanHello1 ? 1 : 2] : levelsOf(bytes[8] as number),
    systemId: hexOf(bytes.subarray(9, 15)),
    holdSec: view.getUint16(15),
    areas: valuesOf(pdu, tlvType.areas).flatMap(areasIn),
    priority: isLan ? (bytes[19] as number) & 127 : 0,
    lanId: isLan ? hexOf(bytes.subarray(20, 27)) : '',
    heard: valuesOf(pdu, tlvType.lanNeighbours).flatMap(macsIn),
    addresses: valuesOf(pdu, tlvType.addresses).flatMap(wordsIn),
    topologies: readTopologies(pdu),
    handshake: handshake && {
      state: handshake[0] ?? adjacencyState.down,
      neighbour: handshake.length >= 11 ? hexOf(handshake.subarray(5, 11)) : '',
    },
  };
};

const ipv6AddressTlv = (address: Int32Array): Tlv =>
  tlvOf(tlvType.ipv6Addresses, (writer) => {
    for (const word of address) writer.u32(word);
  });

const commonTlvs = (options: IsisOptions): Tlv[] => {
  const { areas, hasIpv4, hasIpv6, address, linkLocal, authentication } = options;
  const protocols = Uint8Array.of(...(hasIpv4 ? [ipv4Protocol] : []), ...(hasIpv6 ? [ipv6Protocol] : []));
  return [
    ...authenticationTlvs(authentication),
    tlvOf(tlvType.areas, (writer) => {
      for (const area of areas) writer.u8(area.length).copy(area);
    }),
    { type: tlvType.protocols, value: protocols },
    ...(hasIpv4 ? [tlvOf(tlvType.addresses, (writer) => writer.u32(address))] : []),
    ...(hasIpv6 && linkLocal !== undefined ? [ipv6AddressTlv(linkLocal)] : []),
    ...topologyTlvs(options),
  ];
};

/** TLVs of padding up to the MTU. */
const paddingFor = (options: IsisOptions, header: number, tlvs: readonly Tlv[]): Tlv[] => {
  if (!options.pads) return [];
  let room = options.mtu - llcBytes - header - tlvs.reduce((sum, { value }) => sum + 2 + value.length, 0);
  const padding: Tlv[] = [];
  for (; room >= 2; room -= 2 + (padding.at(-1) as Tlv).value.length)
    padding.push({ type: tlvType.padding, value: new Uint8Array(Math.min(maxPadding, room - 2)) });
  return padding;
};

const circuitType = ({ levels }: IsisOptions): number => levels.reduce((bits, level) => bits | level, 0);

const write = (
  options: IsisOptions,
  type: number,
  own: readonly Tlv[],
  end: (hold: number) => Uint8Array,
): Uint8Array => {
  const { systemId, helloSec, holdMultiplier, authentication } = options;
  const header = headerBytes[type] as number;
  const holdSec = Math.min(helloSec * holdMultiplier, 65_535);
  const tlvs = [...commonTlvs(options), ...own];
  const pdu = writePdu(
    type,
    (writer) => writer.u8(circuitType(options)).copy(bytesOfHex(systemId)).u16(holdSec).u16(0).copy(end(holdSec)),
    [...tlvs, ...paddingFor(options, header, tlvs)],
  );
  sign(pdu, header, authentication);
  return pdu;
};

/** A hello of a level on a broadcast network. */
export const writeLanHello = (
  options: IsisOptions,
  level: Level,
  state: { readonly lanId: string; readonly heard: readonly string[] },
): Uint8Array => {
  const neighbours: Tlv[] = [];
  for (let from = 0; from < state.heard.length; from += 42) {
    const part = state.heard.slice(from, from + 42).join('');
    neighbours.push({ type: tlvType.lanNeighbours, value: bytesOfHex(part) });
  }
  const end = () => Uint8Array.of(options.priority, ...bytesOfHex(state.lanId));
  return write(options, level === 1 ? pduType.lanHello1 : pduType.lanHello2, neighbours, end);
};

/** A hello on a point-to-point link; `neighbour` is the system that is heard. */
export const writePointToPointHello = (
  options: IsisOptions,
  state: { readonly state: AdjacencyState; readonly neighbour: string },
): Uint8Array => {
  const handshake = tlvOf(tlvType.handshake, (writer) => {
    writer.u8(state.state).u32(circuitId);
    if (state.neighbour !== '') writer.copy(bytesOfHex(state.neighbour));
  });
  return write(options, pduType.pointToPointHello, [handshake], () => Uint8Array.of(circuitId));
};
