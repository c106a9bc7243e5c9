import { errno, SystemError } from '../kernel/errno.ts';
import { type Libc, requireLibc } from '../kernel/libc.ts';
import { type Memory, mapMemory } from '../kernel/memory.ts';
import { closeSocket, configureOrClose } from '../kernel/socket.ts';
import type { Device } from '../packet/device.ts';
import type { FrameSlots, TxPath, TxPathOptions } from '../packet/tx-path.ts';
import { bindXdp, mapRing, openXdpSocket, registerFrames, sizeRings, type XdpRing } from './af-xdp-socket.ts';

const chunkSizes = [2048, 4096] as const;
const completionEntries = 4096;
const dontWait = 0x40;

const powerOfTwo = (min: number): number => 2 ** Math.ceil(Math.log2(min));

/** One frame per chunk. */
class Chunks implements FrameSlots {
  readonly count: number;
  readonly bytes: Buffer;
  readonly memory: Memory;
  readonly chunkBytes: number;
  readonly lengths: Int32Array;
  readonly #maxBytes: number;
  readonly #offsets: number;

  constructor({ count, bytes }: TxPathOptions) {
    const chunkBytes = chunkSizes.find((size) => size >= bytes);
    if (chunkBytes === undefined) throw new RangeError(`no AF_XDP: frames are limited to ${chunkSizes[1]} bytes`);
    this.count = count;
    this.chunkBytes = chunkBytes;
    this.#maxBytes = bytes;
    this.#offsets = Math.floor((chunkBytes - bytes) / 64) + 1;
    this.lengths = new Int32Array(count);
    this.memory = mapMemory({ length: count * chunkBytes });
    this.bytes = this.memory.bytes;
  }

  /** A different offset in each chunk: with even strides, frames would compete for a few sets of the CPU cache. */
  offsetOf(slot: number): number {
    return slot * this.chunkBytes + ((slot * 3) % this.#offsets) * 64;
  }

  setLength(slot: number, bytes: number): void {
    if (!(bytes >= 0 && bytes <= this.#maxBytes))
      throw new RangeError(`a frame of ${bytes} bytes does not fit its slot`);
    this.lengths[slot] = bytes;
  }
}

/** Frames by AF_XDP in copy mode, which every driver supports. */
class AfXdpTxPath implements TxPath {
  readonly slots: Chunks;
  readonly lost = 0;
  readonly #libc: Libc = requireLibc();
  readonly #fd: number;
  readonly #sending: XdpRing;
  readonly #completed: XdpRing;
  /** Position up to which the kernel has read. Its own index may be one behind. */
  #consumer = 0;
  #producer = 0;

  constructor(device: Device, sizes: TxPathOptions) {
    const entries = powerOfTwo(sizes.count * 2);
    this.slots = new Chunks(sizes);
    const rings: XdpRing[] = [];
    try {
      this.#fd = configureOrClose(openXdpSocket(), (fd) => {
        registerFrames(fd, this.slots.memory, this.slots.chunkBytes);
        sizeRings(fd, { send: entries, completion: completionEntries });
        for (const which of ['send', 'completion'] as const)
          rings.push(mapRing(fd, which, which === 'send' ? entries : completionEntries));
        bindXdp(fd, device);
      });
    } catch (error) {
      for (const { memory } of [this.slots, ...rings]) memory.release();
      throw error;
    }
    [this.#sending, this.#completed] = rings as [XdpRing, XdpRing];
  }

  send(first: number, end: number): number {
    const count = end - first;
    this.#offer(first, count);
    const result = this.#libc.send(this.#fd, 0, 0, dontWait);
    const error = result < 0 ? this.#libc.errno() : 0;
    const taken = Math.min(this.#advance(error), count);
    if (taken > 0 || error === 0) return taken;
    return error === errno.EBUSY ? -errno.ENOBUFS : -error;
  }

  close(): void {
    closeSocket(this.#fd);
    for (const { memory } of [this.slots, this.#sending, this.#completed]) memory.release();
  }

  /** Frames offered before and not accepted are offered again, or replaced by empty descriptors, which are skipped. */
  #offer(first: number, count: number): void {
    const { words, producer, entries, firstEntry } = this.#sending;
    const open = Math.max(count, (this.#producer - this.#consumer) | 0);
    for (let index = 0; index < open; index++) {
      const at = firstEntry + ((this.#consumer + index) & (entries - 1)) * 4;
      const slot = index < count ? first + index : 0;
      words[at] = this.slots.offsetOf(slot);
      words[at + 1] = 0;
      words[at + 2] = index < count ? (this.slots.lengths[slot] as number) : 0;
      words[at + 3] = 0;
    }
    this.#producer = (this.#consumer + open) | 0;
    const completed = this.#completed;
    Atomics.store(completed.words, completed.consumer, Atomics.load(completed.words, completed.producer));
    Atomics.store(words, producer, this.#producer);
  }

  /** Frames sent since the last call. */
  #advance(error: number): number {
    const { words, consumer } = this.#sending;
    const read = (Atomics.load(words, consumer) - this.#consumer) | 0;
    if (error !== errno.EBUSY) {
      if (read > 0) this.#consumer = (this.#consumer + read) | 0;
      return Math.max(read, 0);
    }
    // The last frame read could not be sent; if it was the only one, the kernel does not report it as read.
    const consumed = Math.max(read, 1);
    this.#consumer = (this.#consumer + consumed) | 0;
    return consumed - 1;
  }
}

const refusalOf = (error: unknown): string => {
  if (!(error instanceof SystemError)) return (error as Error).message;
  if (error.code === 'EPERM' || error.code === 'EACCES') return 'no AF_XDP: it requires cap_net_raw';
  if (error.code === 'EAFNOSUPPORT') return 'no AF_XDP: the kernel does not support it';
  if (error.code === 'EBUSY') return 'no AF_XDP: another program holds the queue of the interface';
  return `no AF_XDP: ${error.message}`;
};

/** Why AF_XDP is not available; undefined if it depends on the interface. */
export const probeAfXdp = (): string | undefined => {
  try {
    closeSocket(openXdpSocket());
    return undefined;
  } catch (error) {
    return refusalOf(error);
  }
};

export const openAfXdpTxPath = (device: Device, sizes: TxPathOptions): TxPath => {
  try {
    return new AfXdpTxPath(device, sizes);
  } catch (error) {
    throw new Error(refusalOf(error), { cause: error });
  }
};
