import { type MessageWriter, openFlowVersion } from './message.ts';

/** Fields of packets that flows match, by the numbers of OXM (OpenFlow 1.3, 7.2.3.7). */
export const matchField = {
  ...{ inPort: 0, ethDst: 3, ethSrc: 4, ethType: 5, vlanVid: 6, vlanPcp: 7, ipDscp: 8, ipProto: 10 },
  ...{ ipv4Src: 11, ipv4Dst: 12, tcpSrc: 13, tcpDst: 14, udpSrc: 15, udpDst: 16, icmpType: 19, icmpCode: 20 },
  ...{ arpOp: 21, arpSpa: 22, arpTpa: 23 },
} as const;
/** Bytes of the fields. */
export const matchLengths: readonly (readonly [field: number, length: number])[] = [
  ...([
    [0, 4],
    [3, 6],
    [4, 6],
    [5, 2],
    [6, 2],
    [7, 1],
    [8, 1],
    [10, 1],
    [11, 4],
    [12, 4],
    [13, 2],
    [14, 2],
  ] as const),
  ...([
    [15, 2],
    [16, 2],
    [19, 1],
    [20, 1],
    [21, 2],
    [22, 4],
    [23, 4],
  ] as const),
];
const basicClass = 0x8000;
const oxmMatch = 1;
const vlanPresent = 0x1000;

export interface FieldValue {
  readonly value: bigint;
  readonly mask: bigint;
}

/** What a flow matches: fields by class and number; fields that are missing match everything. */
export type Match = ReadonlyMap<number, FieldValue>;

const fullMask = (bytes: number): bigint => (1n << BigInt(bytes * 8)) - 1n;

const numberAt = (view: DataView, at: number, length: number): bigint => {
  let value = 0n;
  for (let i = 0; i < length; i++) value = (value << 8n) | BigInt(view.getUint8(at + i));
  return value;
};

/** Reads a match of version 1.2 and later, and says where it ends; undefined: it is not valid. */
export const readOxmMatch = (view: DataView, at: number): { match: Match; end: number } | undefined => {
  if (at + 4 > view.byteLength || view.getUint16(at) !== oxmMatch) return undefined;
  const stop = at + view.getUint16(at + 2);
  const end = at + ((view.getUint16(at + 2) + 7) & ~7);
  if (stop < at + 4 || end > view.byteLength) return undefined;
  const match = new Map<number, FieldValue>();
  for (let from = at + 4; from < stop; ) {
    if (from + 4 > stop) return undefined;
    const head = view.getUint32(from);
    const length = head & 0xff;
    if (from + 4 + length > stop) return undefined;
    const hasMask = (head & 0x100) !== 0;
    const size = hasMask ? length / 2 : length;
    const value = numberAt(view, from + 4, Math.floor(size));
    const mask = hasMask ? numberAt(view, from + 4 + size, Math.floor(size)) : fullMask(size);
    const [oxmClass, field] = [head >>> 16, (head >>> 9) & 0x7f];
    match.set(oxmClass === basicClass ? field : (oxmClass << 8) | field, { value: value & mask, mask });
    from += 4 + length;
  }
  return { match, end };
};

/** Fields of version 1.0 at their places in its match: where, how long, the bit of its wildcard, and the number of OXM. */
const fixedFields = [
  [4, 2, 0, matchField.inPort],
  [6, 6, 2, matchField.ethSrc],
  [12, 6, 3, matchField.ethDst],
  [18, 2, 1, matchField.vlanVid],
  [20, 1, 20, matchField.vlanPcp],
  [22, 2, 4, matchField.ethType],
  [24, 1, 21, matchField.ipDscp],
  [25, 1, 5, matchField.ipProto],
] as const;
export const fixedMatchBytes = 40;
const noVlan = 0xffff;
const [tcp, icmp, udp] = [6n, 1n, 17n];

/** Reads the match of version 1.0. */
export const readFixedMatch = (view: DataView, at: number): Match => {
  const wildcards = view.getUint32(at);
  const match = new Map<number, FieldValue>();
  for (const [offset, length, bit, field] of fixedFields) {
    if (((wildcards >>> bit) & 1) !== 0) continue;
    let value = numberAt(view, at + offset, length);
    if (field === matchField.vlanVid) value = value === BigInt(noVlan) ? 0n : value | BigInt(vlanPresent);
    if (field === matchField.ipDscp) value >>= 2n;
    match.set(field, { value, mask: fullMask(length) });
  }
  const isArp = match.get(matchField.ethType)?.value === 0x0806n;
  for (const [offset, shift, field] of [
    [28, 8, isArp ? matchField.arpSpa : matchField.ipv4Src],
    [32, 14, isArp ? matchField.arpTpa : matchField.ipv4Dst],
  ] as const) {
    const ignored = (wildcards >>> shift) & 63;
    if (ignored >= 32) continue;
    const mask = (fullMask(4) >> BigInt(ignored)) << BigInt(ignored);
    match.set(field, { value: numberAt(view, at + offset, 4) & mask, mask });
  }
  const protocol = match.get(matchField.ipProto)?.value;
  const portFields = portsOf(protocol);
  for (const [offset, bit, field] of [
    [36, 6, portFields[0]],
    [38, 7, portFields[1]],
  ] as const)
    if (((wildcards >>> bit) & 1) === 0 && field !== undefined)
      match.set(field, { value: numberAt(view, at + offset, 2), mask: fullMask(2) });
  return match;
};

/** Fields of version 1.1 at their places in its match, in the same order. */
const standardFields = [
  [4, 4, 0, matchField.inPort],
  [36, 2, 1, matchField.vlanVid],
  [38, 1, 2, matchField.vlanPcp],
  [40, 2, 3, matchField.ethType],
  [42, 1, 4, matchField.ipDscp],
] as const;
const standardMatch = { type: 0, bytes: 88 } as const;
const anyVlan = 0xfffe;

/** Reads the match of version 1.1, whose masks have the bits that are ignored. */
const readStandardMatch = (view: DataView, at: number): { match: Match; end: number } | undefined => {
  const end = at + standardMatch.bytes;
  if (end > view.byteLength || view.getUint16(at) !== standardMatch.type) return undefined;
  const wildcards = view.getUint32(at + 8);
  const match = new Map<number, FieldValue>();
  const put = (field: number | undefined, offset: number, length: number, mask = fullMask(length)) => {
    if (field !== undefined && mask !== 0n)
      match.set(field, { value: numberAt(view, at + offset, length) & mask, mask });
  };
  const putMasked = (field: number, offset: number, length: number) =>
    put(field, offset, length, fullMask(length) & ~numberAt(view, at + offset + length, length));
  for (const [offset, length, bit, field] of standardFields)
    if (((wildcards >>> bit) & 1) === 0) put(field, offset, length);
  const vlan = Number(match.get(matchField.vlanVid)?.value ?? -1);
  const present = BigInt(vlanPresent);
  if (vlan === anyVlan) match.set(matchField.vlanVid, { value: present, mask: present });
  else if (vlan >= 0)
    match.set(matchField.vlanVid, { value: vlan === noVlan ? 0n : BigInt(vlan) | present, mask: fullMask(2) });
  const dscp = match.get(matchField.ipDscp);
  if (dscp !== undefined) match.set(matchField.ipDscp, { value: dscp.value >> 2n, mask: dscp.mask });
  putMasked(matchField.ethSrc, 12, 6);
  putMasked(matchField.ethDst, 24, 6);
  const type = match.get(matchField.ethType)?.value;
  if (type !== 0x0800n && type !== 0x0806n) return { match, end };
  const isArp = type === 0x0806n;
  putMasked(isArp ? matchField.arpSpa : matchField.ipv4Src, 44, 4);
  putMasked(isArp ? matchField.arpTpa : matchField.ipv4Dst, 52, 4);
  const protocol = ((wildcards >>> 5) & 1) === 0 ? numberAt(view, at + 43, 1) : undefined;
  if (protocol === undefined) return { match, end };
  if (isArp) match.set(matchField.arpOp, { value: protocol, mask: fullMask(2) });
  else match.set(matchField.ipProto, { value: protocol, mask: fullMask(1) });
  const [source, destination] = isArp ? [] : portsOf(protocol);
  if (((wildcards >>> 6) & 1) === 0) put(source, 60, 2);
  if (((wildcards >>> 7) & 1) === 0) put(destination, 62, 2);
  return { match, end };
};

/** Reads a match of version 1.1 and later, and says where it ends; undefined: it is not valid. */
export const readMatch = (view: DataView, at: number, version: number): { match: Match; end: number } | undefined =>
  version === openFlowVersion['1.1'] ? readStandardMatch(view, at) : readOxmMatch(view, at);

const portsOf = (protocol: bigint | undefined): readonly [number?, number?] => {
  if (protocol === tcp) return [matchField.tcpSrc, matchField.tcpDst];
  if (protocol === udp) return [matchField.udpSrc, matchField.udpDst];
  return protocol === icmp ? [matchField.icmpType, matchField.icmpCode] : [];
};

/** Every packet that the second match takes is one of the first. */
export const covers = (wide: Match, narrow: Match): boolean => {
  for (const [field, { value, mask }] of wide) {
    const other = narrow.get(field);
    if (other === undefined || (other.mask & mask) !== mask || (other.value & mask) !== value) return false;
  }
  return true;
};

export const keyOf = (match: Match): string =>
  [...match]
    .toSorted(([a], [b]) => a - b)
    .map(([field, { value, mask }]) => `${field}:${value.toString(16)}/${mask.toString(16)}`)
    .join(',');

/** The fields of an Ethernet frame that has arrived on a port. */
export const fieldsOf = (frame: Uint8Array, inPort: number): ReadonlyMap<number, bigint> => {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const fields = new Map<number, bigint>([[matchField.inPort, BigInt(inPort)]]);
  if (frame.length < 14) return fields;
  fields.set(matchField.ethDst, numberAt(view, 0, 6));
  fields.set(matchField.ethSrc, numberAt(view, 6, 6));
  let at = 12;
  const isTagged = view.getUint16(at) === 0x8100 && frame.length >= 18;
  fields.set(matchField.vlanVid, isTagged ? BigInt(vlanPresent | (view.getUint16(14) & 0xfff)) : 0n);
  if (isTagged) {
    fields.set(matchField.vlanPcp, BigInt(view.getUint16(14) >>> 13));
    at = 16;
  }
  const type = view.getUint16(at);
  fields.set(matchField.ethType, BigInt(type));
  if (type === 0x0800) addIpv4(fields, view, at + 2);
  else if (type === 0x0806 && frame.length >= at + 30) {
    fields.set(matchField.arpOp, numberAt(view, at + 8, 2));
    fields.set(matchField.arpSpa, numberAt(view, at + 16, 4));
    fields.set(matchField.arpTpa, numberAt(view, at + 26, 4));
  }
  return fields;
};

const addIpv4 = (fields: Map<number, bigint>, view: DataView, at: number): void => {
  if (view.byteLength < at + 20) return;
  const protocol = BigInt(view.getUint8(at + 9));
  fields.set(matchField.ipDscp, BigInt(view.getUint8(at + 1) >>> 2));
  fields.set(matchField.ipProto, protocol);
  fields.set(matchField.ipv4Src, numberAt(view, at + 12, 4));
  fields.set(matchField.ipv4Dst, numberAt(view, at + 16, 4));
  const ports = at + (view.getUint8(at) & 15) * 4;
  const [source, destination] = portsOf(protocol);
  if (source === undefined || destination === undefined || view.byteLength < ports + 4) return;
  const size = protocol === icmp ? 1 : 2;
  fields.set(source, numberAt(view, ports, size));
  fields.set(destination, numberAt(view, ports + size, size));
};

/** Whether a match takes a packet with these fields. */
export const takes = (match: Match, fields: ReadonlyMap<number, bigint>): boolean => {
  for (const [field, { value, mask }] of match) {
    const found = fields.get(field);
    if (found === undefined || (found & mask) !== value) return false;
  }
  return true;
};

/** Writes a match with the port that a packet has arrived on. */
export const writeInPort = (writer: MessageWriter, port: number): MessageWriter =>
  writer
    .u16(oxmMatch)
    .u16(12)
    .u16(basicClass)
    .u8(matchField.inPort << 1)
    .u8(4)
    .u32(port)
    .pad(4);
