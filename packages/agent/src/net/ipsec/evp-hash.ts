import { prfId } from '@rushhour/wire';
import { type Memory, mapMemory } from '../kernel/memory.ts';
import { type Evp, findEvp } from './evp.ts';

// Layout of the work memory: number of bytes written, result, key, data.
const at = { written: 0, output: 64, key: 128, data: 4096 } as const;
const workBytes = 128 * 1024;
const maxKey = at.data - at.key;
const maxData = workBytes - at.data;
const sha1Bytes = 20;

const hashes: Readonly<Record<number, { readonly symbol: 'EVP_sha1' | 'EVP_sha256' | 'EVP_sha384' | 'EVP_sha512' }>> = {
  [prfId.sha1]: { symbol: 'EVP_sha1' },
  [prfId.sha256]: { symbol: 'EVP_sha256' },
  [prfId.sha384]: { symbol: 'EVP_sha384' },
  [prfId.sha512]: { symbol: 'EVP_sha512' },
};

const outputBytes: Readonly<Record<number, number>> = {
  [prfId.sha1]: sha1Bytes,
  [prfId.sha256]: 32,
  [prfId.sha384]: 48,
  [prfId.sha512]: 64,
};

/** Hashes of IKE by OpenSSL's own functions, which cost a tenth of the objects of `node:crypto`. */
class EvpHash {
  readonly #evp: Evp;
  readonly #memory: Memory;
  readonly #base: number;
  /** One context for each pseudo-random function: its hash is looked up once. */
  readonly #contexts = new Map<number, number>();
  /** The function whose key is in the memory, and the length of that key. */
  #keyed = { id: -1, length: 0 };

  constructor(evp: Evp) {
    this.#evp = evp;
    this.#memory = mapMemory({ length: workBytes });
    this.#base = this.#memory.addressOf(0, workBytes);
  }

  /** Undefined for what is too long for the work memory. */
  prf(id: number, key: Uint8Array, data: Uint8Array): Uint8Array | undefined {
    const hash = hashes[id];
    if (hash === undefined || key.length > maxKey || key.length === 0 || data.length > maxData) return undefined;
    const evp = this.#evp;
    const base = this.#base;
    let type = 0;
    let context = this.#contexts.get(id);
    if (context === undefined) {
      context = evp.HMAC_CTX_new();
      this.#contexts.set(id, context);
      type = evp[hash.symbol]();
    }
    this.#memory.bytes.set(data, at.data);
    // Setting a key costs as much as hashing: most keys are used several times in a row.
    if (this.#hasKey(id, key)) evp.HMAC_Init_ex(context, 0, 0, 0, 0);
    else {
      this.#memory.bytes.set(key, at.key);
      this.#keyed = { id, length: key.length };
      evp.HMAC_Init_ex(context, base + at.key, key.length, type, 0);
    }
    evp.HMAC_Update(context, base + at.data, data.length);
    evp.HMAC_Final(context, base + at.output, base + at.written);
    return this.#output(outputBytes[id] as number);
  }

  /** Undefined for what is too long for the work memory. */
  sha1(data: Uint8Array): Uint8Array | undefined {
    if (data.length > maxData) return undefined;
    const evp = this.#evp;
    const base = this.#base;
    this.#memory.bytes.set(data, at.data);
    evp.EVP_Digest(base + at.data, data.length, base + at.output, base + at.written, evp.EVP_sha1(), 0);
    return this.#output(sha1Bytes);
  }

  #hasKey(id: number, key: Uint8Array): boolean {
    if (this.#keyed.id !== id || this.#keyed.length !== key.length) return false;
    const { bytes } = this.#memory;
    for (let i = 0; i < key.length; i++) if (bytes[at.key + i] !== key[i]) return false;
    return true;
  }

  #output(length: number): Uint8Array {
    const output = new Uint8Array(length);
    const { bytes } = this.#memory;
    for (let i = 0; i < length; i++) output[i] = bytes[at.output + i] as number;
    return output;
  }
}

let found: { readonly hash: EvpHash | undefined } | undefined;

/** Undefined where OpenSSL cannot be called directly. */
export const findEvpHash = (): EvpHash | undefined => {
  if (found === undefined) {
    const evp = findEvp();
    found = { hash: evp && new EvpHash(evp) };
  }
  return found.hash;
};
