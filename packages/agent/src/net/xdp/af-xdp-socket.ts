import { release } from 'node:os';
import { SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { type Memory, mapMemory, scratch } from '../kernel/memory.ts';
import { openSocket } from '../kernel/socket.ts';
import type { Device } from '../packet/device.ts';

const familyXdp = 44;
const socketRaw = 3;
const level = 283;
const option = {
  offsets: 1,
  receiveRing: 2,
  sendRing: 3,
  frames: 4,
  fillRing: 5,
  completionRing: 6,
  statistics: 7,
  sendBudget: 9,
} as const;
const bindFlags = { copy: 2, needWakeUp: 8 } as const;
const ringAt = { receive: 0, send: 0x8000_0000, fill: 0x1_0000_0000, completion: 0x1_8000_0000 } as const;
export type XdpRingName = keyof typeof ringAt;
const offsetsOfRing = { receive: 0, send: 32, fill: 64, completion: 96 } as const;
const descriptorBytes = { receive: 16, send: 16, fill: 8, completion: 8 } as const;

/** A ring shared with the kernel; offsets are in 32-bit words. */
export interface XdpRing {
  readonly memory: Memory;
  readonly words: Int32Array;
  readonly producer: number;
  readonly consumer: number;
  readonly entries: number;
  readonly firstEntry: number;
}

const trySet = (fd: number, name: number, bytes: number): boolean =>
  requireLibc().setsockopt(fd, level, name, scratch().addressOf(0, bytes), bytes) === 0;

const set = (fd: number, name: number, bytes: number): void => {
  if (!trySet(fd, name, bytes)) throw new SystemError('setsockopt', requireLibc().errno());
};

const setNumber = (fd: number, name: number, value: number): void => {
  scratch().bytes.writeUInt32LE(value, 0);
  set(fd, name, 4);
};

export const openXdpSocket = (): number => openSocket(familyXdp, socketRaw);

/** Registers the frame memory: chunks of a power of two, one frame each. */
export const registerFrames = (fd: number, memory: Memory, chunkBytes: number): void => {
  const { bytes } = scratch();
  bytes.fill(0, 0, 32);
  bytes.writeBigUInt64LE(BigInt(memory.addressOf(0, memory.length)), 0);
  bytes.writeBigUInt64LE(BigInt(memory.length), 8);
  bytes.writeUInt32LE(chunkBytes, 16);
  set(fd, option.frames, 32);
};

/** Creates the rings of a socket; sizes are powers of two. Without `receive` it only sends. */
export const sizeRings = (
  fd: number,
  entries: { readonly send: number; readonly completion: number; readonly receive?: number },
): void => {
  // A socket cannot be bound without a fill ring.
  setNumber(fd, option.fillRing, entries.receive ?? 64);
  if (entries.receive !== undefined) setNumber(fd, option.receiveRing, entries.receive);
  setNumber(fd, option.completionRing, entries.completion);
  setNumber(fd, option.sendRing, entries.send);
  // Kernels without this option send 32 frames per call. The value is still in the scratch page.
  trySet(fd, option.sendBudget, 4);
};

export const mapRing = (fd: number, which: XdpRingName, entries: number): XdpRing => {
  const { bytes } = scratch();
  bytes.writeUInt32LE(128, 256);
  const libc = requireLibc();
  if (libc.getsockopt(fd, level, option.offsets, scratch().addressOf(0, 128), scratch().addressOf(256, 4)) < 0)
    throw new SystemError('getsockopt', libc.errno());
  if (bytes.readUInt32LE(256) !== 128) throw new Error(`kernel ${release()} is older than 5.4`);
  const at = (index: number) => Number(bytes.readBigUInt64LE(offsetsOfRing[which] + index * 8));
  const [producer, consumer, entriesAt] = [at(0), at(1), at(2)];
  const memory = mapMemory({ length: entriesAt + entries * descriptorBytes[which], fd, offset: ringAt[which] });
  const words = memory.int32;
  return { memory, words, entries, producer: producer >> 2, consumer: consumer >> 2, firstEntry: entriesAt >> 2 };
};

/** Binds to a queue of the device in copy mode, which every driver supports. */
export const bindXdp = (fd: number, device: Device, queue = 0): void => {
  const memory = scratch();
  memory.bytes.fill(0, 0, 16);
  memory.bytes.writeUInt16LE(familyXdp, 0);
  memory.bytes.writeUInt16LE(bindFlags.copy | bindFlags.needWakeUp, 2);
  memory.bytes.writeUInt32LE(device.index, 4);
  memory.bytes.writeUInt32LE(queue, 8);
  const libc = requireLibc();
  if (libc.bind(fd, memory.addressOf(0, 16), 16) < 0) throw new SystemError('bind', libc.errno());
};

/** Frames for the socket that were lost since it was opened: no room in its rings, or not readable. */
export const receiveDrops = (fd: number): number => {
  const { bytes } = scratch();
  bytes.fill(0, 0, 48);
  bytes.writeUInt32LE(48, 256);
  const [value, length] = [scratch().addressOf(0, 48), scratch().addressOf(256, 4)];
  if (requireLibc().getsockopt(fd, level, option.statistics, value, length) < 0) return 0;
  const at = (index: number) => Number(bytes.readBigUInt64LE(index * 8));
  // rx_dropped, rx_invalid_descs, tx_invalid_descs, rx_ring_full, rx_fill_ring_empty_descs
  return at(0) + at(1) + at(3) + at(4);
};
