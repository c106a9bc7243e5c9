import { checksumOf, isSumValid, sumBytes } from '../../../bytes/checksum.ts';
import { copyOf, Memory } from '../../../bytes/memory.ts';
import { copyAddress } from '../../../ip/address.ts';
import { pseudoHeaderSum } from '../../../ip/pseudo-header.ts';
import { MessageWriter } from '../../message-writer.ts';
import {
  type Description,
  type Hello,
  type LsaReference,
  type NewDescription,
  type OspfHeader,
  ospfProtocol,
  type PacketEnds,
  type ReceivedOspf,
} from '../format.ts';
import { readHeaders } from '../update.ts';
import { readLsaHeader } from './lsa.ts';

const version = 3;
const headerBytes = 16;
const checksumAt = 12;

const sumOf = (bytes: Uint8Array, { source, destination }: PacketEnds): number => {
  const addresses = new Int32Array(8);
  copyAddress(source, 0, addresses, 0);
  copyAddress(destination, 0, addresses, 4);
  return pseudoHeaderSum(addresses, 0, ospfProtocol) + bytes.length + sumBytes(new Memory(bytes), 0, bytes.length);
};

/** A whole packet with its checksum (RFC 5340, section A.3.1). */
export const writeOspf = (
  { type, routerId, areaId }: OspfHeader,
  instanceId: number,
  more: {
    readonly ends: PacketEnds;
    readonly write: (writer: MessageWriter) => void;
    /** Packets with a trailer have no checksum (RFC 7166, section 4.5). */
    readonly hasTrailer?: boolean;
  },
): Uint8Array => {
  const { ends, write, hasTrailer = false } = more;
  const writer = new MessageWriter(128);
  writer.u8(version).u8(type).u16(0).u32(routerId).u32(areaId).u16(0).u8(instanceId).u8(0);
  write(writer);
  writer.view.setUint16(2, writer.length);
  const packet = writer.take();
  if (!hasTrailer) new DataView(packet.buffer).setUint16(checksumAt, checksumOf(sumOf(packet, ends)));
  return packet;
};

/** Reads a packet; undefined where it is to be discarded. */
export const parseOspf = (
  bytes: Uint8Array,
  instanceId: number,
  ends: PacketEnds,
  hasTrailer = false,
): ReceivedOspf | undefined => {
  if (bytes.length < headerBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint16(2);
  if (bytes[0] !== version || length < headerBytes || length > bytes.length) return undefined;
  if (bytes[14] !== instanceId) return undefined;
  if (!hasTrailer && !isSumValid(sumOf(copyOf(bytes, 0, length), ends))) return undefined;
  const type = bytes[1] as number;
  return { type, routerId: view.getUint32(4), areaId: view.getUint32(8), view, start: headerBytes, end: length };
};

export const writeHello = (hello: Omit<Hello, 'mask'>) => (writer: MessageWriter) => {
  writer.u32(hello.interfaceId).u8(hello.priority).u24(hello.options).u16(hello.helloSec).u16(hello.deadSec);
  writer.u32(hello.designated).u32(hello.backup);
  for (const neighbour of hello.neighbours) writer.u32(neighbour);
};

const u24At = (view: DataView, at: number): number => view.getUint32(at) & 0xffffff;

export const readHello = ({ view, start, end }: ReceivedOspf): Hello | undefined => {
  if (end - start < 20) return undefined;
  const neighbours: number[] = [];
  for (let at = start + 20; at + 4 <= end; at += 4) neighbours.push(view.getUint32(at));
  return {
    mask: 0,
    interfaceId: view.getUint32(start),
    priority: view.getUint8(start + 4),
    options: u24At(view, start + 4),
    helloSec: view.getUint16(start + 8),
    deadSec: view.getUint16(start + 10),
    designated: view.getUint32(start + 12),
    backup: view.getUint32(start + 16),
    neighbours,
  };
};

export const writeDescription = (description: NewDescription, options: number) => (writer: MessageWriter) => {
  writer.u32(options).u16(description.mtu).u8(0).u8(description.flags).u32(description.sequence);
  for (const header of description.headers) writer.copy(header);
};

export const readDescription = ({ view, start, end }: ReceivedOspf): Description | undefined => {
  if (end - start < 12) return undefined;
  return {
    options: u24At(view, start),
    mtu: view.getUint16(start + 4),
    flags: view.getUint8(start + 7),
    sequence: view.getUint32(start + 8),
    headers: readHeaders(readLsaHeader, view, start + 12, end),
  };
};

export const writeRequest = (wanted: readonly LsaReference[]) => (writer: MessageWriter) => {
  for (const { type, id, router } of wanted) writer.u16(0).u16(type).u32(id).u32(router);
};

export const readRequest = ({ view, start, end }: ReceivedOspf): LsaReference[] => {
  const wanted: LsaReference[] = [];
  for (let at = start; at + 12 <= end; at += 12)
    wanted.push({ type: view.getUint16(at + 2), id: view.getUint32(at + 4), router: view.getUint32(at + 8) });
  return wanted;
};
