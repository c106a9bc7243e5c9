import { type CipherKeys, type PackedBytes, type PacketCipher, type PacketRange, packBytes } from '@rushhour/wire';
import { type Memory, mapMemory } from '../kernel/memory.ts';
import { type Evp, findEvp } from './evp.ts';

export type EvpCipherName = 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm' | 'chacha20-poly1305';

const symbols = {
  'aes-128-gcm': 'EVP_aes_128_gcm',
  'aes-192-gcm': 'EVP_aes_192_gcm',
  'aes-256-gcm': 'EVP_aes_256_gcm',
  'chacha20-poly1305': 'EVP_chacha20_poly1305',
} as const;

const control = { getTag: 0x10, setTag: 0x11 } as const;
const saltBytes = 4;
const ivBytes = 8;
const nonceBytes = saltBytes + ivBytes;
const maxTagBytes = 16;

// Layout of the work memory: number of bytes written, nonce, tag, key, additional data, text.
const at = { written: 0, nonce: 16, tag: 32, key: 64, additional: 128, text: 256 } as const;
const maxAdditional = at.text - at.additional;
const workBytes = 128 * 1024;

/** Memory that packets are encrypted in: one for a thread. */
let work: Memory | undefined;

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

/** Copies the authenticated bytes [start, end) and the upper half of an extended number; returns their length. */
const writeAdditional = (memory: Memory, bytes: Uint8Array, { start, high }: PacketRange, end: number): number => {
  const target = memory.bytes;
  if (high < 0) {
    for (let i = start; i < end; i++) target[at.additional + i - start] = bytes[i] as number;
    return end - start;
  }
  for (let i = 0; i < 4; i++) target[at.additional + i] = bytes[start + i] as number;
  target.writeUInt32BE(high, at.additional + 4);
  for (let i = start + 4; i < end; i++) target[at.additional + 4 + i - start] = bytes[i] as number;
  return end - start + 4;
};

interface Addresses {
  readonly written: number;
  readonly nonce: number;
  readonly tag: number;
  readonly key: number;
  readonly additional: number;
  readonly text: number;
}

const addressesIn = (memory: Memory): Addresses => ({
  written: memory.addressOf(at.written, 4),
  nonce: memory.addressOf(at.nonce, nonceBytes),
  tag: memory.addressOf(at.tag, maxTagBytes),
  key: memory.addressOf(at.key, 32),
  additional: memory.addressOf(at.additional, maxAdditional),
  text: memory.addressOf(at.text, workBytes - at.text),
});

/** What all keys of a cipher share. */
interface AeadKind {
  readonly evp: Evp;
  readonly memory: Memory;
  readonly addresses: Addresses;
  readonly name: EvpCipherName;
  readonly icvBytes: number;
}

/** A cipher with its own integrity by OpenSSL's functions, which cost a tenth of the objects of `node:crypto`. */
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
    const { ivAt, textEnd } = range;
    const counter = ++this.#counter;
    const view = new DataView(bytes.buffer, bytes.byteOffset + ivAt, ivBytes);
    view.setUint32(0, Math.floor(counter / 2 ** 32));
    view.setUint32(4, counter >>> 0);
    const context = this.#process(bytes, range, 1);
    const { evp, addresses, memory, icvBytes } = this.#kind;
    evp.EVP_CipherFinal_ex(context, addresses.text, addresses.written);
    evp.EVP_CIPHER_CTX_ctrl(context, control.getTag, icvBytes, addresses.tag);
    copyBytes(memory.bytes, at.tag, bytes, { to: textEnd, length: icvBytes });
  }

  open(bytes: Uint8Array, range: PacketRange): boolean {
    const { textEnd } = range;
    const { evp, addresses, memory, icvBytes } = this.#kind;
    copyBytes(bytes, textEnd, memory.bytes, { to: at.tag, length: icvBytes });
    const context = this.#process(bytes, range, 0);
    if (evp.EVP_CipherFinal_ex(context, addresses.text, addresses.written) === 1) return true;
    // What is left in the queue of errors of the thread would be taken for an error of the next TLS call.
    evp.ERR_clear_error();
    return false;
  }

  /** Encrypts or decrypts the text in place. Returns the context. */
  #process(bytes: Uint8Array, range: PacketRange, direction: 0 | 1): number {
    const { ivAt, textEnd } = range;
    const { evp, memory, icvBytes, addresses } = this.#kind;
    const { written, nonce, tag, additional, text } = addresses;
    const textAt = ivAt + ivBytes;
    const length = textEnd - textAt;
    const salt = this.#key.length - saltBytes;
    for (let i = 0; i < saltBytes; i++) memory.bytes[at.nonce + i] = this.#key.charCodeAt(salt + i);
    for (let i = 0; i < ivBytes; i++) memory.bytes[at.nonce + saltBytes + i] = bytes[ivAt + i] as number;
    if (this.#direction !== direction || owners[this.#slot] !== this) this.#start(direction);
    const context = contexts[this.#slot] as number;
    evp.EVP_CipherInit_ex(context, 0, 0, 0, nonce, direction);
    if (direction === 0) evp.EVP_CIPHER_CTX_ctrl(context, control.setTag, icvBytes, tag);
    evp.EVP_CipherUpdate(context, 0, written, additional, writeAdditional(memory, bytes, range, ivAt));
    memory.bytes.set(bytes.subarray(textAt, textEnd), at.text);
    evp.EVP_CipherUpdate(context, text, written, text, length);
    bytes.set(memory.bytes.subarray(at.text, at.text + length), textAt);
    return context;
  }

  #start(direction: 0 | 1): void {
    const { evp, memory, name, addresses } = this.#kind;
    if (owners[this.#slot] !== this) {
      this.#slot = takeSlot(evp);
      owners[this.#slot] = this;
    }
    const slot = this.#slot;
    this.#direction = direction;
    for (let i = 0; i < this.#key.length - saltBytes; i++) memory.bytes[at.key + i] = this.#key.charCodeAt(i);
    const cipher = names[slot] === name ? 0 : evp[symbols[name]]();
    names[slot] = name;
    evp.EVP_CipherInit_ex(contexts[slot] as number, cipher, 0, addresses.key, 0, direction);
    memory.bytes.fill(0, at.key, at.key + 32);
  }
}

/** A few bytes: a loop costs less than a view. */
const copyBytes = (
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  { to, length }: { readonly to: number; readonly length: number },
): void => {
  for (let i = 0; i < length; i++) target[to + i] = source[from + i] as number;
};

const kinds = new Map<string, AeadKind>();

const kindOf = (
  evp: Evp,
  { name, icvBytes }: { readonly name: EvpCipherName; readonly icvBytes: number },
): AeadKind => {
  const key = `${name} ${icvBytes}`;
  const known = kinds.get(key);
  if (known !== undefined) return known;
  work ??= mapMemory({ length: workBytes });
  const kind = { evp, memory: work, addresses: addressesIn(work), name, icvBytes };
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
