import { copyOf } from '../../../bytes/memory.ts';
import type { MessageWriter } from '../../message-writer.ts';
import { LdpError, ldpStatus, ldpTlv, writeTlv } from '../pdu.ts';

/** Elements of a FEC for pseudowires (RFC 8077, section 6). */
export const wireElement = { numbered: 0x80, generalized: 0x81 } as const;

/** Types of pseudowires (RFC 4446, section 3.2). */
export const wireTypes = {
  'frame-relay': 0x0019,
  'ethernet-vlan': 0x0004,
  ethernet: 0x0005,
  hdlc: 0x0006,
  ppp: 0x0007,
  'atm-cell': 0x0003,
  ip: 0x000b,
} as const;

const parameter = { mtu: 0x01, vccv: 0x0c } as const;
const controlWordBit = 0x8000;
const unknownBit = 0x8000;
const numberedHeaderBytes = 8;

/** An end of a generalized pseudowire: type and value of its attachment identifier. */
export interface Attachment {
  readonly type: number;
  readonly value: Uint8Array;
}

/** Names of a pseudowire: one number for both ends, or an identifier for each. */
export type WireName =
  | { readonly kind: 'numbered'; readonly id: number }
  | {
      readonly kind: 'generalized';
      readonly group: Attachment;
      readonly source: Attachment;
      readonly target: Attachment;
    };

export interface WireFec {
  readonly wireType: number;
  readonly hasControlWord: boolean;
  readonly groupId: number;
  /** Undefined: all pseudowires of the group. */
  readonly name: WireName | undefined;
  /** 0: not given. */
  readonly mtu: number;
}

/** How a pseudowire can be checked (RFC 5085, section 4). */
export interface WireChecks {
  readonly channels: number;
  readonly tools: number;
}

const writeParameters = (writer: MessageWriter, mtu: number, checks: WireChecks | undefined): void => {
  writer.u8(parameter.mtu).u8(4).u16(mtu);
  if (checks !== undefined) writer.u8(parameter.vccv).u8(4).u8(checks.channels).u8(checks.tools);
};

const writeAttachment = (writer: MessageWriter, { type, value }: Attachment): void => {
  writer.u8(type).u8(value.length).copy(value);
};

/** The FEC of a pseudowire. With an MTU it has the parameters of the interface where they are a part of it. */
export const writeWireFec = (writer: MessageWriter, fec: WireFec, checks?: WireChecks): void => {
  const { name, wireType, hasControlWord, groupId, mtu } = fec;
  writeTlv(writer, ldpTlv.fec, () => {
    writer.u8(name?.kind === 'generalized' ? wireElement.generalized : wireElement.numbered);
    writer.u16(wireType | (hasControlWord ? controlWordBit : 0));
    const at = writer.reserve(1);
    if (name?.kind !== 'generalized') writer.u32(groupId);
    const start = writer.length;
    if (name?.kind === 'generalized')
      for (const one of [name.group, name.source, name.target]) writeAttachment(writer, one);
    else if (name !== undefined) {
      writer.u32(name.id);
      if (mtu > 0) writeParameters(writer, mtu, checks);
    }
    writer.bytes[at] = writer.length - start;
  });
};

/** The parameters of the interface of a generalized pseudowire, which follow the label. */
export const writeWireParameters = (writer: MessageWriter, fec: WireFec, checks?: WireChecks): void => {
  const { name, groupId, mtu } = fec;
  if (name?.kind !== 'generalized') return;
  writeTlv(writer, ldpTlv.interfaceParameters, () => writeParameters(writer, mtu, checks));
  if (groupId > 0) writeTlv(writer, ldpTlv.wireGroup | unknownBit, () => writer.u32(groupId));
};

/** The MTU among the parameters of an interface; 0: there is none. */
export const mtuOf = (view: DataView, start: number, end: number): number => {
  let mtu = 0;
  for (let at = start; at < end; ) {
    const length = at + 2 > end ? 0 : view.getUint8(at + 1);
    if (length < 2 || at + length > end) throw new LdpError(ldpStatus.malformedValue);
    if (view.getUint8(at) === parameter.mtu && length === 4) mtu = view.getUint16(at + 2);
    at += length;
  }
  return mtu;
};

/** Reads the first element of a FEC TLV; undefined: it is not that of a pseudowire. */
export const parseWireFec = (view: DataView): WireFec | undefined => {
  const element = view.getUint8(0);
  if (element !== wireElement.numbered && element !== wireElement.generalized) return undefined;
  if (view.byteLength < 4) throw new LdpError(ldpStatus.malformedValue);
  const type = view.getUint16(1);
  const common = { wireType: type & ~controlWordBit, hasControlWord: (type & controlWordBit) !== 0 };
  const length = view.getUint8(3);
  if (element === wireElement.generalized) return { ...common, groupId: 0, mtu: 0, name: parseName(view, 4 + length) };
  const end = numberedHeaderBytes + length;
  if (end > view.byteLength || (length > 0 && length < 4)) throw new LdpError(ldpStatus.malformedValue);
  const groupId = view.getUint32(4);
  if (length === 0) return { ...common, groupId, mtu: 0, name: undefined };
  const name = { kind: 'numbered', id: view.getUint32(numberedHeaderBytes) } as const;
  return { ...common, groupId, name, mtu: mtuOf(view, numberedHeaderBytes + 4, end) };
};

/** Three identifiers; none of them stands for all pseudowires of a group. */
const parseName = (view: DataView, end: number): WireName | undefined => {
  if (end > view.byteLength) throw new LdpError(ldpStatus.malformedValue);
  if (end === 4) return undefined;
  const parts: Attachment[] = [];
  for (let at = 4; at < end; ) {
    const length = at + 2 > end ? 0x100 : view.getUint8(at + 1);
    if (at + 2 + length > end) throw new LdpError(ldpStatus.malformedValue);
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    parts.push({ type: view.getUint8(at), value: copyOf(bytes, at + 2, at + 2 + length) });
    at += 2 + length;
  }
  const [group, source, target, more] = parts;
  if (group === undefined || source === undefined || target === undefined || more !== undefined)
    throw new LdpError(ldpStatus.malformedValue);
  return { kind: 'generalized', group, source, target };
};
