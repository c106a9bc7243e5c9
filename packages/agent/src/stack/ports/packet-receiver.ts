import { Memory as WireMemory } from '@rushhour/wire';
import { type EpollPoller, epollEvent, epollPoller, type Watcher } from '../../net/epoll/epoll-poller.ts';
import { requireLibc } from '../../net/kernel/libc.ts';
import { type Memory, mapMemory } from '../../net/kernel/memory.ts';
import { closeSocket, configureOrClose, option, trySetOption } from '../../net/kernel/socket.ts';
import type { Device } from '../../net/packet/device.ts';
import type { FilterProgram } from '../../net/packet/packet-filter.ts';
import {
  attachProgram,
  openReceiver,
  packetOption,
  setPacketOption,
  takeStatistics,
} from '../../net/packet/packet-socket.ts';
import type { FrameReceiver } from './port.ts';

const version2 = 1;
/** The largest frame that a virtual interface delivers in one piece, with room for a tag before it. */
const largeBytes = 69_696;
const headroom = 64;
const smallBytes = 2048;
const cacheLine = 64;
/** What a slot has besides the frame. */
const slotHeaderBytes = 160;
const blockBytes = 1 << 20;
const blocks = 16;
/** Large frames that wait. */
const queuedBytes = 1 << 26;
/** Frames after which others have their turn. */
const batchFrames = 512;
const status = { user: 1, isQueued: 2, checksumMissing: 8, vlanValid: 0x10, vlanTypeValid: 0x40 } as const;
const promiscuous = 1;
const dontWait = 0x40;

/** Bytes of a slot: an odd number of cache lines. */
const slotBytesFor = (frameBytes: number): number =>
  (Math.ceil((frameBytes + slotHeaderBytes) / cacheLine) | 1) * cacheLine;

/**
 * Frames that arrive at an interface, one by one (TPACKET_V2). Slots have room for a frame of the link; larger ones, which
 * virtual interfaces deliver, wait in the queue of the socket in the same order. Slots for these would be so few that a
 * burst of small frames, as thousands of routers send it, would not find room.
 */
export class PacketReceiver implements Watcher {
  readonly #fd: number;
  readonly #poller: EpollPoller = epollPoller();
  readonly #memory: Memory;
  readonly #wire: WireMemory;
  readonly #words: Int32Array;
  readonly #halves: Uint16Array;
  readonly #large = mapMemory({ length: headroom + largeBytes });
  readonly #largeWire = new WireMemory(this.#large.bytes);
  readonly #receiver: FrameReceiver;
  #slotBytes = largeBytes;
  #slot = 0;
  /** Large frames for which the queue had no room. */
  #cut = 0;
  #isClosed = false;

  constructor(device: Device, filter: FilterProgram | undefined, receiver: FrameReceiver) {
    this.#receiver = receiver;
    this.#fd = openReceiver(device, false, (fd) => {
      // Without the right to such a queue, every slot has room for every frame.
      if (trySetOption(fd, option.receiveBufferForced, queuedBytes)) {
        this.#slotBytes = Math.min(slotBytesFor(Math.max(smallBytes, device.mtu)), largeBytes);
        setPacketOption(fd, packetOption.copyThreshold, 1);
      }
      setPacketOption(fd, packetOption.version, version2);
      setPacketOption(fd, packetOption.receiveRing, blockBytes, blocks, this.#slotBytes, this.#slotCount);
      if (filter !== undefined) attachProgram(fd, filter);
    });
    let memory: Memory | undefined;
    configureOrClose(this.#fd, (fd) => {
      // The kernel ends it with the socket, however the process ends.
      setPacketOption(fd, packetOption.addMembership, device.index, promiscuous, 0, 0);
      memory = mapMemory({ length: blockBytes * blocks, fd });
      this.#poller.add(fd, epollEvent.in, this);
    });
    this.#memory = memory as unknown as Memory;
    this.#wire = new WireMemory(this.#memory.bytes);
    this.#words = this.#memory.int32;
    this.#halves = this.#memory.uint16;
  }

  ready(): void {
    this.#take(batchFrames);
  }

  /** Takes all frames that have arrived. */
  drain(): void {
    this.#take(this.#slotCount);
  }

  takeDrops(): number {
    if (this.#isClosed) return 0;
    const cut = this.#cut;
    this.#cut = 0;
    return takeStatistics(this.#fd).drops + cut;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#poller.forget(this.#fd);
    closeSocket(this.#fd);
    this.#memory.release();
    this.#large.release();
  }

  get #slotsPerBlock(): number {
    return Math.floor(blockBytes / this.#slotBytes);
  }

  get #slotCount(): number {
    return this.#slotsPerBlock * blocks;
  }

  #take(limit: number): void {
    const [perBlock, slotCount] = [this.#slotsPerBlock, this.#slotCount];
    for (let count = 0; count < limit && !this.#isClosed; count++) {
      const at = Math.floor(this.#slot / perBlock) * blockBytes + (this.#slot % perBlock) * this.#slotBytes;
      const state = Atomics.load(this.#words, at >> 2);
      if ((state & status.user) === 0) break;
      if ((state & status.isQueued) === 0) this.#deliver(at, state);
      else this.#deliverQueued(at, state);
      if (this.#isClosed) return;
      Atomics.store(this.#words, at >> 2, 0);
      this.#slot = (this.#slot + 1) % slotCount;
    }
    this.#receiver.onIdle();
  }

  /** tpacket2_hdr: status, length, captured, offset of the frame (16 bits), …, tag, type of the tag (16 bits each). */
  #deliver(at: number, state: number): void {
    const captured = this.#words[(at >> 2) + 2] as number;
    const offset = this.#halves[(at >> 1) + 6] as number;
    if (captured < (this.#words[(at >> 2) + 1] as number) && offset + captured === this.#slotBytes) this.#cut++;
    else this.#pass(this.#wire, at + offset, captured, { at, state });
  }

  #deliverQueued(at: number, state: number): void {
    const room = this.#large.addressOf(headroom, largeBytes);
    const length = requireLibc().recv(this.#fd, room, largeBytes, dontWait);
    if (length > 0) this.#pass(this.#largeWire, headroom, length, { at, state });
    else this.#cut++;
  }

  #pass(memory: WireMemory, start: number, length: number, { at, state }: { at: number; state: number }): void {
    const isTagged = (state & status.vlanValid) !== 0;
    const from = isTagged ? start - 4 : start;
    if (isTagged) this.#restoreTag(memory, from, at, state);
    this.#receiver.onFrame(memory, from, start + length, (state & status.checksumMissing) !== 0);
  }

  /** The kernel removes the outermost VLAN tag; the header before the frame has room for it. */
  #restoreTag({ bytes, view }: WireMemory, start: number, at: number, state: number): void {
    bytes.copyWithin(start, start + 4, start + 16);
    const type = (state & status.vlanTypeValid) === 0 ? 0x8100 : (this.#halves[(at >> 1) + 13] as number);
    view.setUint16(start + 12, type);
    view.setUint16(start + 14, this.#halves[(at >> 1) + 12] as number);
  }
}
