import { Memory as WireMemory } from '@rushhour/wire';
import { epollPoller } from '../../net/epoll/epoll-poller.ts';
import { errno } from '../../net/kernel/errno.ts';
import { type Libc, requireLibc } from '../../net/kernel/libc.ts';
import { type Memory, mapMemory, writeAddress } from '../../net/kernel/memory.ts';
import { closeSocket } from '../../net/kernel/socket.ts';
import type { Device } from '../../net/packet/device.ts';
import type { FilterProgram } from '../../net/packet/packet-filter.ts';
import { openSender } from '../../net/packet/packet-socket.ts';
import { PacketReceiver } from './packet-receiver.ts';
import type { FrameReceiver, Port } from './port.ts';

const headerBytes = 64;
const vectorBytes = 16;
const frames = 256;
const dontWait = 0x40;

/** Sends frames by a packet socket, many in one system call. */
class PacketSender {
  sent = 0;
  errors = 0;
  readonly wire: WireMemory;
  readonly #fd: number;
  readonly #libc: Libc = requireLibc();
  readonly #memory: Memory;
  readonly #words: Int32Array;
  readonly #base: number;
  readonly #stride: number;
  #used = 0;
  #done = 0;

  constructor(device: Device, isCaptured: boolean) {
    this.#fd = openSender(device, isCaptured);
    this.#stride = (Math.ceil((device.mtu + 64) / 128) * 2 + 1) * 64;
    this.#base = frames * (headerBytes + vectorBytes);
    this.#memory = mapMemory({ length: this.#base + frames * this.#stride });
    this.#words = this.#memory.int32;
    this.wire = new WireMemory(this.#memory.bytes);
    for (let index = 0; index < frames; index++) {
      const header = (index * headerBytes) >> 2;
      writeAddress(this.#words, header + 4, this.#memory.addressOf(frames * headerBytes + index * vectorBytes, 16));
      this.#words[header + 6] = 1;
    }
  }

  begin(length: number): number {
    if (this.#used === frames || length > this.#stride) return -1;
    return this.#base + this.#used * this.#stride;
  }

  commit(offset: number, length: number): void {
    const vector = (frames * headerBytes + this.#used * vectorBytes) >> 2;
    writeAddress(this.#words, vector, this.#memory.addressOf(offset, length));
    this.#words[vector + 2] = length;
    this.#used++;
  }

  get isEmpty(): boolean {
    return this.#used === 0;
  }

  /** False if frames are left for a later attempt. */
  flush(): boolean {
    while (this.#done < this.#used) {
      const count = this.#used - this.#done;
      const at = this.#memory.addressOf(this.#done * headerBytes, count * headerBytes);
      const sent = this.#libc.sendmmsg(this.#fd, at, count, dontWait);
      if (sent > 0) {
        this.#done += sent;
        this.sent += sent;
        continue;
      }
      const error = this.#libc.errno();
      if (error === errno.ENOBUFS || error === errno.EAGAIN) return false;
      if (error === errno.EINTR) continue;
      this.#done++;
      this.errors++;
    }
    this.#used = 0;
    this.#done = 0;
    return true;
  }

  close(): void {
    closeSocket(this.#fd);
    this.#memory.release();
  }
}

export interface PortOptions {
  readonly device: Device;
  /** Captures on this machine must see the frames. */
  readonly isCaptured: boolean;
  /** Which frames it receives; all without one. */
  readonly filter?: FilterProgram | undefined;
}

/** Frames by packet sockets: works wherever raw frames are permitted. */
class PacketPort implements Port {
  readonly name = 'packet socket';
  readonly mtu: number;
  readonly memory: WireMemory;
  readonly #device: Device;
  readonly #sender: PacketSender;
  readonly #filter: FilterProgram | undefined;
  #receiver: PacketReceiver | undefined;
  #handler: FrameReceiver | undefined;
  #hasRefused = false;
  #isClosed = false;

  constructor({ device, isCaptured, filter }: PortOptions) {
    this.#device = device;
    this.#filter = filter;
    this.mtu = device.mtu;
    this.#sender = new PacketSender(device, isCaptured);
    this.memory = this.#sender.wire;
  }

  poll(): void {
    this.#receiver?.drain();
  }

  get sentFrames(): number {
    return this.#sender.sent;
  }

  get sendErrors(): number {
    return this.#sender.errors;
  }

  takeDrops(): number {
    return this.#receiver?.takeDrops() ?? 0;
  }

  receive(handler: FrameReceiver): void {
    this.#handler = handler;
    this.#receiver = new PacketReceiver(this.#device, this.#filter, handler);
  }

  begin(length: number): number {
    let at = this.#sender.begin(length);
    if (at < 0 && this.#sender.flush()) at = this.#sender.begin(length);
    if (at < 0) this.#refuse();
    return at;
  }

  commit(offset: number, length: number): void {
    this.#sender.commit(offset, length);
  }

  flush(): void {
    if (!this.#sender.isEmpty && !this.#sender.flush()) this.#refuse();
  }

  close(): void {
    this.#isClosed = true;
    this.#receiver?.close();
    this.#sender.close();
  }

  /** The queue of the interface is full: tries again in the next iteration. */
  #refuse(): void {
    if (this.#hasRefused) return;
    this.#hasRefused = true;
    epollPoller().defer(() => {
      this.#hasRefused = false;
      if (this.#isClosed) return;
      if (this.#sender.flush()) this.#handler?.onRoom();
      else this.#refuse();
    });
  }
}

export const openPacketPort = (options: PortOptions): Port => new PacketPort(options);
