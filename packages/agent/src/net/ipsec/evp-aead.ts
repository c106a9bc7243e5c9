import { type CipherKeys, type PackedBytes, type PacketCipher, type PacketRange, packBytes } from '@rushhour/wire';
import { addressOfBytes, type Memory, mapMemory, writeAddress } from '../kernel/memory.ts';
import { type Evp, findEvp } from './evp.ts';

export type EvpCipherName = 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm' | 'chacha20-poly1305';

const symbols = {
  'aes-128-gcm': 'EVP_aes_128_gcm',
  'aes-192-gcm': 'EVP_aes_192_gcm',
  'aes-256-gcm': 'EVP_aes_256_gcm',
  'chacha20-poly1305': 'EVP_chacha20_poly1305',
} as const;

const saltBytes = 4;
const ivBytes = 8;

/** Contexts of OpenSSL of one thread: idle keys cost nothing, because a context belongs to the cipher that used it last. */
const maxContexts = 4096;
const contexts: number[] = [];
const owners: (EvpAead | undefined)[] = [];
const names: (EvpCipherName | undefined)[] = [];
let nextSlot = 0;

const takeSlot = (evp: Evp): number => {
  const slot = nextSlot;
  nextSlot = (nextSlot + 1) % maxContexts;
  contexts[slot] ??= evp.EVP_CIPHER_CTX_new();
  return slot;
};

/** Lengths of tags; each has its parameter for OpenSSL: an OSSL_PARAM of 40 bytes and one that ends the list. */
const tagSizes = [8, 12, 16] as const;
const paramBytes = 40;
const octetString = 5;
/** Of the address of the tag in its parameter. */
const tagPointerWord = 4;

// Layout of the work memory: key, additional data with an extended number, the name and the parameters of tags, the nonce
// of each context, and what is encrypted of packets in the heap: a copy of the packet with its tag.
const at = { key: 0, additional: 64, tagName: 80, tags: 128, nonces: 512, packet: 512 + 16 * maxContexts } as const;
const extendedBytes = 12;
const workBytes = at.packet + 128 * 1024;

/** Memory that OpenSSL reads and writes beside the packets: one for a thread. */
interface Work {
  readonly memory: Memory;
  readonly words: Int32Array;
  /** Address of the first byte. */
  readonly base: number;
}

let work: Work | undefined;

const tagParamAt = (icvBytes: number): number =>
  at.tags + 2 * paramBytes * (tagSizes as readonly number[]).indexOf(icvBytes);

/** Name, type, address and length of the tag; only the address differs between packets. */
const createWork = (): Work => {
  const memory = mapMemory({ length: workBytes });
  const [base, words] = [memory.addressOf(0, workBytes), memory.int32];
  memory.bytes.write('tag\0', at.tagName, 'latin1');
  for (const size of tagSizes) {
    const word = tagParamAt(size) / 4;
    writeAddress(words, word, base + at.tagName);
    words[word + 2] = octetString;
    words[word + 6] = size;
  }
  return { memory, words, base };
};

/** Where the bytes of packets are: those of a direction come from one memory, again and again. */
class Location {
  #bytes: Uint8Array | undefined;
  #address = 0;

  /** The address of `bytes[0]`; 0 for bytes in the heap. */
  of(bytes: Uint8Array): number {
    if (bytes === this.#bytes) return this.#address;
    this.#bytes = bytes;
    this.#address = addressOfBytes(bytes) ?? 0;
    return this.#address;
  }
}

const locations = [new Location(), new Location()] as const;

/** What all keys of a cipher share. */
interface AeadKind {
  readonly evp: Evp;
  readonly work: Work;
  readonly name: EvpCipherName;
  readonly icvBytes: number;
  /** Offset of the parameter of the tag. */
  readonly tagAt: number;
}

/**
 * A cipher with its own integrity by OpenSSL's functions, which cost a tenth of the objects of `node:crypto`. Packets in
 * mapped memory, as those of ports, are encrypted where they are. `EVP_Cipher` does the work of `EVP_CipherUpdate` and,
 * without input, of `EVP_CipherFinal_ex`, and needs no memory for the number of bytes. A tag is a parameter: that of a
 * packet that is opened comes with its nonce, in one call.
 */
class EvpAead implements PacketCipher {
  readonly #kind: AeadKind;
  readonly #key: PackedBytes;
  /** The context that was used last, and the direction of its key. */
  #slot = -1;
  #direction = -1;
  #counter = 0;

  constructor(kind: AeadKind, key: Uint8Array) {
    this.#kind = kind;
    this.#key = packBytes(key);
  }

  get ivBytes(): number {
    return ivBytes;
  }

  get icvBytes(): number {
    return this.#kind.icvBytes;
  }

  get blockBytes(): number {
    return 1;
  }

  seal(bytes: Uint8Array, range: PacketRange): void {
    const counter = ++this.#counter;
    writeWord(bytes, range.ivAt, Math.floor(counter / 2 ** 32));
    writeWord(bytes, range.ivAt + 4, counter >>> 0);
    this.#run(bytes, range, 1);
  }

  open(bytes: Uint8Array, range: PacketRange): boolean {
    return this.#run(bytes, range, 0);
  }

  /** Encrypts or decrypts in place; false if the packet is not authentic. */
  #run(bytes: Uint8Array, range: PacketRange, direction: 0 | 1): boolean {
    const end = range.textEnd + this.#kind.icvBytes;
    if (end > bytes.length) throw new RangeError('the packet does not end within its memory');
    const address = locations[direction].of(bytes);
    if (address > 0) return this.#process(address, bytes, range, direction);
    const { memory } = this.#kind.work;
    const length = end - range.start;
    memory.bytes.set(bytes.subarray(range.start, end), at.packet);
    const base = memory.addressOf(at.packet, length) - range.start;
    const isAuthentic = this.#process(base, bytes, range, direction);
    bytes.set(memory.bytes.subarray(at.packet, at.packet + length), range.start);
    return isAuthentic;
  }

  /** `base`: the address that offset 0 of the packet's memory has, or would have. */
  #process(base: number, bytes: Uint8Array, range: PacketRange, direction: 0 | 1): boolean {
    const { start, ivAt, textEnd, high } = range;
    const { evp, work, tagAt } = this.#kind;
    if (this.#direction !== direction || owners[this.#slot] !== this) this.#start(direction);
    const slot = this.#slot;
    const context = contexts[slot] as number;
    const nonce = at.nonces + 16 * slot;
    const nonces = work.memory.bytes;
    for (let i = 0; i < ivBytes; i++) nonces[nonce + saltBytes + i] = bytes[ivAt + i] as number;
    writeAddress(work.words, tagAt / 4 + tagPointerWord, base + textEnd);
    evp.EVP_CipherInit_ex2(context, 0, 0, work.base + nonce, direction, direction === 0 ? work.base + tagAt : 0);
    if (high < 0) evp.EVP_Cipher(context, 0, base + start, ivAt - start);
    else evp.EVP_Cipher(context, 0, this.#writeExtended(bytes, start, high), extendedBytes);
    const text = base + ivAt + ivBytes;
    evp.EVP_Cipher(context, text, text, textEnd - ivAt - ivBytes);
    const isAuthentic = evp.EVP_Cipher(context, 0, 0, 0) >= 0;
    if (direction === 1) evp.EVP_CIPHER_CTX_get_params(context, work.base + tagAt);
    // What is left in the queue of errors of the thread would be taken for an error of the next TLS call.
    if (!isAuthentic) evp.ERR_clear_error();
    return isAuthentic;
  }

  /** SPI and both halves of the sequence number; returns their address. */
  #writeExtended(bytes: Uint8Array, start: number, high: number): number {
    const { memory } = this.#kind.work;
    for (let i = 0; i < 4; i++) {
      memory.bytes[at.additional + i] = bytes[start + i] as number;
      memory.bytes[at.additional + 8 + i] = bytes[start + 4 + i] as number;
    }
    writeWord(memory.bytes, at.additional + 4, high);
    return memory.addressOf(at.additional, extendedBytes);
  }

  /** The key schedule: once for a key and a direction, as long as its context is not given to another key. */
  #start(direction: 0 | 1): void {
    const { evp, work, name } = this.#kind;
    const { memory } = work;
    if (owners[this.#slot] !== this) {
      this.#slot = takeSlot(evp);
      owners[this.#slot] = this;
    }
    const slot = this.#slot;
    this.#direction = direction;
    const keyBytes = this.#key.length - saltBytes;
    for (let i = 0; i < keyBytes; i++) memory.bytes[at.key + i] = this.#key.charCodeAt(i);
    const nonce = at.nonces + 16 * slot;
    for (let i = 0; i < saltBytes; i++) memory.bytes[nonce + i] = this.#key.charCodeAt(keyBytes + i);
    const cipher = names[slot] === name ? 0 : evp[symbols[name]]();
    names[slot] = name;
    evp.EVP_CipherInit_ex2(contexts[slot] as number, cipher, work.base + at.key, 0, direction, 0);
    memory.bytes.fill(0, at.key, at.key + 32);
  }
}

const writeWord = (bytes: Uint8Array, offset: number, value: number): void => {
  bytes[offset] = value >>> 24;
  bytes[offset + 1] = value >>> 16;
  bytes[offset + 2] = value >>> 8;
  bytes[offset + 3] = value;
};

const kinds = new Map<string, AeadKind>();

const kindOf = (
  evp: Evp,
  { name, icvBytes }: { readonly name: EvpCipherName; readonly icvBytes: number },
): AeadKind => {
  const key = `${name} ${icvBytes}`;
  const known = kinds.get(key);
  if (known !== undefined) return known;
  work ??= createWork();
  const kind = { evp, work, name, icvBytes, tagAt: tagParamAt(icvBytes) };
  kinds.set(key, kind);
  return kind;
};

/** Undefined where OpenSSL cannot be called directly. */
export const createEvpAead = (
  options: { readonly name: EvpCipherName; readonly icvBytes: number },
  { encryption }: CipherKeys,
): PacketCipher | undefined => {
  const evp = findEvp();
  return evp && new EvpAead(kindOf(evp, options), encryption);
};
