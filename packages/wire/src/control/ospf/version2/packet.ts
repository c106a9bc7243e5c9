import { checksumOf, isSumValid, sumBytes } from '../../../bytes/checksum.ts';
import { copyOf, Memory } from '../../../bytes/memory.ts';
import { MessageWriter } from '../../message-writer.ts';
import type { Description, Hello, LsaReference, NewDescription, OspfHeader, ReceivedOspf } from '../format.ts';
import { readHeaders } from '../update.ts';
import { readLsaHeader } from './lsa.ts';

const ospfHeaderBytes = 24;
const version = 2;

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

export const writeHello = (hello: Omit<Hello, 'interfaceId'>) => (writer: MessageWriter) => {
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
    interfaceId: 0,
    helloSec: view.getUint16(start + 4),
    options: view.getUint8(start + 6),
    priority: view.getUint8(start + 7),
    deadSec: view.getUint32(start + 8),
    designated: view.getUint32(start + 12),
    backup: view.getUint32(start + 16),
    neighbours,
  };
};

export const writeDescription = (description: NewDescription, options: number) => (writer: MessageWriter) => {
  writer.u16(description.mtu).u8(options).u8(description.flags).u32(description.sequence);
  for (const header of description.headers) writer.copy(header);
};

export const readDescription = ({ view, start, end }: ReceivedOspf): Description | undefined => {
  if (end - start < 8) return undefined;
  return {
    mtu: view.getUint16(start),
    options: view.getUint8(start + 2),
    flags: view.getUint8(start + 3),
    sequence: view.getUint32(start + 4),
    headers: readHeaders(readLsaHeader, view, start + 8, end),
  };
};

export const writeRequest = (wanted: readonly LsaReference[]) => (writer: MessageWriter) => {
  for (const { type, id, router } of wanted) writer.u32(type).u32(id).u32(router);
};

export const readRequest = ({ view, start, end }: ReceivedOspf): LsaReference[] => {
  const wanted: LsaReference[] = [];
  for (let at = start; at + 12 <= end; at += 12)
    wanted.push({ type: view.getUint32(at), id: view.getUint32(at + 4), router: view.getUint32(at + 8) });
  return wanted;
};
