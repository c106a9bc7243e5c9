import { type Memory, mapMemory, writeAddress } from '../kernel/memory.ts';
import { socketAddressBytes } from '../kernel/socket-address.ts';

const headerBytes = 64;
const vectorBytes = 16;
const peerStride = 32;
const controlStride = 32;
const udpLevel = 17;
const control = { segment: 103, coalesced: 104 } as const;
/** Word indexes of the control data's address and length in a `mmsghdr`. */
const [controlWord, controlLengthWord] = [8, 10];

// An odd number of cache lines: with even strides, packets would compete for a few sets of the CPU cache.
const strideOf = (bytes: number): number => (Math.ceil(bytes / 128) * 2 + 1) * 64;

export interface BatchSizes {
  readonly count: number;
  /** Size of the largest datagram. */
  readonly bytes: number;
  readonly hasPeers: boolean;
  /** Datagrams of one size may be received as one (UDP GRO), with the segment size in the control data. */
  readonly acceptsCoalesced?: boolean;
}

/** The datagrams of one `sendmmsg` or `recvmmsg` call, with room for the data and the peer address of each. */
export class MessageBatch {
  readonly sizes: BatchSizes;
  readonly bytes: Buffer;
  /** Memory of the peer addresses. */
  readonly peers: Buffer;
  readonly #memory: Memory;
  readonly #stride: number;
  /** Layout: headers, I/O vectors, peer addresses, control data, payloads. */
  readonly #vectorsAt: number;
  readonly #peersAt: number;
  readonly #controlsAt: number;
  readonly #dataAt: number;
  readonly #words: Int32Array;

  constructor(sizes: BatchSizes) {
    const { count, bytes, hasPeers } = sizes;
    this.sizes = sizes;
    this.#stride = strideOf(bytes);
    this.#vectorsAt = count * headerBytes;
    this.#peersAt = this.#vectorsAt + count * vectorBytes;
    this.#controlsAt = this.#peersAt + count * peerStride;
    this.#dataAt = this.#controlsAt + count * controlStride;
    this.#memory = mapMemory({ length: this.#dataAt + count * this.#stride });
    this.bytes = this.#memory.bytes;
    this.peers = this.#memory.bytes;
    this.#words = this.#memory.int32;
    for (let index = 0; index < count; index++) {
      const header = this.#headerWord(index);
      const vector = this.#vectorWord(index);
      writeAddress(this.#words, vector, this.#memory.addressOf(this.offsetOf(index), bytes));
      this.#words[vector + 2] = bytes;
      const name = this.#memory.addressOf(this.peerOffsetOf(index), socketAddressBytes);
      if (hasPeers) writeAddress(this.#words, header, name);
      this.#words[header + 2] = hasPeers ? socketAddressBytes : 0;
      writeAddress(this.#words, header + 4, this.#memory.addressOf(vector * 4, vectorBytes));
      this.#words[header + 6] = 1;
      if (sizes.acceptsCoalesced) this.#setControl(index, controlStride);
    }
  }

  /** Address of the headers from `first` on. */
  addressOf(first: number): number {
    const { count } = this.sizes;
    return this.#memory.addressOf(first * headerBytes, (count - first) * headerBytes);
  }

  offsetOf(index: number): number {
    return this.#dataAt + index * this.#stride;
  }

  peerOffsetOf(index: number): number {
    return this.#peersAt + index * peerStride;
  }

  /** Number of bytes received. */
  lengthOf(index: number): number {
    return this.#words[this.#headerWord(index) + 14] as number;
  }

  /** Call before a slot is used for receiving again: the kernel has overwritten the length of the peer address. */
  resetForReceive(index: number): void {
    const { hasPeers, acceptsCoalesced } = this.sizes;
    if (hasPeers) this.#words[this.#headerWord(index) + 2] = socketAddressBytes;
    if (acceptsCoalesced) this.#words[this.#headerWord(index) + controlLengthWord] = controlStride;
  }

  /** The segment size of a coalesced datagram; 0 if it is a single one. */
  segmentOf(index: number): number {
    if ((this.#words[this.#headerWord(index) + controlLengthWord] as number) < 20) return 0;
    const at = (this.#controlsAt + index * controlStride) >> 2;
    const isSegment = this.#words[at + 2] === udpLevel && this.#words[at + 3] === control.coalesced;
    return isSegment ? (this.#words[at + 4] as number) : 0;
  }

  /** Joins `count` datagrams of one length and peer, from `first` on, into one that the kernel segments (UDP GSO). */
  join(first: number, count: number): void {
    const at = (this.#controlsAt + first * controlStride) >> 2;
    this.#words[at] = 18;
    this.#words[at + 1] = 0;
    this.#words[at + 2] = udpLevel;
    this.#words[at + 3] = control.segment;
    this.#words[at + 4] = this.#words[this.#vectorWord(first) + 2] as number;
    this.#words[this.#headerWord(first) + 6] = count;
    this.#setControl(first, 24);
  }

  /** Undoes `join`. */
  unjoin(first: number): void {
    this.#words[this.#headerWord(first) + 6] = 1;
    this.#words[this.#headerWord(first) + controlLengthWord] = 0;
  }

  /** Counts consecutive datagrams from `first` on with the same length and peer. */
  countAlike(first: number, end: number): number {
    const length = this.#words[this.#vectorWord(first) + 2] as number;
    let next = first + 1;
    while (next < end && this.#words[this.#vectorWord(next) + 2] === length && this.#hasSamePeer(next, first)) next++;
    return next - first;
  }

  lengthToSend(index: number): number {
    return this.#words[this.#vectorWord(index) + 2] as number;
  }

  #hasSamePeer(index: number, other: number): boolean {
    if (!this.sizes.hasPeers) return true;
    const [a, b] = [this.peerOffsetOf(index) >> 2, this.peerOffsetOf(other) >> 2];
    for (let word = 0; word < 7; word++) if (this.#words[a + word] !== this.#words[b + word]) return false;
    return true;
  }

  #setControl(index: number, length: number): void {
    const header = this.#headerWord(index);
    const at = this.#controlsAt + index * controlStride;
    writeAddress(this.#words, header + controlWord, this.#memory.addressOf(at, controlStride));
    this.#words[header + controlLengthWord] = length;
  }

  /** Copies bytes into a slot to be sent. */
  fill(index: number, bytes: Uint8Array): void {
    if (bytes.length > this.sizes.bytes) throw new RangeError(`a packet of ${bytes.length} bytes is too long`);
    this.bytes.set(bytes, this.offsetOf(index));
    this.#words[this.#vectorWord(index) + 2] = bytes.length;
  }

  /** Sets the peer of a slot to the sender of a received datagram. */
  copyPeer(index: number, source: MessageBatch, sourceIndex: number): void {
    const from = source.peerOffsetOf(sourceIndex);
    source.peers.copy(this.peers, this.peerOffsetOf(index), from, from + socketAddressBytes);
    this.#words[this.#headerWord(index) + 2] = source.#words[source.#headerWord(sourceIndex) + 2] as number;
  }

  /** A copy of the sender's address. */
  peerOf(index: number): Buffer {
    const at = this.peerOffsetOf(index);
    return Buffer.from(this.peers.subarray(at, at + (this.#words[this.#headerWord(index) + 2] as number)));
  }

  /** Sets the peer of a slot from such a copy. */
  setPeer(index: number, peer: Buffer): void {
    this.peers.set(peer, this.peerOffsetOf(index));
    this.#words[this.#headerWord(index) + 2] = peer.length;
  }

  /** Moves a datagram to another slot. */
  move(from: number, to: number): void {
    const length = this.#words[this.#vectorWord(from) + 2] as number;
    this.fill(to, this.bytes.subarray(this.offsetOf(from), this.offsetOf(from) + length));
    this.copyPeer(to, this, from);
  }

  release(): void {
    this.#memory.release();
  }

  #headerWord(index: number): number {
    return (index * headerBytes) >> 2;
  }

  #vectorWord(index: number): number {
    return (this.#vectorsAt + index * vectorBytes) >> 2;
  }
}
