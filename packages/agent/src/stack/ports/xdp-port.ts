import { Memory as WireMemory } from '@rushhour/wire';
import { type EpollPoller, epollEvent, epollPoller, type Watcher } from '../../net/epoll/epoll-poller.ts';
import { errno } from '../../net/kernel/errno.ts';
import { type Libc, requireLibc } from '../../net/kernel/libc.ts';
import { type Memory, mapMemory } from '../../net/kernel/memory.ts';
import { closeSocket } from '../../net/kernel/socket.ts';
import { type Device, takesLargePackets } from '../../net/packet/device.ts';
import { neighbourProgram } from '../../net/packet/packet-filter.ts';
import {
  bindXdp,
  mapRing,
  openXdpSocket,
  receiveDrops,
  registerFrames,
  sizeRings,
  type XdpRing,
  type XdpRingName,
} from '../../net/xdp/af-xdp-socket.ts';
import { attachProgramTo, createSocketMap, loadProgram, putSocket } from '../../net/xdp/bpf.ts';
import { BurstSender } from './burst-sender.ts';
import { PacketReceiver } from './packet-receiver.ts';
import type { FrameReceiver, Port } from './port.ts';
import { type AddressBlock, maxBlocks, redirectProgram } from './redirect-program.ts';

const chunkBytes = 2048;
/** The kernel leaves this much before a frame that it writes. */
const maxFrame = chunkBytes - 256;
const receiveChunks = 4096;
const sendChunks = 2048;
const dontWait = 0x40;
/** Frames handled before other descriptors get their turn. */
const framesPerIteration = 1024;
/** To sleep and to be woken takes longer than the acknowledgements of a burst on a short path. */
const awakeMs = 0.03;
/** Bursts sent before other descriptors get their turn. */
const burstsPerIteration = 16;
/** Calls that handle a full ring. */
const pollRounds = receiveChunks / framesPerIteration;

export interface XdpPortOptions {
  readonly device: Device;
  readonly blocks: readonly AddressBlock[];
  /** Frames come from this machine, whose kernel leaves checksums to hardware that does not exist. */
  readonly isVirtual: boolean;
  /** Receive queues of the interface. */
  readonly queues: number;
}

/** A socket on one queue of the interface, with frame memory of its own. */
class XdpQueue implements Watcher {
  readonly fd: number;
  readonly memory: WireMemory;
  readonly rings: Readonly<Record<XdpRingName, XdpRing>>;
  /** A burst was sent since the last frames were handled. */
  hasBurst = false;
  readonly #frames: Memory;
  readonly #isVirtual: boolean;
  #handler: FrameReceiver | undefined;
  #isClosed = false;

  constructor({ device, isVirtual }: XdpPortOptions, queue: number) {
    this.#isVirtual = isVirtual;
    this.#frames = mapMemory({ length: (receiveChunks + sendChunks) * chunkBytes });
    this.memory = new WireMemory(this.#frames.bytes);
    this.fd = openXdpSocket();
    const rings: Partial<Record<XdpRingName, XdpRing>> = {};
    this.rings = rings as Record<XdpRingName, XdpRing>;
    try {
      registerFrames(this.fd, this.#frames, chunkBytes);
      sizeRings(this.fd, { send: sendChunks, completion: sendChunks, receive: receiveChunks });
      for (const name of ['receive', 'fill'] as const) rings[name] = mapRing(this.fd, name, receiveChunks);
      for (const name of ['send', 'completion'] as const) rings[name] = mapRing(this.fd, name, sendChunks);
      this.#fillAll();
      bindXdp(this.fd, device, queue);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  receive(handler: FrameReceiver, poller: EpollPoller): void {
    this.#handler = handler;
    poller.add(this.fd, epollEvent.in, this);
  }

  /** Handles frames, and those that answer a burst at once. */
  ready(): void {
    for (let bursts = 0; bursts < burstsPerIteration; bursts++) {
      this.hasBurst = false;
      this.#handle();
      if (this.#isClosed || !this.hasBurst || !this.#stayAwake()) return;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSocket(this.fd);
    for (const { memory } of [...Object.values(this.rings), { memory: this.#frames }]) memory.release();
  }

  /** Waits a moment for frames without sleeping. False if there are none. */
  #stayAwake(): boolean {
    const { words, producer, consumer } = this.rings.receive;
    const end = performance.now() + awakeMs;
    while (Atomics.load(words, producer) === words[consumer]) if (performance.now() > end) return false;
    return true;
  }

  #handle(): void {
    const { words, producer, consumer, entries, firstEntry } = this.rings.receive;
    const { fill } = this.rings;
    const handler = this.#handler as FrameReceiver;
    let next = words[consumer] as number;
    let filled = fill.words[fill.producer] as number;
    const count = Math.min((Atomics.load(words, producer) - next) | 0, framesPerIteration);
    for (let index = 0; index < count; index++) {
      const at = firstEntry + (next & (entries - 1)) * 4;
      const start = words[at] as number;
      handler.onFrame(this.memory, start, start + (words[at + 2] as number), this.#isVirtual);
      if (this.#isClosed) return;
      const slot = fill.firstEntry + (filled & (fill.entries - 1)) * 2;
      fill.words[slot] = start & ~(chunkBytes - 1);
      next = (next + 1) | 0;
      filled = (filled + 1) | 0;
    }
    Atomics.store(words, consumer, next);
    Atomics.store(fill.words, fill.producer, filled);
    handler.onIdle();
  }

  #fillAll(): void {
    const { words, producer, firstEntry } = this.rings.fill;
    for (let index = 0; index < receiveChunks; index++) words[firstEntry + index * 2] = index * chunkBytes;
    Atomics.store(words, producer, receiveChunks);
  }
}

/** Frames by AF_XDP: packets to the hosts never reach the kernel's own stack. They leave by the first queue. */
class XdpPort implements Port {
  readonly name = 'AF_XDP';
  readonly mtu: number;
  readonly memory: WireMemory;
  readonly #device: Device;
  readonly #isVirtual: boolean;
  #errors = 0;
  #committed = 0;
  /** Undefined until it is asked for; false: there is none. */
  #burst: BurstSender | false | undefined;
  readonly #libc: Libc = requireLibc();
  readonly #poller: EpollPoller = epollPoller();
  readonly #queues: XdpQueue[] = [];
  readonly #fds: number[] = [];
  readonly #first: XdpQueue;
  /** Chunks free for sending. */
  readonly #free = Int32Array.from({ length: sendChunks }, (_, index) => (receiveChunks + index) * chunkBytes);
  #freeCount = sendChunks;
  #producer = 0;
  #neighbours: PacketReceiver | undefined;
  #handler: FrameReceiver | undefined;
  #reportedDrops = 0;
  #hasRefused = false;
  #isClosed = false;

  constructor(options: XdpPortOptions) {
    const { device, blocks, queues } = options;
    this.mtu = device.mtu;
    this.#device = device;
    this.#isVirtual = options.isVirtual;
    try {
      const map = createSocketMap(queues);
      this.#fds.push(map);
      for (let queue = 0; queue < queues; queue++) {
        const opened = new XdpQueue(options, queue);
        this.#queues.push(opened);
        putSocket(map, queue, opened.fd);
      }
      const program = loadProgram('xdp', redirectProgram(blocks, map));
      this.#fds.push(program);
      this.#fds.push(attach(program, device.index));
    } catch (error) {
      this.#release();
      throw error;
    }
    this.#first = this.#queues[0] as XdpQueue;
    this.memory = this.#first.memory;
  }

  get sentFrames(): number {
    return this.#committed + (this.#burst ? this.#burst.sent : 0);
  }

  get sendErrors(): number {
    return this.#errors + (this.#burst ? this.#burst.errors : 0);
  }

  /** Undefined where large packets would arrive in one piece, as at the other end of a veth. */
  get burst(): BurstSender | undefined {
    this.#burst ??= this.#openBurst();
    return this.#burst === false ? undefined : this.#burst;
  }

  receive(handler: FrameReceiver): void {
    this.#handler = handler;
    this.#neighbours = new PacketReceiver(this.#device, neighbourProgram, handler);
    for (const queue of this.#queues) queue.receive(handler, this.#poller);
  }

  poll(): void {
    for (let round = 0; round < pollRounds && !this.#isClosed; round++) for (const queue of this.#queues) queue.ready();
  }

  begin(length: number): number {
    if (this.#freeCount === 0) this.#reclaim();
    if (this.#freeCount > 0 && length <= maxFrame) return this.#free[this.#freeCount - 1] as number;
    this.#refuse();
    return -1;
  }

  commit(offset: number, length: number): void {
    this.#freeCount--;
    const { words, entries, firstEntry } = this.#first.rings.send;
    const at = firstEntry + (this.#producer & (entries - 1)) * 4;
    words[at] = offset;
    words[at + 2] = length;
    this.#producer = (this.#producer + 1) | 0;
    this.#committed++;
  }

  flush(): void {
    this.#sendRing();
    if (this.#burst) this.#burst.flush();
  }

  takeDrops(): number {
    const all = this.#queues.reduce((sum, { fd }) => sum + receiveDrops(fd), 0);
    const drops = all - this.#reportedDrops;
    this.#reportedDrops = all;
    return drops + (this.#neighbours?.takeDrops() ?? 0);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#neighbours?.close();
    for (const { fd } of this.#queues) this.#poller.forget(fd);
    this.#release();
  }

  #openBurst(): BurstSender | false {
    const { name } = this.#device;
    if (this.#isVirtual && takesLargePackets(name)) return false;
    try {
      return new BurstSender({
        device: this.#device,
        sendEarlier: () => {
          this.#first.hasBurst = this.#queues.length === 1;
          this.#sendRing();
        },
        refuse: () => this.#refuse(),
      });
    } catch {
      // Without it segments are sent one by one.
      return false;
    }
  }

  #sendRing(): void {
    const { words, producer } = this.#first.rings.send;
    Atomics.store(words, producer, this.#producer);
    // A call sends a part of what is in the ring.
    for (let left = this.#waiting(); left > 0; ) {
      if (this.#libc.send(this.#first.fd, 0, 0, dontWait) < 0 && !this.#isTemporary(this.#libc.errno())) break;
      const now = this.#waiting();
      if (now >= left) break;
      left = now;
    }
    this.#reclaim();
    if (this.#waiting() > 0) this.#refuse();
  }

  /** EBUSY: the interface has dropped the frame, as a veth does whose other end is not run in time (256 frames). */
  #isTemporary(error: number): boolean {
    if (error === errno.EBUSY) this.#errors++;
    return error === errno.EAGAIN || error === errno.EBUSY || error === errno.ENOBUFS || error === errno.EINTR;
  }

  #waiting(): number {
    const { words, consumer } = this.#first.rings.send;
    return (this.#producer - Atomics.load(words, consumer)) | 0;
  }

  /** Takes back the chunks of frames that have left. */
  #reclaim(): void {
    const { words, producer, consumer, entries, firstEntry } = this.#first.rings.completion;
    const end = Atomics.load(words, producer);
    let next = words[consumer] as number;
    for (; next !== end; next = (next + 1) | 0) {
      const address = words[firstEntry + (next & (entries - 1)) * 2] as number;
      this.#free[this.#freeCount++] = address & ~(chunkBytes - 1);
    }
    Atomics.store(words, consumer, next);
  }

  /** No frame can be sent: tries again in the next iteration. */
  #refuse(): void {
    if (this.#hasRefused) return;
    this.#hasRefused = true;
    this.#poller.defer(() => {
      this.#hasRefused = false;
      if (this.#isClosed) return;
      this.flush();
      const hasRoom = this.#freeCount > 0 && (!this.#burst || this.#burst.hasRoom);
      if (hasRoom) this.#handler?.onRoom();
      else this.#refuse();
    });
  }

  #release(): void {
    if (this.#burst) this.#burst.close();
    for (const fd of this.#fds.toReversed()) closeSocket(fd);
    for (const queue of this.#queues) queue.close();
  }
}

/** In the driver where it can, else in front of the kernel's stack. */
const attach = (program: number, device: number): number => {
  try {
    return attachProgramTo(program, device, 'driver');
  } catch {
    return attachProgramTo(program, device, 'generic');
  }
};

/** Why AF_XDP cannot carry the frames of these hosts; undefined if that is seen by trying. */
export const xdpPortProblem = (device: Device, blocks: readonly AddressBlock[]): string | undefined => {
  if (device.mtu + 64 > maxFrame) return `the MTU of ${device.name} is above ${maxFrame - 64}`;
  if (blocks.length > maxBlocks) return `the addresses of the hosts are in more than ${maxBlocks} pieces`;
  return undefined;
};

export const openXdpPort = (options: XdpPortOptions): Port => new XdpPort(options);
