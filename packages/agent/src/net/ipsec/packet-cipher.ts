import { createCipheriv, createDecipheriv, createHmac, randomFillSync, timingSafeEqual } from 'node:crypto';
import {
  type CipherKeys,
  type CipherSpec,
  encryptionId,
  integrityId,
  type PacketCipher,
  type PacketRange,
} from '@rushhour/wire';
import { createEvpAead } from './evp-aead.ts';

const saltBytes = 4;
const counterIvBytes = 8;

/** Bytes of [start, end) with the upper half of an extended sequence number after its first word. */
const additionalData = (bytes: Uint8Array, { start, high }: PacketRange, end: number): Uint8Array => {
  const data = bytes.subarray(start, end);
  if (high < 0) return data;
  const extended = Buffer.alloc(data.length + 4);
  extended.set(data.subarray(0, 4));
  extended.writeUInt32BE(high, 4);
  extended.set(data.subarray(4), 8);
  return extended;
};

interface AeadKind {
  readonly name: 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm' | 'chacha20-poly1305';
  readonly icvBytes: number;
  /** GMAC: the text is authenticated and not encrypted. */
  readonly isPlain: boolean;
}

export const aeadOf = ({ encryption, keyBits }: CipherSpec): AeadKind | undefined => {
  const name = `aes-${keyBits}-gcm` as AeadKind['name'];
  switch (encryption) {
    case encryptionId.aesGcm8:
      return { name, icvBytes: 8, isPlain: false };
    case encryptionId.aesGcm12:
      return { name, icvBytes: 12, isPlain: false };
    case encryptionId.aesGcm16:
      return { name, icvBytes: 16, isPlain: false };
    case encryptionId.aesGmac:
      return { name, icvBytes: 16, isPlain: true };
    case encryptionId.chacha20Poly1305:
      return { name: 'chacha20-poly1305', icvBytes: 16, isPlain: false };
    default:
      return undefined;
  }
};

/** AES-GCM, AES-GMAC and ChaCha20-Poly1305 by `node:crypto`. The IV is a counter, so that no nonce comes twice. */
export const createAead = ({ name, icvBytes, isPlain }: AeadKind, { encryption }: CipherKeys): PacketCipher => {
  const key = encryption.subarray(0, encryption.length - saltBytes);
  const nonce = Buffer.alloc(saltBytes + counterIvBytes);
  nonce.set(encryption.subarray(-saltBytes));
  // The names share one signature; the types of Node have one for each.
  const options = { authTagLength: icvBytes };
  let counter = 0n;
  const loadNonce = (bytes: Uint8Array, ivAt: number) =>
    nonce.set(bytes.subarray(ivAt, ivAt + counterIvBytes), saltBytes);
  return {
    ivBytes: counterIvBytes,
    icvBytes,
    blockBytes: 1,
    seal(bytes, range) {
      const { ivAt, textEnd } = range;
      const text = ivAt + counterIvBytes;
      nonce.writeBigUInt64BE(++counter, saltBytes);
      bytes.set(nonce.subarray(saltBytes), ivAt);
      const cipher = createCipheriv(name as 'aes-256-gcm', key, nonce, options);
      cipher.setAAD(additionalData(bytes, range, isPlain ? textEnd : ivAt));
      if (!isPlain) bytes.set(cipher.update(bytes.subarray(text, textEnd)), text);
      cipher.final();
      bytes.set(cipher.getAuthTag(), textEnd);
    },
    open(bytes, range) {
      const { ivAt, textEnd } = range;
      const text = ivAt + counterIvBytes;
      loadNonce(bytes, ivAt);
      const decipher = createDecipheriv(name as 'aes-256-gcm', key, nonce, options);
      decipher.setAuthTag(bytes.subarray(textEnd, textEnd + icvBytes));
      decipher.setAAD(additionalData(bytes, range, isPlain ? textEnd : ivAt));
      if (!isPlain) bytes.set(decipher.update(bytes.subarray(text, textEnd)), text);
      try {
        decipher.final();
        return true;
      } catch {
        return false;
      }
    },
  };
};

const hashes: Readonly<Record<number, { name: string; bytes: number }>> = {
  [integrityId.sha1]: { name: 'sha1', bytes: 12 },
  [integrityId.sha256]: { name: 'sha256', bytes: 16 },
  [integrityId.sha384]: { name: 'sha384', bytes: 24 },
  [integrityId.sha512]: { name: 'sha512', bytes: 32 },
};

interface Integrity {
  readonly bytes: number;
  of(bytes: Uint8Array, range: PacketRange): Uint8Array;
}

const none: Integrity = { bytes: 0, of: () => new Uint8Array(0) };

const createIntegrity = (id: number, key: Uint8Array): Integrity => {
  const hash = hashes[id];
  if (hash === undefined) return none;
  const high = Buffer.alloc(4);
  return {
    bytes: hash.bytes,
    of(bytes, range) {
      const hmac = createHmac(hash.name, key).update(bytes.subarray(range.start, range.textEnd));
      if (range.high >= 0) {
        high.writeUInt32BE(range.high);
        hmac.update(high);
      }
      return hmac.digest().subarray(0, hash.bytes);
    },
  };
};

interface Encryption {
  readonly ivBytes: number;
  readonly blockBytes: number;
  writeIv(iv: Uint8Array): void;
  apply(text: Uint8Array, iv: Uint8Array, isSealing: boolean): Uint8Array | undefined;
}

const createCbc = (name: string, key: Uint8Array, blockBytes: number): Encryption => ({
  ivBytes: blockBytes,
  blockBytes,
  writeIv: (iv) => randomFillSync(iv),
  apply(text, iv, isSealing) {
    const cipher = isSealing ? createCipheriv(name, key, iv) : createDecipheriv(name, key, iv);
    return cipher.setAutoPadding(false).update(text);
  },
});

/** The counter block: nonce of the key, IV, and a number that starts at 1 (RFC 3686). */
const createCtr = (name: string, keyAndNonce: Uint8Array): Encryption => {
  const key = keyAndNonce.subarray(0, keyAndNonce.length - saltBytes);
  const block = Buffer.alloc(16);
  block.set(keyAndNonce.subarray(-saltBytes));
  let counter = 0n;
  return {
    ivBytes: counterIvBytes,
    blockBytes: 1,
    writeIv: (iv) => Buffer.from(iv.buffer, iv.byteOffset, iv.length).writeBigUInt64BE(++counter),
    apply(text, iv) {
      block.set(iv, saltBytes);
      block.writeUInt32BE(1, 12);
      return createCipheriv(name, key, block).update(text);
    },
  };
};

const noEncryption: Encryption = { ivBytes: 0, blockBytes: 1, writeIv: () => undefined, apply: () => undefined };

const encryptionOf = ({ encryption, keyBits }: CipherSpec, key: Uint8Array): Encryption => {
  switch (encryption) {
    case encryptionId.aesCbc:
      return createCbc(`aes-${keyBits}-cbc`, key, 16);
    case encryptionId.tripleDes:
      return createCbc('des-ede3-cbc', key, 8);
    case encryptionId.aesCtr:
      return createCtr(`aes-${keyBits}-ctr`, key);
    case encryptionId.null:
      return noEncryption;
    default:
      throw new RangeError(`cipher ${encryption} is not supported`);
  }
};

/** Encrypts, then authenticates. */
const createEncryptThenMac = (encryption: Encryption, integrity: Integrity): PacketCipher => ({
  ivBytes: encryption.ivBytes,
  icvBytes: integrity.bytes,
  blockBytes: encryption.blockBytes,
  seal(bytes, range) {
    const iv = bytes.subarray(range.ivAt, range.ivAt + encryption.ivBytes);
    const text = bytes.subarray(range.ivAt + encryption.ivBytes, range.textEnd);
    encryption.writeIv(iv);
    const sealed = encryption.apply(text, iv, true);
    if (sealed !== undefined) text.set(sealed);
    bytes.set(integrity.of(bytes, range), range.textEnd);
  },
  open(bytes, range) {
    const given = bytes.subarray(range.textEnd, range.textEnd + integrity.bytes);
    if (integrity.bytes > 0 && !timingSafeEqual(integrity.of(bytes, range), given)) return false;
    const iv = bytes.subarray(range.ivAt, range.ivAt + encryption.ivBytes);
    const text = bytes.subarray(range.ivAt + encryption.ivBytes, range.textEnd);
    const opened = encryption.apply(text, iv, false);
    if (opened !== undefined) text.set(opened);
    return true;
  },
});

/** Encryption and integrity of packets: by OpenSSL's own functions where they can be called, else by `node:crypto`. */
export const createPacketCipher = (spec: CipherSpec, keys: CipherKeys): PacketCipher => {
  const aead = aeadOf(spec);
  if (aead !== undefined) return (aead.isPlain ? undefined : createEvpAead(aead, keys)) ?? createAead(aead, keys);
  return createEncryptThenMac(encryptionOf(spec, keys.encryption), createIntegrity(spec.integrity, keys.integrity));
};
