import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { Aead, WireGuardCrypto } from '@rushhour/wire';

const algorithm = 'chacha20-poly1305';
const tagBytes = 16;
const keyBytes = 32;
/** DER of the keys up to their 32 bytes (RFC 8410). */
const prefix = {
  private: Buffer.from('302e020100300506032b656e04220420', 'hex'),
  public: Buffer.from('302a300506032b656e032100', 'hex'),
} as const;

const privateObject = (key: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([prefix.private, key]), format: 'der', type: 'pkcs8' });
const publicObject = (key: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([prefix.public, key]), format: 'der', type: 'spki' });

const options = { authTagLength: tagBytes } as const;

const sealWith: WireGuardCrypto['sealWith'] = (key, nonce, plain, additional) => {
  const cipher = createCipheriv(algorithm, key, nonce, options);
  cipher.setAAD(additional, { plaintextLength: plain.length });
  const sealed = cipher.update(plain);
  cipher.final();
  return Buffer.concat([sealed, cipher.getAuthTag()]);
};

const openWith: WireGuardCrypto['openWith'] = (key, nonce, sealed, additional) => {
  const length = sealed.length - tagBytes;
  if (length < 0) return undefined;
  const decipher = createDecipheriv(algorithm, key, nonce, options);
  decipher.setAAD(additional, { plaintextLength: length });
  decipher.setAuthTag(sealed.subarray(length));
  const plain = decipher.update(sealed.subarray(0, length));
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return new Uint8Array(plain);
};

const nothing = new Uint8Array(0);

const createAead = (key: Uint8Array): Aead => {
  const nonce = new Uint8Array(12);
  const view = new DataView(nonce.buffer);
  const setCounter = (counter: number) => {
    view.setUint32(4, counter >>> 0, true);
    view.setUint32(8, Math.floor(counter / 2 ** 32), true);
  };
  return {
    seal(counter, bytes, start, end, additional = nothing) {
      setCounter(counter);
      bytes.set(sealWith(key, nonce, bytes.subarray(start, end), additional), start);
    },
    open(counter, bytes, start, end, additional = nothing) {
      setCounter(counter);
      const plain = openWith(key, nonce, bytes.subarray(start, end), additional);
      if (plain !== undefined) bytes.set(plain, start);
      return plain !== undefined;
    },
  };
};

/** WireGuard's algorithms by node:crypto. */
export const wireGuardCrypto: WireGuardCrypto = {
  random: (length) => new Uint8Array(randomBytes(length)),
  publicKeyOf: (privateKey) => {
    const der = createPublicKey(privateObject(privateKey)).export({ format: 'der', type: 'spki' });
    return new Uint8Array(der.subarray(-keyBytes));
  },
  agree(privateKey, publicKey) {
    try {
      return new Uint8Array(
        diffieHellman({ privateKey: privateObject(privateKey), publicKey: publicObject(publicKey) }),
      );
    } catch {
      return undefined;
    }
  },
  createAead,
  sealWith,
  openWith,
};
