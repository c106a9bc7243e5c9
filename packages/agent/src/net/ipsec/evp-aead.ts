import type { CipherKeys, PacketCipher, PacketRange } from '@rushhour/wire';
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

const contexts = new FinalizationRegistry(({ evp, context }: { evp: Evp; context: number }) =>
  evp.EVP_CIPHER_CTX_free(context),
);

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

/** A cipher with its own integrity by OpenSSL's functions, which cost a tenth of the objects of `node:crypto`. */
class EvpAead implements PacketCipher {
  readonly ivBytes = ivBytes;
  readonly icvBytes: number;
  readonly blockBytes = 1;
  readonly #evp: Evp;
  readonly #name: EvpCipherName;
  readonly #key: Uint8Array;
  readonly #memory: Memory;
  readonly #addresses;
  /** The context of the last direction; created with the first packet. */
  #context = 0;
  #direction = -1;
  #counter = 0;

  constructor(evp: Evp, memory: Memory, options: { name: EvpCipherName; icvBytes: number; key: Uint8Array }) {
    this.#evp = evp;
    this.#memory = memory;
    this.#name = options.name;
    this.#key = options.key;
    this.icvBytes = options.icvBytes;
    this.#addresses = {
      written: memory.addressOf(at.written, 4),
      nonce: memory.addressOf(at.nonce, nonceBytes),
      tag: memory.addressOf(at.tag, maxTagBytes),
      key: memory.addressOf(at.key, 32),
      additional: memory.addressOf(at.additional, maxAdditional),
      text: memory.addressOf(at.text, workBytes - at.text),
    };
  }

  seal(bytes: Uint8Array, range: PacketRange): void {
    const { ivAt, textEnd } = range;
    const counter = ++this.#counter;
    const view = new DataView(bytes.buffer, bytes.byteOffset + ivAt, ivBytes);
    view.setUint32(0, Math.floor(counter / 2 ** 32));
    view.setUint32(4, counter >>> 0);
    this.#process(bytes, range, 1);
    const evp = this.#evp;
    const { written, tag, text } = this.#addresses;
    evp.EVP_CipherFinal_ex(this.#context, text, written);
    evp.EVP_CIPHER_CTX_ctrl(this.#context, control.getTag, this.icvBytes, tag);
    bytes.set(this.#memory.bytes.subarray(at.tag, at.tag + this.icvBytes), textEnd);
  }

  open(bytes: Uint8Array, range: PacketRange): boolean {
    const { textEnd } = range;
    this.#memory.bytes.set(bytes.subarray(textEnd, textEnd + this.icvBytes), at.tag);
    this.#process(bytes, range, 0);
    const evp = this.#evp;
    const { written, text } = this.#addresses;
    if (evp.EVP_CipherFinal_ex(this.#context, text, written) === 1) return true;
    // What is left in the queue of errors of the thread would be taken for an error of the next TLS call.
    evp.ERR_clear_error();
    return false;
  }

  /** Encrypts or decrypts the text in place. */
  #process(bytes: Uint8Array, range: PacketRange, direction: 0 | 1): void {
    const { ivAt, textEnd } = range;
    const evp = this.#evp;
    const memory = this.#memory;
    const { written, nonce, tag, additional, text } = this.#addresses;
    const textAt = ivAt + ivBytes;
    const length = textEnd - textAt;
    const salt = this.#key.length - saltBytes;
    for (let i = 0; i < saltBytes; i++) memory.bytes[at.nonce + i] = this.#key[salt + i] as number;
    for (let i = 0; i < ivBytes; i++) memory.bytes[at.nonce + saltBytes + i] = bytes[ivAt + i] as number;
    if (this.#direction !== direction) this.#start(direction);
    const context = this.#context;
    evp.EVP_CipherInit_ex(context, 0, 0, 0, nonce, direction);
    if (direction === 0) evp.EVP_CIPHER_CTX_ctrl(context, control.setTag, this.icvBytes, tag);
    evp.EVP_CipherUpdate(context, 0, written, additional, writeAdditional(memory, bytes, range, ivAt));
    memory.bytes.set(bytes.subarray(textAt, textEnd), at.text);
    evp.EVP_CipherUpdate(context, text, written, text, length);
    bytes.set(memory.bytes.subarray(at.text, at.text + length), textAt);
  }

  #start(direction: 0 | 1): void {
    const evp = this.#evp;
    const { key } = this.#addresses;
    if (this.#context === 0) {
      this.#context = evp.EVP_CIPHER_CTX_new();
      contexts.register(this, { evp, context: this.#context });
    }
    this.#direction = direction;
    this.#memory.bytes.set(this.#key.subarray(0, this.#key.length - saltBytes), at.key);
    evp.EVP_CipherInit_ex(this.#context, evp[symbols[this.#name]](), 0, key, 0, direction);
    this.#memory.bytes.fill(0, at.key, at.key + 32);
  }
}

/** Undefined where OpenSSL cannot be called directly. */
export const createEvpAead = (
  options: { readonly name: EvpCipherName; readonly icvBytes: number },
  { encryption }: CipherKeys,
): PacketCipher | undefined => {
  const evp = findEvp();
  if (evp === undefined) return undefined;
  work ??= mapMemory({ length: workBytes });
  return new EvpAead(evp, work, { ...options, key: encryption });
};
