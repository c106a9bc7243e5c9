import type { Memory } from '../bytes/memory.ts';
import { bthBytes, icrcBytes, opcode, type RdmaPacket, writeBase } from './packet.ts';

/** Messages of the communication manager (InfiniBand 12.6), by their attribute. */
export const connectionMessage = {
  request: 0x10,
  reject: 0x12,
  reply: 0x13,
  ready: 0x14,
  disconnect: 0x15,
  disconnected: 0x16,
} as const;
type MessageType = (typeof connectionMessage)[keyof typeof connectionMessage];

/** What a message says; members that it does not have are 0. */
export interface ConnectionMessage {
  readonly type: MessageType;
  readonly transaction: bigint;
  readonly localId: number;
  readonly remoteId: number;
  readonly qp: number;
  readonly psn: number;
  readonly mtu: number;
  /** Memory of the sender, in its private data. */
  readonly address: bigint;
  readonly key: number;
  readonly bytes: number;
}

const managementQp = 1;
const managementKey = 0x80010000;
const managementClass = 7;
const classVersion = 2;
const sendMethod = 3;
const madBytes = 256;
const contentAt = 24;
const dethBytes = 8;
/** Of requests, behind the header of IP addressing; of replies. */
const privateAt = { request: contentAt + 140 + 36, reply: contentAt + 36 } as const;
/** RDMA over TCP port space, port 4791. */
const serviceId = 0x0000000001060000n | 4791n;
const mtuCodes: readonly number[] = [256, 512, 1024, 2048, 4096];

export const connectionMessageBytes = bthBytes + dethBytes + madBytes + icrcBytes;

/** Addresses of both ends, as GIDs: 16 bytes each. */
export interface Gids {
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
}

/** Writes the whole packet behind the UDP header. */
export const writeConnectionMessage = (
  memory: Memory,
  at: number,
  message: ConnectionMessage,
  { gids, psn }: { readonly gids: Gids; readonly psn: number },
): void => {
  const { bytes, view } = memory;
  bytes.fill(0, at, at + connectionMessageBytes);
  writeBase(memory, at, { opcode: opcode.datagram, destinationQp: managementQp, psn });
  view.setUint32(at + bthBytes, managementKey);
  view.setUint32(at + bthBytes + 4, managementQp);
  const mad = at + bthBytes + dethBytes;
  bytes.set([1, managementClass, classVersion, sendMethod], mad);
  view.setBigUint64(mad + 8, message.transaction);
  view.setUint16(mad + 16, message.type);
  view.setUint32(mad + contentAt, message.localId);
  if (message.type === connectionMessage.request) writeRequest(memory, mad, message, gids);
  else view.setUint32(mad + contentAt + 4, message.remoteId);
  if (message.type === connectionMessage.reply) writeReply(memory, mad, message);
  if (message.type === connectionMessage.disconnect) view.setUint32(mad + contentAt + 8, message.qp << 8);
};

const writeRequest = ({ bytes, view }: Memory, mad: number, message: ConnectionMessage, gids: Gids): void => {
  const at = mad + contentAt;
  view.setBigUint64(at + 8, serviceId);
  view.setUint32(at + 32, ((message.qp << 8) | 16) >>> 0);
  view.setUint32(at + 36, 16);
  // Timeout of the far end, reliable connection, flow control.
  view.setUint32(at + 40, (20 << 3) | 1);
  view.setUint32(at + 44, ((message.psn << 8) | (20 << 3) | 7) >>> 0);
  view.setUint16(at + 48, 0xffff);
  view.setUint8(at + 50, (Math.max(1, mtuCodes.indexOf(message.mtu) + 1) << 4) | 7);
  view.setUint8(at + 51, 15 << 4);
  view.setUint16(at + 52, 0xffff);
  view.setUint16(at + 54, 0xffff);
  bytes.set(gids.source, at + 56);
  bytes.set(gids.destination, at + 72);
  view.setUint8(at + 93, 64);
  view.setUint8(at + 95, 14 << 3);
  // Addressing of RDMA over IP: version of IP, port, addresses.
  const isV4 = gids.source[10] === 0xff && gids.source[11] === 0xff;
  view.setUint8(at + 141, isV4 ? 0x40 : 0x60);
  view.setUint16(at + 142, 4791);
  bytes.set(isV4 ? gids.source.subarray(12) : gids.source, at + 144 + (isV4 ? 12 : 0));
  bytes.set(isV4 ? gids.destination.subarray(12) : gids.destination, at + 160 + (isV4 ? 12 : 0));
  writePrivate(view, mad + privateAt.request, message);
};

const writeReply = ({ view }: Memory, mad: number, message: ConnectionMessage): void => {
  const at = mad + contentAt;
  view.setUint32(at + 12, (message.qp << 8) >>> 0);
  view.setUint32(at + 20, (message.psn << 8) >>> 0);
  view.setUint16(at + 24, 0x1010);
  view.setUint8(at + 26, 15 << 3);
  view.setUint8(at + 27, 7 << 5);
  writePrivate(view, mad + privateAt.reply, message);
};

const writePrivate = (view: DataView, at: number, { address, key, bytes }: ConnectionMessage): void => {
  view.setBigUint64(at, address);
  view.setUint32(at + 8, key);
  view.setUint32(at + 12, bytes);
};

const types: ReadonlySet<number> = new Set(Object.values(connectionMessage));

/** Reads a message of the communication manager; undefined if the packet has none. */
export const parseConnectionMessage = (packet: RdmaPacket, { view }: Memory): ConnectionMessage | undefined => {
  const mad = packet.payload;
  if (packet.opcode !== opcode.datagram || packet.destinationQp !== managementQp) return undefined;
  if (packet.end - mad < madBytes || view.getUint8(mad + 1) !== managementClass) return undefined;
  const type = view.getUint16(mad + 16);
  if (!types.has(type)) return undefined;
  const at = mad + contentAt;
  const isRequest = type === connectionMessage.request;
  const isReply = type === connectionMessage.reply;
  const upper = (offset: number) => view.getUint32(at + offset) >>> 8;
  const own = isRequest ? mad + privateAt.request : mad + privateAt.reply;
  const hasMemory = isRequest || isReply;
  return {
    type: type as MessageType,
    transaction: view.getBigUint64(mad + 8),
    localId: view.getUint32(at),
    remoteId: isRequest ? 0 : view.getUint32(at + 4),
    qp: isRequest ? upper(32) : isReply ? upper(12) : type === connectionMessage.disconnect ? upper(8) : 0,
    psn: isRequest ? upper(44) : isReply ? upper(20) : 0,
    mtu: isRequest ? (mtuCodes[(view.getUint8(at + 50) >> 4) - 1] ?? 0) : 0,
    address: hasMemory ? view.getBigUint64(own) : 0n,
    key: hasMemory ? view.getUint32(own + 8) : 0,
    bytes: hasMemory ? view.getUint32(own + 12) : 0,
  };
};
