import { type Memory, mapMemory, writeAddress } from '../kernel/memory.ts';
import { socketAddressBytes } from '../kernel/socket-address.ts';

const headerBytes = 64;
const vectorBytes = 16;
const nameStride = 32;
const controlStride = 32;
const udpLevel = 17;
const control = { segment: 103, coalesced: 104 } as const;
/** Words of a header that say where the control data is and how long. */
const [controlWord, controlLengthWord] = [8, 10];

// An odd number of lines: packets at even distances would crowd into a few lines of the processor's cache.
const strideOf = (bytes: number): number => (Math.ceil(bytes / 128) * 2 + 1) * 64;

export interface BatchSizes {
  readonly count: number;
  /** Bytes of the largest packet. */
  readonly bytes: number;
  readonly isNamed: boolean;
  /** Packets of one size may arrive as one, with a word of the kernel about it. */
  readonly isCoalesced?: boolean;
}

/** Packets of one call of `sendmmsg` or `recvmmsg`, with room for the bytes and the peer's address of each. */
export class MessageBatch {
  readonly sizes: BatchSizes;
  readonly bytes: Buffer;
  /** Addresses of peers. */
  readonly names: Buffer;
  readonly #memory: Memory;
  readonly #stride: number;
  /** Headers come first, then vectors, names, control data, and the packets themselves. */
  readonly #vectorsAt: number;
  readonly #namesAt: number;
  readonly #controlsAt: number;
  readonly #dataAt: number;
  readonly #words: Int32Array;

  constructor(sizes: BatchSizes) {
    const { count, bytes, isNamed } = sizes;
    this.sizes = sizes;
    this.#stride = strideOf(bytes);
    this.#vectorsAt = count * headerBytes;
    this.#namesAt = this.#vectorsAt + count * vectorBytes;
    this.#controlsAt = this.#namesAt + count * nameStride;
    this.#dataAt = this.#controlsAt + count * controlStride;
    this.#memory = mapMemory({ length: this.#dataAt + count * this.#stride });
    this.bytes = this.#memory.bytes;
    this.names = this.#memory.bytes;
    this.#words = this.#memory.int32;
    for (let index = 0; index < count; index++) {
      const header = this.#headerWord(index);
      const vector = this.#vectorWord(index);
      writeAddress(this.#words, vector, this.#memory.addressOf(this.offsetOf(index), bytes));
      this.#words[vector + 2] = bytes;
      const name = this.#memory.addressOf(this.nameOffsetOf(index), socketAddressBytes);
      if (isNamed) writeAddress(this.#words, header, name);
      this.#words[header + 2] = isNamed ? socketAddressBytes : 0;
      writeAddress(this.#words, header + 4, this.#memory.addressOf(vector * 4, vectorBytes));
      this.#words[header + 6] = 1;
      if (sizes.isCoalesced) this.#setControl(index, controlStride);
    }
  }

  /** Of the packets from `first` on. */
  addressOf(first: number): number {
    const { count } = this.sizes;
    return this.#memory.addressOf(first * headerBytes, (count - first) * headerBytes);
  }

  offsetOf(index: number): number {
    return this.#dataAt + index * this.#stride;
  }

  nameOffsetOf(index: number): number {
    return this.#namesAt + index * nameStride;
  }

  /** How many bytes have arrived in a packet. */
  lengthOf(index: number): number {
    return this.#words[this.#headerWord(index) + 14] as number;
  }

  /** Before a packet is received again: the kernel has put the length of the peer's address here. */
  renew(index: number): void {
    const { isNamed, isCoalesced } = this.sizes;
    if (isNamed) this.#words[this.#headerWord(index) + 2] = socketAddressBytes;
    if (isCoalesced) this.#words[this.#headerWord(index) + controlLengthWord] = controlStride;
  }

  /** The length of each packet where several have arrived as one; 0: it is one. */
  segmentOf(index: number): number {
    if ((this.#words[this.#headerWord(index) + controlLengthWord] as number) < 20) return 0;
    const at = (this.#controlsAt + index * controlStride) >> 2;
    const isSegment = this.#words[at + 2] === udpLevel && this.#words[at + 3] === control.coalesced;
    return isSegment ? (this.#words[at + 4] as number) : 0;
  }

  /** Makes `count` packets from `first` on, all of one length and to one peer, leave as one that the kernel cuts up. */
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

  /** Takes back what `join` did. */
  part(first: number): void {
    this.#words[this.#headerWord(first) + 6] = 1;
    this.#words[this.#headerWord(first) + controlLengthWord] = 0;
  }

  /** How many packets from `first` on are alike in length and peer. */
  alikeFrom(first: number, end: number): number {
    const length = this.#words[this.#vectorWord(first) + 2] as number;
    let next = first + 1;
    while (next < end && this.#words[this.#vectorWord(next) + 2] === length && this.#hasPeerOf(next, first)) next++;
    return next - first;
  }

  lengthToSend(index: number): number {
    return this.#words[this.#vectorWord(index) + 2] as number;
  }

  #hasPeerOf(index: number, other: number): boolean {
    if (!this.sizes.isNamed) return true;
    const [a, b] = [this.nameOffsetOf(index) >> 2, this.nameOffsetOf(other) >> 2];
    for (let word = 0; word < 7; word++) if (this.#words[a + word] !== this.#words[b + word]) return false;
    return true;
  }

  #setControl(index: number, length: number): void {
    const header = this.#headerWord(index);
    const at = this.#controlsAt + index * controlStride;
    writeAddress(this.#words, header + controlWord, this.#memory.addressOf(at, controlStride));
    this.#words[header + controlLengthWord] = length;
  }

  /** Puts bytes into a packet to be sent. */
  fill(index: number, bytes: Uint8Array): void {
    if (bytes.length > this.sizes.bytes) throw new RangeError(`a packet of ${bytes.length} bytes is too long`);
    this.bytes.set(bytes, this.offsetOf(index));
    this.#words[this.#vectorWord(index) + 2] = bytes.length;
  }

  /** Where a packet goes: `source` holds the address of a peer as it was received. */
  address(index: number, source: MessageBatch, sourceIndex: number): void {
    const from = source.nameOffsetOf(sourceIndex);
    source.names.copy(this.names, this.nameOffsetOf(index), from, from + socketAddressBytes);
    this.#words[this.#headerWord(index) + 2] = source.#words[source.#headerWord(sourceIndex) + 2] as number;
  }

  /** A copy of the address a packet came from. */
  peerOf(index: number): Buffer {
    const at = this.nameOffsetOf(index);
    return Buffer.from(this.names.subarray(at, at + (this.#words[this.#headerWord(index) + 2] as number)));
  }

  /** Where a packet goes, by such a copy. */
  direct(index: number, peer: Buffer): void {
    this.names.set(peer, this.nameOffsetOf(index));
    this.#words[this.#headerWord(index) + 2] = peer.length;
  }

  /** Makes one packet to be sent another. */
  move(from: number, to: number): void {
    const length = this.#words[this.#vectorWord(from) + 2] as number;
    this.fill(to, this.bytes.subarray(this.offsetOf(from), this.offsetOf(from) + length));
    this.address(to, this, from);
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
