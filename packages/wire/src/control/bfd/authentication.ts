import { copyOf } from '../../bytes/memory.ts';
import { bfdBytes } from './packet.ts';

/** Kinds of authentication (RFC 5880, section 4.1). */
export const bfdAuthentication = { simple: 1, md5: 2, 'meticulous-md5': 3, sha1: 4, 'meticulous-sha1': 5 } as const;

export interface BfdSignerOptions {
  readonly kind: keyof typeof bfdAuthentication;
  readonly keyId: number;
  readonly key: Uint8Array;
  /** MD5 or SHA-1, as the kind says; not used by simple passwords. */
  readonly hash: (bytes: Uint8Array) => Uint8Array;
  readonly multiplier: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

const authenticationBit = 4;
const digestAt = bfdBytes + 8;
const digestBytes = { simple: 0, md5: 16, 'meticulous-md5': 16, sha1: 20, 'meticulous-sha1': 20 } as const;
const maxPasswordBytes = 16;

/** Signs the packets of a session and checks those of its neighbour (RFC 5880, section 6.7). */
export class BfdSigner {
  readonly #options: BfdSignerOptions;
  readonly #isMeticulous: boolean;
  #sequence: number;
  /** The last number of the neighbour. */
  #received = -1;
  #receivedAt = 0;

  constructor(options: BfdSignerOptions) {
    this.#options = options;
    this.#isMeticulous = options.kind.startsWith('meticulous');
    this.#sequence = Math.floor(options.random() * 2 ** 32);
  }

  /** A packet with its authentication. */
  sign(packet: Uint8Array): Uint8Array {
    const { kind, keyId, key } = this.#options;
    const isSimple = kind === 'simple';
    const password = key.subarray(0, isSimple ? maxPasswordBytes : digestBytes[kind]);
    const length = isSimple ? bfdBytes + 3 + password.length : digestAt + digestBytes[kind];
    const bytes = new Uint8Array(length);
    bytes.set(packet);
    bytes[1] = (bytes[1] as number) | authenticationBit;
    bytes[3] = length;
    bytes.set([bfdAuthentication[kind], length - bfdBytes, keyId], bfdBytes);
    if (isSimple) {
      bytes.set(password, bfdBytes + 3);
      return bytes;
    }
    if (this.#isMeticulous) this.#sequence = (this.#sequence + 1) >>> 0;
    new DataView(bytes.buffer).setUint32(bfdBytes + 4, this.#sequence);
    bytes.set(this.#digestOf(bytes), digestAt);
    return bytes;
  }

  /** Whether a packet [start, end) is one of the neighbour. Its numbers are forgotten after `forgetMs` of silence. */
  verify(bytes: Uint8Array, start: number, end: number, { now, forgetMs }: { now: number; forgetMs: number }): boolean {
    const { kind, keyId, key } = this.#options;
    const length = bytes[start + 3] as number;
    if (length > end - start || length < bfdBytes + 4) return false;
    const packet = copyOf(bytes, start, start + length);
    if (packet[bfdBytes] !== bfdAuthentication[kind] || packet[bfdBytes + 1] !== length - bfdBytes) return false;
    if (packet[bfdBytes + 2] !== keyId) return false;
    if (kind === 'simple') return isEqual(packet.subarray(bfdBytes + 3), key.subarray(0, maxPasswordBytes));
    if (length !== digestAt + digestBytes[kind]) return false;
    const sequence = new DataView(packet.buffer).getUint32(bfdBytes + 4);
    if (now - this.#receivedAt <= forgetMs && !this.#isNext(sequence)) return false;
    if (!isEqual(packet.subarray(digestAt), this.#digestOf(packet))) return false;
    this.#received = sequence;
    this.#receivedAt = now;
    return true;
  }

  /** Numbers may be lost, but none may come twice or from the past. */
  #isNext(sequence: number): boolean {
    if (this.#received < 0) return true;
    const steps = (sequence - this.#received) >>> 0;
    return steps >= (this.#isMeticulous ? 1 : 0) && steps <= 3 * this.#options.multiplier;
  }

  /** The digest of the packet with the key in the place of the digest. */
  #digestOf(packet: Uint8Array): Uint8Array {
    const { key, hash, kind } = this.#options;
    const copy = copyOf(packet, 0, packet.length);
    copy.fill(0, digestAt);
    copy.set(key.subarray(0, digestBytes[kind]), digestAt);
    return hash(copy);
  }
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);
