import { SystemError } from '../kernel/errno.ts';
import { findLibc, requireLibc } from '../kernel/libc.ts';
import { scratch } from '../kernel/memory.ts';
import { closeSocket, configureOrClose, openSocket } from '../kernel/socket.ts';
import type { Device } from './device.ts';
import type { FilterProgram } from './packet-filter.ts';

const familyPacket = 17;
const socketRaw = 3;
const allProtocols = 3;
const addressBytes = 20;
const attachFilter = [1, 26] as const;

/** Level and name of packet socket options. */
export const packetOption = {
  addMembership: [263, 1],
  receiveRing: [263, 5],
  statistics: [263, 6],
  copyThreshold: [263, 7],
  version: [263, 10],
  hasOffloadHeader: [263, 15],
  bypassQueue: [263, 20],
  ignoreOutgoing: [263, 23],
} as const;
type PacketOption = (typeof packetOption)[keyof typeof packetOption];

const valuesAt = 1024;

export const setPacketOption = (fd: number, [level, name]: PacketOption, ...values: number[]): void => {
  const memory = scratch();
  for (const [index, value] of values.entries()) memory.bytes.writeUInt32LE(value, valuesAt + index * 4);
  const length = values.length * 4;
  const libc = requireLibc();
  if (libc.setsockopt(fd, level, name, memory.addressOf(valuesAt, length), length) < 0)
    throw new SystemError('setsockopt', libc.errno());
};

/** Frames accepted by the filter since the last call, and how many of them were dropped because the ring was full. */
export const takeStatistics = (fd: number): { readonly frames: number; readonly drops: number } => {
  const memory = scratch();
  memory.bytes.writeUInt32LE(12, 0);
  const [level, name] = packetOption.statistics;
  const room = memory.addressOf(valuesAt, 12);
  if (requireLibc().getsockopt(fd, level, name, room, memory.addressOf(0, 4)) < 0) return { frames: 0, drops: 0 };
  return { frames: memory.bytes.readUInt32LE(valuesAt), drops: memory.bytes.readUInt32LE(valuesAt + 4) };
};

/** Attaches a filter: only packets it accepts are received. */
export const attachProgram = (fd: number, program: FilterProgram): void => {
  const memory = scratch();
  const bytes = Buffer.concat(
    program.map(({ code, jt, jf, k }) => {
      const line = Buffer.alloc(8);
      line.writeUInt16LE(code, 0);
      line[2] = jt;
      line[3] = jf;
      line.writeUInt32LE(k >>> 0, 4);
      return line;
    }),
  );
  memory.bytes.set(bytes, valuesAt);
  memory.bytes.writeBigUInt64LE(BigInt(program.length), 0);
  memory.bytes.writeBigUInt64LE(BigInt(memory.addressOf(valuesAt, bytes.length)), 8);
  const libc = requireLibc();
  if (libc.setsockopt(fd, ...attachFilter, memory.addressOf(0, 16), 16) < 0)
    throw new SystemError('setsockopt', libc.errno());
};

const bindTo = (fd: number, device: Device, protocol: number): void => {
  const memory = scratch();
  memory.bytes.fill(0, 0, addressBytes);
  memory.bytes.writeUInt16LE(familyPacket, 0);
  memory.bytes.writeUInt16BE(protocol, 2);
  memory.bytes.writeInt32LE(device.index, 4);
  const libc = requireLibc();
  if (libc.bind(fd, memory.addressOf(0, addressBytes), addressBytes) < 0) throw new SystemError('bind', libc.errno());
};

/** A socket that sends whole frames and receives none. With `isCaptured`, captures on this machine see them. */
export const openSender = (device: Device, isCaptured = false): number =>
  configureOrClose(openSocket(familyPacket, socketRaw), (fd) => {
    // Bypasses the queueing discipline, which would change the send times.
    setPacketOption(fd, packetOption.bypassQueue, isCaptured ? 0 : 1);
    bindTo(fd, device, 0);
  });

/** A socket that sends whole frames, each behind a virtio_net_hdr that says what is left to the kernel. */
export const openBurstSocket = (device: Device): number =>
  configureOrClose(openSocket(familyPacket, socketRaw), (fd) => {
    // Through the queueing discipline: the kernel cuts frames into segments nowhere else.
    setPacketOption(fd, packetOption.hasOffloadHeader, 1);
    bindTo(fd, device, 0);
  });

/**
 * A socket for incoming frames, or both directions; `set` runs before the first can arrive. Does not enable promiscuous
 * mode.
 */
export const openReceiver = (device: Device, includesOutgoing: boolean, set: (fd: number) => void): number =>
  configureOrClose(openSocket(familyPacket, socketRaw), (fd) => {
    setPacketOption(fd, packetOption.ignoreOutgoing, includesOutgoing ? 0 : 1);
    set(fd);
    bindTo(fd, device, allProtocols);
  });

const refusalOf = (error: unknown): string => {
  if (!(error instanceof SystemError)) return (error as Error).message;
  if (error.code === 'EPERM' || error.code === 'EACCES') return 'raw frames require cap_net_raw';
  if (error.code === 'EAFNOSUPPORT') return 'the kernel has no packet sockets';
  return error.message;
};

/** Why raw frames cannot be used; undefined if they can. */
export const probePackets = (): string | undefined => {
  const found = findLibc();
  if ('reason' in found) return found.reason;
  try {
    closeSocket(openSocket(familyPacket, socketRaw));
    return undefined;
  } catch (error) {
    return refusalOf(error);
  }
};
