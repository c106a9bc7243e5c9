import type { EpollPoller, Watcher } from '../epoll/epoll-poller.ts';
import { epollEvent } from '../epoll/epoll-poller.ts';
import { type Memory, mapMemory } from '../kernel/memory.ts';
import { closeSocket, configureOrClose } from '../kernel/socket.ts';
import type { Device } from './device.ts';
import { type FilterProgram, rejectAllProgram } from './packet-filter.ts';
import { attachProgram, openReceiver, packetOption, setPacketOption, takeStatistics } from './packet-socket.ts';

const version3 = 2;
const promiscuous = 1;
const nominalFrameBytes = 2048;
const ownedByUser = 1;
const vlanValid = 0x10;
const vlanTypeValid = 0x40;
const defaultVlanType = 0x8100;
const packetTypeAt = 58;
const outgoing = 4;
// Limits the blocks read at a time so that other descriptors are served.
const blocksPerIteration = 64;

export interface RingSizes {
  readonly blocks: number;
  readonly blockBytes: number;
  /** A block is delivered after this time however little it holds; the ring covers `blocks` times as long. */
  readonly retireMs: number;
}

/** A received frame. Valid during the call only: the memory is reused. */
export interface ArrivedFrame {
  readonly bytes: Buffer;
  start: number;
  end: number;
  /** Original length; the filter may have truncated the frame. */
  wireLength: number;
  isOutgoing: boolean;
  /** The outermost VLAN tag, which the kernel removes from the frame: TPID × 65536 + TCI; −1 without a tag. */
  tag: number;
  /** Time of receipt on the wall clock. */
  seconds: number;
  nanoseconds: number;
}

/** Receives frames through a ring shared with the kernel (TPACKET_V3), whole blocks at a time. */
export class PacketRing implements Watcher {
  readonly #fd: number;
  readonly #poller: EpollPoller;
  readonly #sizes: RingSizes;
  readonly #memory: Memory;
  readonly #words: Int32Array;
  readonly #halves: Uint16Array;
  readonly #frame: ArrivedFrame;
  readonly #onFrame: (frame: ArrivedFrame) => void;
  #block = 0;
  #isClosed = false;

  constructor(
    options: {
      readonly device: Device;
      readonly poller: EpollPoller;
      readonly filter: FilterProgram;
      /** Also receive outgoing frames. */
      readonly includesOutgoing?: boolean;
      /** Also receive frames to MACs that the interface does not have, until the socket is closed. */
      readonly isPromiscuous?: boolean;
    },
    sizes: RingSizes,
    onFrame: (frame: ArrivedFrame) => void,
  ) {
    const { blocks, blockBytes, retireMs } = sizes;
    this.#fd = openReceiver(options.device, options.includesOutgoing ?? false, (fd) => {
      setPacketOption(fd, packetOption.version, version3);
      const frames = (blockBytes / nominalFrameBytes) * blocks;
      setPacketOption(fd, packetOption.receiveRing, blockBytes, blocks, nominalFrameBytes, frames, retireMs, 0, 0);
      attachProgram(fd, options.filter);
    });
    this.#poller = options.poller;
    this.#sizes = sizes;
    this.#onFrame = onFrame;
    let memory: Memory | undefined;
    configureOrClose(this.#fd, (fd) => {
      if (options.isPromiscuous === true)
        setPacketOption(fd, packetOption.addMembership, options.device.index, promiscuous, 0, 0);
      memory = mapMemory({ length: blockBytes * blocks, fd });
      options.poller.add(fd, epollEvent.in, this);
    });
    this.#memory = memory as unknown as Memory;
    this.#words = this.#memory.int32;
    this.#halves = this.#memory.uint16;
    const { bytes } = this.#memory;
    const nothing = { start: 0, end: 0, wireLength: 0, isOutgoing: false, tag: -1, seconds: 0, nanoseconds: 0 };
    this.#frame = { bytes, ...nothing };
  }

  /** Frames dropped since the last call because the ring was full. */
  takeDrops(): number {
    return this.takeStatistics().drops;
  }

  /** Frames accepted by the filter since the last call, and how many of them were dropped because the ring was full. */
  takeStatistics(): { readonly frames: number; readonly drops: number } {
    return this.#isClosed ? { frames: 0, drops: 0 } : takeStatistics(this.#fd);
  }

  /** Rejects new frames; those in the ring are still delivered. */
  stopReceiving(): void {
    attachProgram(this.#fd, rejectAllProgram);
  }

  ready(): void {
    for (let count = 0; count < blocksPerIteration && !this.#isClosed; count++) {
      const word = (this.#block * this.#sizes.blockBytes) >> 2;
      if ((Atomics.load(this.#words, word + 2) & ownedByUser) === 0) return;
      this.#readBlock(word);
      if (this.#isClosed) return;
      // From here on the kernel may reuse the block.
      Atomics.store(this.#words, word + 2, 0);
      this.#block = (this.#block + 1) % this.#sizes.blocks;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#poller.forget(this.#fd);
    closeSocket(this.#fd);
    this.#memory.release();
  }

  #readBlock(blockWord: number): void {
    const words = this.#words;
    const frame = this.#frame;
    const count = words[blockWord + 3] as number;
    let at = blockWord * 4 + (words[blockWord + 4] as number);
    for (let index = 0; index < count && !this.#isClosed; index++) {
      const word = at >> 2;
      // tpacket3_hdr: next, seconds, nanoseconds, captured, length, status, offset of the frame, …, tag, type of the tag.
      const status = words[word + 5] as number;
      frame.seconds = words[word + 1] as number;
      frame.nanoseconds = words[word + 2] as number;
      frame.start = at + (this.#halves[(at >> 1) + 12] as number);
      frame.end = frame.start + (words[word + 3] as number);
      frame.wireLength = words[word + 4] as number;
      frame.isOutgoing = frame.bytes[at + packetTypeAt] === outgoing;
      frame.tag = (status & vlanValid) === 0 ? -1 : this.#tagAt(word, status);
      this.#onFrame(frame);
      at += words[word] as number;
    }
  }

  #tagAt(word: number, status: number): number {
    const content = (this.#words[word + 8] as number) & 0xffff;
    const type = (status & vlanTypeValid) === 0 ? defaultVlanType : (this.#halves[(word + 9) * 2] as number);
    return type * 65_536 + content;
  }
}
