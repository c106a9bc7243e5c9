import { type BurstSink, type SegmentCut, Memory as WireMemory } from '@rushhour/wire';
import { errno } from '../../net/kernel/errno.ts';
import { type Libc, requireLibc } from '../../net/kernel/libc.ts';
import { type Memory, mapMemory } from '../../net/kernel/memory.ts';
import { closeSocket, option, trySetOption } from '../../net/kernel/socket.ts';
import type { Device } from '../../net/packet/device.ts';
import { openBurstSocket } from '../../net/packet/packet-socket.ts';

/** virtio_net_hdr: flags, kind of segments, and four 16-bit numbers: headers, segment, start and offset of the checksum. */
const headerBytes = 10;
const needsChecksum = 1;
const segmentKind = { v4: 1, v6: 4 } as const;
const checksumAt = 16;
/** Keeps the frame aligned. */
const frameAt = 64;
const maxFrame = 65_536 + 64;
/** Otherwise few frames fit into the buffer of the socket. */
const socketBytes = 2 << 20;
const dontWait = 0x40;

export interface BurstSenderOptions {
  readonly device: Device;
  /** Sends what was committed before. */
  readonly sendEarlier: () => void;
  /** There is no room for now. */
  readonly refuse: () => void;
}

/** Sends large TCP packets by a packet socket. The kernel cuts them into segments, or leaves that to the interface. */
export class BurstSender implements BurstSink {
  /** Segments. */
  sent = 0;
  errors = 0;
  readonly memory: WireMemory;
  readonly #options: BurstSenderOptions;
  readonly #fd: number;
  readonly #libc: Libc = requireLibc();
  readonly #memory: Memory;
  /** What waits for room in the socket. */
  #waitingAt = 0;
  #waitingBytes = 0;
  #waitingSegments = 0;

  constructor(options: BurstSenderOptions) {
    this.#options = options;
    this.#fd = openBurstSocket(options.device);
    trySetOption(this.#fd, option.sendBufferForced, socketBytes);
    this.#memory = mapMemory({ length: frameAt + maxFrame });
    this.memory = new WireMemory(this.#memory.bytes);
  }

  /** False while a frame waits. */
  get hasRoom(): boolean {
    return this.#waitingBytes === 0;
  }

  begin(length: number): number {
    if (this.hasRoom && length <= maxFrame) return frameAt;
    this.#options.refuse();
    return -1;
  }

  commit(offset: number, length: number, { tcpAt, dataAt, segmentBytes, isV6 }: SegmentCut): void {
    this.#options.sendEarlier();
    const at = offset - headerBytes;
    const { view } = this.memory;
    view.setUint8(at, needsChecksum);
    view.setUint8(at + 1, isV6 ? segmentKind.v6 : segmentKind.v4);
    // In the order of the machine, which is little-endian on all that run this.
    view.setUint16(at + 2, dataAt - offset, true);
    view.setUint16(at + 4, segmentBytes, true);
    view.setUint16(at + 6, tcpAt - offset, true);
    view.setUint16(at + 8, checksumAt, true);
    this.#waitingAt = at;
    this.#waitingBytes = headerBytes + length;
    this.#waitingSegments = Math.ceil((offset + length - dataAt) / segmentBytes);
    this.flush();
  }

  /** Sends what waits, if there is room. */
  flush(): void {
    if (this.hasRoom) return;
    const at = this.#memory.addressOf(this.#waitingAt, this.#waitingBytes);
    if (this.#libc.send(this.#fd, at, this.#waitingBytes, dontWait) >= 0) this.sent += this.#waitingSegments;
    else {
      const error = this.#libc.errno();
      if (error === errno.EAGAIN || error === errno.EINTR) {
        this.#options.refuse();
        return;
      }
      // The interface has dropped it.
      this.errors++;
    }
    this.#waitingBytes = 0;
  }

  close(): void {
    closeSocket(this.#fd);
    this.#memory.release();
  }
}
