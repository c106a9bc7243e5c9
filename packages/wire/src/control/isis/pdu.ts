import { MessageWriter } from '../message-writer.ts';

/** Types of PDUs of level 1; those of level 2 follow, except hellos on point-to-point links. */
export const pduType = {
  lanHello1: 15,
  lanHello2: 16,
  pointToPointHello: 17,
  lsp1: 18,
  lsp2: 20,
  csnp1: 24,
  csnp2: 25,
  psnp1: 26,
  psnp2: 27,
} as const;
export type Level = 1 | 2;

export const tlvType = {
  areas: 1,
  lanNeighbours: 6,
  padding: 8,
  lspEntries: 9,
  authentication: 10,
  reachableSystems: 22,
  protocols: 129,
  addresses: 132,
  routerId: 134,
  reachableIpv4: 135,
  hostName: 137,
  topologySystems: 222,
  topologies: 229,
  ipv6Addresses: 232,
  reachableIpv6: 236,
  topologyIpv6: 237,
  handshake: 240,
  capability: 242,
} as const;

export const systemIdBytes = 6;
export const lspIdBytes = 8;
const discriminator = 0x83;
const commonBytes = 8;
const maxTlvBytes = 255;

/** Length of the fixed part of a PDU, common header included. */
export const headerBytes: Readonly<Record<number, number>> = {
  [pduType.lanHello1]: 27,
  [pduType.lanHello2]: 27,
  [pduType.pointToPointHello]: 20,
  [pduType.lsp1]: 27,
  [pduType.lsp2]: 27,
  [pduType.csnp1]: 33,
  [pduType.csnp2]: 33,
  [pduType.psnp1]: 17,
  [pduType.psnp2]: 17,
};

/** Where the length of a PDU is. */
const lengthAt = (type: number): number =>
  type <= pduType.pointToPointHello ? commonBytes + 1 + systemIdBytes + 2 : commonBytes;

export interface Tlv {
  readonly type: number;
  readonly value: Uint8Array;
}

export interface ReceivedPdu {
  readonly type: number;
  /** The PDU without what follows it in the frame. */
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly tlvs: readonly Tlv[];
}

/** Undefined if the PDU is malformed. */
export const parsePdu = (frame: Uint8Array): ReceivedPdu | undefined => {
  if (frame.length < commonBytes || frame[0] !== discriminator || frame[2] !== 1 || frame[5] !== 1) return undefined;
  const type = (frame[4] as number) & 0x1f;
  const header = headerBytes[type];
  const idLength = frame[3] as number;
  if (header === undefined || frame[1] !== header || (idLength !== 0 && idLength !== systemIdBytes)) return undefined;
  if (frame.length < header) return undefined;
  const length = ((frame[lengthAt(type)] as number) << 8) | (frame[lengthAt(type) + 1] as number);
  if (length < header || length > frame.length) return undefined;
  // A copy, also of a Buffer, whose `slice` would not make one.
  const bytes = new Uint8Array(frame.subarray(0, length));
  const tlvs = readTlvs(bytes, header);
  return tlvs && { type, bytes, view: new DataView(bytes.buffer), tlvs };
};

const readTlvs = (bytes: Uint8Array, start: number): Tlv[] | undefined => {
  const tlvs: Tlv[] = [];
  for (let at = start; at < bytes.length; ) {
    const end = at + 2 + (bytes[at + 1] ?? maxTlvBytes + 1);
    if (end > bytes.length) return undefined;
    tlvs.push({ type: bytes[at] as number, value: bytes.subarray(at + 2, end) });
    at = end;
  }
  return tlvs;
};

export const valuesOf = ({ tlvs }: Pick<ReceivedPdu, 'tlvs'>, type: number): Uint8Array[] =>
  tlvs.filter((tlv) => tlv.type === type).map(({ value }) => value);

/** A PDU of the type: `fixed` writes what follows the common header, `tlvs` come after it. */
export const writePdu = (
  type: number,
  fixed: (writer: MessageWriter) => void,
  tlvs: readonly Tlv[],
): Uint8Array<ArrayBuffer> => {
  const writer = new MessageWriter(512);
  writer
    .u8(discriminator)
    .u8(headerBytes[type] as number)
    .u8(1)
    .u8(0)
    .u8(type)
    .u8(1)
    .u8(0)
    .u8(0);
  fixed(writer);
  for (const { type: tlv, value } of tlvs) writer.u8(tlv).u8(value.length).copy(value);
  writer.view.setUint16(lengthAt(type), writer.length);
  return writer.take() as Uint8Array<ArrayBuffer>;
};

/** A TLV whose value `write` writes. */
export const tlvOf = (type: number, write: (writer: MessageWriter) => void): Tlv => {
  const writer = new MessageWriter(64);
  write(writer);
  if (writer.length > maxTlvBytes) throw new RangeError(`TLV ${type} has ${writer.length} bytes`);
  return { type, value: writer.take() };
};

/** Items one after another in as many TLVs as they need; each begins with `head`. */
export const packedTlvs = (type: number, items: readonly Uint8Array[], head: Uint8Array = new Uint8Array(0)): Tlv[] => {
  const tlvs: Tlv[] = [];
  let writer = new MessageWriter(maxTlvBytes).copy(head);
  const flush = () => {
    if (writer.length > head.length) tlvs.push({ type, value: writer.take() });
    writer = new MessageWriter(maxTlvBytes).copy(head);
  };
  for (const item of items) {
    if (writer.length + item.length > maxTlvBytes) flush();
    writer.copy(item);
  }
  flush();
  return tlvs;
};

export const hexOf = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
};

export const bytesOfHex = (text: string): Uint8Array =>
  Uint8Array.from({ length: text.length / 2 }, (_, index) => Number.parseInt(text.slice(index * 2, index * 2 + 2), 16));

/** A system id as people write it: 0100.0000.0001, with what follows it in an LSP id. */
export const idText = (hex: string): string => {
  const system = hex.slice(0, 12).replace(/(.{4})(?=.)/g, '$1.');
  if (hex.length <= 12) return system;
  const node = `${system}.${hex.slice(12, 14)}`;
  return hex.length <= 14 ? node : `${node}-${hex.slice(14, 16)}`;
};
