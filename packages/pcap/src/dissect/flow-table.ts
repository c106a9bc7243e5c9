import { i32, putU32, u16 } from '../bytes.ts';
import type { Frame } from './frame.ts';

// A key is protocol, both ports, and four words for each address; the lower (ip, port) comes first.
const KEY_WORDS = 10;
const PROTOCOL = 0;
const PORTS = 1;
const ADDRESS_A = 2;
const ADDRESS_B = 6;

/** Finds the session of a frame by protocol and unordered (ip, port) pair, without a string or object per packet. */
export class FlowTable {
  /** Whether the frame looked up last came from A. */
  isFromA = true;
  #keys = new Int32Array(KEY_WORDS * 64);
  #slots = new Int32Array(256).fill(-1);
  #used = 0;
  readonly #probe = new Int32Array(KEY_WORDS);
  // Secret multipliers: a capture cannot be made to collide on purpose.
  readonly #secret = Int32Array.from({ length: KEY_WORDS }, () => (Math.random() * 2 ** 32) | 1);
  #slot = 0;

  /** Index of the session, or -1; `assign` may follow for the same frame. */
  find(frame: Frame): number {
    this.#readKey(frame);
    this.#slot = this.#seek(this.#probe, 0);
    return this.#slots[this.#slot] as number;
  }

  /** Makes `index` the session of the frame looked up last; an older one with the same key is forgotten. */
  assign(index: number): void {
    if ((index + 1) * KEY_WORDS > this.#keys.length) {
      const larger = new Int32Array(this.#keys.length * 2);
      larger.set(this.#keys);
      this.#keys = larger;
    }
    this.#keys.set(this.#probe, index * KEY_WORDS);
    if (this.#slots[this.#slot] === -1) this.#used++;
    this.#slots[this.#slot] = index;
    if (this.#used * 2 > this.#slots.length) this.#grow();
  }

  /** Protocol, ports and addresses of a session. */
  keyOf(index: number): FlowKey {
    const key = this.#keys.subarray(index * KEY_WORDS, (index + 1) * KEY_WORDS);
    const protocol = (key[PROTOCOL] as number) & 255;
    const count = (key[PROTOCOL] as number) >>> 8 === 4 ? 4 : 16;
    const ports = key[PORTS] as number;
    return {
      protocol,
      addressA: addressOf(key, ADDRESS_A, count),
      addressB: addressOf(key, ADDRESS_B, count),
      portA: ports >>> 16,
      portB: ports & 0xffff,
    };
  }

  /** Whether either end is a multicast or broadcast address. */
  isMulticast(index: number): boolean {
    const start = index * KEY_WORDS;
    const version = (this.#keys[start + PROTOCOL] as number) >>> 8;
    return [ADDRESS_A, ADDRESS_B].some((offset) => isMulticastWord(this.#keys[start + offset] as number, version));
  }

  #readKey(frame: Frame): void {
    const { bytes, source, destination, ipVersion } = frame;
    const isFromA = isLower(frame);
    const low = isFromA ? source : destination;
    const high = isFromA ? destination : source;
    const probe = this.#probe;
    this.isFromA = isFromA;
    probe[PROTOCOL] = frame.protocol | (ipVersion << 8);
    probe[PORTS] = isFromA
      ? (frame.sourcePort << 16) | frame.destinationPort
      : (frame.destinationPort << 16) | frame.sourcePort;
    const words = ipVersion === 4 ? 1 : 4;
    for (let word = 0; word < words; word++) {
      probe[ADDRESS_A + word] = i32(bytes, low + word * 4);
      probe[ADDRESS_B + word] = i32(bytes, high + word * 4);
    }
    for (let word = words; word < 4; word++) {
      probe[ADDRESS_A + word] = 0;
      probe[ADDRESS_B + word] = 0;
    }
  }

  #seek(key: Int32Array, keyStart: number): number {
    const mask = this.#slots.length - 1;
    let slot = this.#hash(key, keyStart) & mask;
    for (;;) {
      const index = this.#slots[slot] as number;
      if (index === -1 || this.#isSame(key, keyStart, index * KEY_WORDS)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #isSame(key: Int32Array, keyStart: number, start: number): boolean {
    const keys = this.#keys;
    for (let word = 0; word < KEY_WORDS; word++) if (keys[start + word] !== key[keyStart + word]) return false;
    return true;
  }

  #hash(key: Int32Array, start: number): number {
    const secret = this.#secret;
    let sum = 0;
    for (let word = 0; word < KEY_WORDS; word++) {
      const value = key[start + word] as number;
      sum = (sum + Math.imul(value ^ (value >>> 15), secret[word] as number)) | 0;
    }
    sum ^= sum >>> 16;
    return Math.imul(sum, secret[0] as number) >>> 8;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(old.length * 2).fill(-1);
    for (const index of old) if (index !== -1) this.#slots[this.#seek(this.#keys, index * KEY_WORDS)] = index;
  }
}

export interface FlowKey {
  readonly protocol: number;
  readonly addressA: Uint8Array;
  readonly addressB: Uint8Array;
  readonly portA: number;
  readonly portB: number;
}

function isLower(frame: Frame): boolean {
  const { bytes, source, destination } = frame;
  const count = frame.ipVersion === 4 ? 4 : 16;
  for (let at = 0; at < count; at += 2) {
    const difference = u16(bytes, source + at) - u16(bytes, destination + at);
    if (difference !== 0) return difference < 0;
  }
  return frame.sourcePort <= frame.destinationPort;
}

function addressOf(key: Int32Array, start: number, count: 4 | 16): Uint8Array {
  const address = new Uint8Array(count);
  for (let at = 0; at < count; at += 4) putU32(address, at, key[start + at / 4] as number);
  return address;
}

function isMulticastWord(word: number, version: number): boolean {
  const first = word >>> 24;
  return version === 6 ? first === 0xff : first >>> 4 === 14 || word === -1;
}
