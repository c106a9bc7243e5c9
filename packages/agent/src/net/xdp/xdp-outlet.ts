import { errno, SystemError } from '../kernel/errno.ts';
import { type Libc, requireLibc } from '../kernel/libc.ts';
import { type Memory, mapMemory } from '../kernel/memory.ts';
import { closeSocket, configured } from '../kernel/socket.ts';
import type { Device } from '../packet/device.ts';
import type { FramePlaces, Outlet, OutletSizes } from '../packet/tx-path.ts';
import { bindXdp, mapRing, openXdpSocket, registerFrames, sizeRings, type XdpRing } from './xdp-socket.ts';

const chunkSizes = [2048, 4096] as const;
const completionEntries = 4096;
const dontWait = 0x40;

const powerOfTwo = (least: number): number => 2 ** Math.ceil(Math.log2(least));

/** One frame in each chunk. */
class Chunks implements FramePlaces {
  readonly count: number;
  readonly bytes: Buffer;
  readonly memory: Memory;
  readonly chunkBytes: number;
  readonly lengths: Int32Array;
  readonly #mostBytes: number;
  readonly #spots: number;

  constructor({ count, bytes }: OutletSizes) {
    const chunkBytes = chunkSizes.find((size) => size >= bytes);
    if (chunkBytes === undefined) throw new RangeError(`no AF_XDP: it takes frames of at most ${chunkSizes[1]} bytes`);
    this.count = count;
    this.chunkBytes = chunkBytes;
    this.#mostBytes = bytes;
    this.#spots = Math.floor((chunkBytes - bytes) / 64) + 1;
    this.lengths = new Int32Array(count);
    this.memory = mapMemory({ length: count * chunkBytes });
    this.bytes = this.memory.bytes;
  }

  /** Somewhere else in each chunk: frames at even distances would crowd into a few lines of the processor's cache. */
  offsetOf(place: number): number {
    return place * this.chunkBytes + ((place * 3) % this.#spots) * 64;
  }

  setLength(place: number, bytes: number): void {
    if (!(bytes >= 0 && bytes <= this.#mostBytes))
      throw new RangeError(`a frame of ${bytes} bytes does not fit its place`);
    this.lengths[place] = bytes;
  }
}

/** Frames by rings shared with the kernel (AF_XDP), which copies them: every driver can do that. */
class XdpOutlet implements Outlet {
  readonly places: Chunks;
  readonly lost = 0;
  readonly #libc: Libc = requireLibc();
  readonly #fd: number;
  readonly #sending: XdpRing;
  readonly #completed: XdpRing;
  /** Up to where the kernel has read. What it says itself may be one behind. */
  #consumer = 0;
  #producer = 0;

  constructor(device: Device, sizes: OutletSizes) {
    const entries = powerOfTwo(sizes.count * 2);
    this.places = new Chunks(sizes);
    const rings: XdpRing[] = [];
    try {
      this.#fd = configured(openXdpSocket(), (fd) => {
        registerFrames(fd, this.places.memory, this.places.chunkBytes);
        sizeRings(fd, { send: entries, completion: completionEntries });
        for (const which of ['send', 'completion'] as const)
          rings.push(mapRing(fd, which, which === 'send' ? entries : completionEntries));
        bindXdp(fd, device);
      });
    } catch (error) {
      for (const { memory } of [this.places, ...rings]) memory.release();
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
    for (const { memory } of [this.places, this.#sending, this.#completed]) memory.release();
  }

  /** What was offered before and not taken is offered anew, or given up: then it has no length, and is passed over. */
  #offer(first: number, count: number): void {
    const { words, producer, entries, firstEntry } = this.#sending;
    const open = Math.max(count, (this.#producer - this.#consumer) | 0);
    for (let index = 0; index < open; index++) {
      const at = firstEntry + ((this.#consumer + index) & (entries - 1)) * 4;
      const place = index < count ? first + index : 0;
      words[at] = this.places.offsetOf(place);
      words[at + 1] = 0;
      words[at + 2] = index < count ? (this.places.lengths[place] as number) : 0;
      words[at + 3] = 0;
    }
    this.#producer = (this.#consumer + open) | 0;
    const completed = this.#completed;
    Atomics.store(completed.words, completed.consumer, Atomics.load(completed.words, completed.producer));
    Atomics.store(words, producer, this.#producer);
  }

  /** How many frames have left since the last look. */
  #advance(error: number): number {
    const { words, consumer } = this.#sending;
    const read = (Atomics.load(words, consumer) - this.#consumer) | 0;
    if (error !== errno.EBUSY) {
      if (read > 0) this.#consumer = (this.#consumer + read) | 0;
      return Math.max(read, 0);
    }
    // The last frame that was read could not leave; when it was the only one, the kernel does not say that it was read.
    const passed = Math.max(read, 1);
    this.#consumer = (this.#consumer + passed) | 0;
    return passed - 1;
  }
}

const refusalOf = (error: unknown): string => {
  if (!(error instanceof SystemError)) return (error as Error).message;
  if (error.code === 'EPERM' || error.code === 'EACCES') return 'no AF_XDP: it needs the right cap_net_raw';
  if (error.code === 'EAFNOSUPPORT') return 'no AF_XDP: the kernel has none';
  if (error.code === 'EBUSY') return 'no AF_XDP: another program holds the queue of the interface';
  return `no AF_XDP: ${error.message}`;
};

/** Why frames cannot leave by AF_XDP here; undefined when it depends on the interface. */
export const probeXdp = (): string | undefined => {
  try {
    closeSocket(openXdpSocket());
    return undefined;
  } catch (error) {
    return refusalOf(error);
  }
};

/** Throws an error that says why not. */
export const openXdpOutlet = (device: Device, sizes: OutletSizes): Outlet => {
  try {
    return new XdpOutlet(device, sizes);
  } catch (error) {
    throw new Error(refusalOf(error), { cause: error });
  }
};
