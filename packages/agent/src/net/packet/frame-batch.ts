import { errno, SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { type Memory, mapMemory, writeAddress } from '../kernel/memory.ts';
import { closeSocket } from '../kernel/socket.ts';
import type { Device } from './device.ts';
import { openSender } from './packet-socket.ts';
import type { FrameSlots, TxPath, TxPathOptions } from './tx-path.ts';

/** Frames by a packet socket, many per system call: works wherever frames can be sent. */
export const openPacketTxPath = (device: Device, { isCaptured, ...sizes }: TxPathOptions): TxPath => {
  const fd = openSender(device, isCaptured);
  const slots = new FrameBatch(sizes);
  return {
    slots,
    lost: 0,
    send: (first, end) => slots.send(fd, first, end),
    close() {
      closeSocket(fd);
      slots.release();
    },
  };
};

const headerBytes = 64;
const vectorBytes = 16;
const dontWait = 0x40;

// An odd number of cache lines: with even strides, frames would compete for a few sets of the CPU cache.
const strideOf = (bytes: number): number => (Math.ceil(bytes / 128) * 2 + 1) * 64;

/** Frames sent in one system call. They stay in their slots, so that only changed fields are rewritten. */
export class FrameBatch implements FrameSlots {
  readonly count: number;
  readonly bytes: Buffer;
  readonly #memory: Memory;
  readonly #words: Int32Array;
  readonly #stride: number;
  readonly #maxBytes: number;
  readonly #libc = requireLibc();

  constructor({ count, bytes }: { readonly count: number; readonly bytes: number }) {
    this.count = count;
    this.#maxBytes = bytes;
    this.#stride = strideOf(bytes);
    this.#memory = mapMemory({ length: count * (headerBytes + vectorBytes + this.#stride) });
    this.bytes = this.#memory.bytes;
    this.#words = this.#memory.int32;
    for (let index = 0; index < count; index++) {
      const vector = count * headerBytes + index * vectorBytes;
      writeAddress(this.#words, vector >> 2, this.#memory.addressOf(this.offsetOf(index), bytes));
      writeAddress(this.#words, ((index * headerBytes) >> 2) + 4, this.#memory.addressOf(vector, vectorBytes));
      this.#words[((index * headerBytes) >> 2) + 6] = 1;
    }
  }

  offsetOf(index: number): number {
    return this.count * (headerBytes + vectorBytes) + index * this.#stride;
  }

  setLength(index: number, bytes: number): void {
    if (!(bytes >= 0 && bytes <= this.#maxBytes))
      throw new RangeError(`a frame of ${bytes} bytes does not fit its slot`);
    this.#words[((this.count * headerBytes + index * vectorBytes) >> 2) + 2] = bytes;
  }

  /** Sends frames from `first` to before `end`. Returns how many were accepted, or a negative error number. */
  send(fd: number, first: number, end: number): number {
    const count = end - first;
    const sent = this.#libc.sendmmsg(
      fd,
      this.#memory.addressOf(first * headerBytes, count * headerBytes),
      count,
      dontWait,
    );
    return sent >= 0 ? sent : -this.#libc.errno();
  }

  release(): void {
    this.#memory.release();
  }
}

/** Temporarily no buffer space; everything else is an error of the device. */
export const isFull = (result: number): boolean => result === -errno.ENOBUFS || result === -errno.EAGAIN;

/** Sends a single frame, such as an ARP request. */
export const sendFrame = (fd: number, frame: Uint8Array): void => {
  const batch = new FrameBatch({ count: 1, bytes: frame.length });
  try {
    batch.bytes.set(frame, batch.offsetOf(0));
    batch.setLength(0, frame.length);
    const result = batch.send(fd, 0, 1);
    if (result < 0 && !isFull(result)) throw new SystemError('sendmmsg', -result);
  } finally {
    batch.release();
  }
};
