import { checksumOf, isSumValid, sumBytes } from '../../bytes/checksum.ts';
import { copyOf, Memory } from '../../bytes/memory.ts';
import { MessageWriter } from '../message-writer.ts';
import { type LsaHeader, lsaHeaderBytes, readLsaHeader } from './lsa.ts';

export const ospfType = { hello: 1, description: 2, request: 3, update: 4, acknowledgement: 5 } as const;
export const ospfHeaderBytes = 24;
const version = 2;
export const ddFlag = { master: 1, more: 2, init: 4 } as const;

export interface OspfHeader {
  readonly type: number;
  readonly routerId: number;
  readonly areaId: number;
}

/** Authentication of all packets of an interface (RFC 2328, appendix D). */
export type OspfAuthentication =
  | { readonly kind: 'none' }
  | { readonly kind: 'simple'; readonly key: Uint8Array }
  | {
      readonly kind: 'digest';
      readonly keyId: number;
      /** Digest of a packet with the key, `length` bytes. */
      digest(packet: Uint8Array): Uint8Array;
      readonly length: number;
    };

const authType = { none: 0, simple: 1, digest: 2 } as const;

/** A whole packet with its checksum and authentication. `sequence`: of authentication by digests. */
export const writeOspf = (
  header: OspfHeader,
  authentication: OspfAuthentication,
  options: { readonly sequence: number; readonly write: (writer: MessageWriter) => void },
): Uint8Array => {
  const writer = new MessageWriter(128);
  writer.u8(version).u8(header.type).u16(0).u32(header.routerId).u32(header.areaId).u16(0);
  writer.u16(authType[authentication.kind]).zeros(8);
  options.write(writer);
  writer.view.setUint16(2, writer.length);
  if (authentication.kind === 'digest') {
    writer.bytes[18] = authentication.keyId;
    writer.bytes[19] = authentication.length;
    writer.view.setUint32(20, options.sequence);
    const packet = writer.take();
    return writer.copy(authentication.digest(packet)).take();
  }
  const packet = writer.take();
  const memory = new Memory(packet);
  memory.view.setUint16(12, checksumOf(sumBytes(memory, 0, packet.length)));
  if (authentication.kind === 'simple') packet.set(authentication.key.subarray(0, 8), 16);
  return packet;
};

export interface ReceivedOspf extends OspfHeader {
  /** The body lies in [start, end) of `view`. */
  readonly view: DataView;
  readonly start: number;
  readonly end: number;
}

const isAuthentic = (bytes: Uint8Array, length: number, authentication: OspfAuthentication): boolean => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint16(14) !== authType[authentication.kind]) return false;
  if (authentication.kind === 'digest') {
    if (bytes.length < length + authentication.length || bytes[18] !== authentication.keyId) return false;
    const digest = authentication.digest(copyOf(bytes, 0, length));
    return digest.every((byte, i) => byte === bytes[length + i]);
  }
  const copy = copyOf(bytes, 0, length);
  copy.fill(0, 16, 24);
  if (!isSumValid(sumBytes(new Memory(copy), 0, length))) return false;
  if (authentication.kind === 'none') return true;
  return [...bytes.subarray(16, 24)].every((byte, i) => byte === (authentication.key[i] ?? 0));
};

/** Reads a packet; undefined where RFC 2328, section 8.2 discards it. */
export const parseOspf = (bytes: Uint8Array, authentication: OspfAuthentication): ReceivedOspf | undefined => {
  if (bytes.length < ospfHeaderBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint16(2);
  if (bytes[0] !== version || length < ospfHeaderBytes || length > bytes.length) return undefined;
  if (!isAuthentic(bytes, length, authentication)) return undefined;
  const type = bytes[1] as number;
  return { type, routerId: view.getUint32(4), areaId: view.getUint32(8), view, start: ospfHeaderBytes, end: length };
};

export interface Hello {
  readonly mask: number;
  readonly helloSec: number;
  readonly options: number;
  readonly priority: number;
  readonly deadSec: number;
  readonly designated: number;
  readonly backup: number;
  readonly neighbours: readonly number[];
}

export const writeHello = (hello: Hello) => (writer: MessageWriter) => {
  writer.u32(hello.mask).u16(hello.helloSec).u8(hello.options).u8(hello.priority).u32(hello.deadSec);
  writer.u32(hello.designated).u32(hello.backup);
  for (const neighbour of hello.neighbours) writer.u32(neighbour);
};

export const readHello = ({ view, start, end }: ReceivedOspf): Hello | undefined => {
  if (end - start < 20) return undefined;
  const neighbours: number[] = [];
  for (let at = start + 20; at + 4 <= end; at += 4) neighbours.push(view.getUint32(at));
  return {
    mask: view.getUint32(start),
    helloSec: view.getUint16(start + 4),
    options: view.getUint8(start + 6),
    priority: view.getUint8(start + 7),
    deadSec: view.getUint32(start + 8),
    designated: view.getUint32(start + 12),
    backup: view.getUint32(start + 16),
    neighbours,
  };
};

export interface Description {
  readonly mtu: number;
  readonly options: number;
  readonly flags: number;
  readonly sequence: number;
  readonly headers: readonly LsaHeader[];
}

/** `headers`: LSA headers as they are sent, 20 bytes each. */
export const writeDescription =
  (description: Omit<Description, 'headers'> & { readonly headers: readonly Uint8Array[] }) =>
  (writer: MessageWriter) => {
    writer.u16(description.mtu).u8(description.options).u8(description.flags).u32(description.sequence);
    for (const header of description.headers) writer.copy(header);
  };

const readHeaders = (view: DataView, start: number, end: number): LsaHeader[] => {
  const headers: LsaHeader[] = [];
  for (let at = start; at + lsaHeaderBytes <= end; at += lsaHeaderBytes) headers.push(readLsaHeader(view, at));
  return headers;
};

export const readDescription = ({ view, start, end }: ReceivedOspf): Description | undefined => {
  if (end - start < 8) return undefined;
  return {
    mtu: view.getUint16(start),
    options: view.getUint8(start + 2),
    flags: view.getUint8(start + 3),
    sequence: view.getUint32(start + 4),
    headers: readHeaders(view, start + 8, end),
  };
};

export interface LsaReference {
  readonly type: number;
  readonly id: number;
  readonly router: number;
}

export const writeRequest = (wanted: readonly LsaReference[]) => (writer: MessageWriter) => {
  for (const { type, id, router } of wanted) writer.u32(type).u32(id).u32(router);
};

export const readRequest = ({ view, start, end }: ReceivedOspf): LsaReference[] => {
  const wanted: LsaReference[] = [];
  for (let at = start; at + 12 <= end; at += 12)
    wanted.push({ type: view.getUint32(at), id: view.getUint32(at + 4), router: view.getUint32(at + 8) });
  return wanted;
};

export const writeUpdate = (lsas: readonly Uint8Array[]) => (writer: MessageWriter) => {
  writer.u32(lsas.length);
  for (const lsa of lsas) writer.copy(lsa);
};

/** Copies of the LSAs of an update; those that do not fit into the packet end the list. */
export const readUpdate = ({ view, start, end }: ReceivedOspf): Uint8Array[] => {
  if (end - start < 4) return [];
  const lsas: Uint8Array[] = [];
  let at = start + 4;
  for (let left = view.getUint32(start); left > 0 && at + lsaHeaderBytes <= end; left--) {
    const length = view.getUint16(at + 18);
    if (length < lsaHeaderBytes || at + length > end) break;
    lsas.push(new Uint8Array(view.buffer.slice(view.byteOffset + at, view.byteOffset + at + length)));
    at += length;
  }
  return lsas;
};

export const writeAcknowledgement = (headers: readonly Uint8Array[]) => (writer: MessageWriter) => {
  for (const header of headers) writer.copy(header);
};

export const readAcknowledgement = ({ view, start, end }: ReceivedOspf): LsaHeader[] => readHeaders(view, start, end);
