import {
  createDiffieHellmanGroup,
  createECDH,
  createHash,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import { groupId, type IpsecCrypto, type KeyExchange, prfId } from '@rushhour/wire';
import { findEvpHash } from './evp-hash.ts';
import { createEvpMontgomery } from './evp-montgomery.ts';
import { createMlKem, encapsulateMlKem } from './ml-kem.ts';
import { createPacketCipher } from './packet-cipher.ts';

const hashOfPrf: Readonly<Record<number, string>> = {
  [prfId.sha1]: 'sha1',
  [prfId.sha256]: 'sha256',
  [prfId.sha384]: 'sha384',
  [prfId.sha512]: 'sha512',
};

/** Random bytes in advance: each call of the generator costs as much as a kilobyte of it. */
const pool = new Uint8Array(8192);
let poolAt = pool.length;

const random = (length: number): Uint8Array => {
  if (length > pool.length) return randomFillSync(new Uint8Array(length));
  if (poolAt + length > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  poolAt += length;
  return pool.slice(poolAt - length, poolAt);
};

const modp: Readonly<Record<number, string>> = {
  [groupId.modp1024]: 'modp2',
  [groupId.modp1536]: 'modp5',
  [groupId.modp2048]: 'modp14',
  [groupId.modp3072]: 'modp15',
  [groupId.modp4096]: 'modp16',
  [groupId.modp6144]: 'modp17',
  [groupId.modp8192]: 'modp18',
};

const curves: Readonly<Record<number, { name: string; bytes: number }>> = {
  [groupId.ecp256]: { name: 'prime256v1', bytes: 32 },
  [groupId.ecp384]: { name: 'secp384r1', bytes: 48 },
  [groupId.ecp521]: { name: 'secp521r1', bytes: 66 },
};

/** Public and shared values have the length of the prime, with zeros in front. */
const padded = (value: Uint8Array, length: number): Uint8Array => {
  const bytes = new Uint8Array(length);
  bytes.set(value, length - value.length);
  return bytes;
};

const createModp = (name: string): KeyExchange => {
  const exchange = createDiffieHellmanGroup(name);
  const size = exchange.getPrime().length;
  exchange.generateKeys();
  return {
    publicValue: padded(exchange.getPublicKey(), size),
    derive(peerValue) {
      if (peerValue.length !== size) throw new RangeError(`a value of ${name} has ${size} bytes`);
      return padded(exchange.computeSecret(peerValue), size);
    },
  };
};

/** Points are sent as both coordinates; the shared secret is the first of them (RFC 5903). */
const createEcp = ({ name, bytes }: { name: string; bytes: number }): KeyExchange => {
  const exchange = createECDH(name);
  exchange.generateKeys();
  return {
    publicValue: Uint8Array.from(exchange.getPublicKey().subarray(1)),
    derive(peerValue) {
      if (peerValue.length !== 2 * bytes) throw new RangeError(`a point of ${name} has ${2 * bytes} bytes`);
      return padded(exchange.computeSecret(Buffer.concat([Buffer.of(4), peerValue])), bytes);
    },
  };
};

const montgomery: Readonly<Record<number, { curve: 'X25519' | 'X448'; bytes: number }>> = {
  [groupId.curve25519]: { curve: 'X25519', bytes: 32 },
  [groupId.curve448]: { curve: 'X448', bytes: 56 },
};

const generate = (curve: 'X25519' | 'X448') =>
  curve === 'X25519' ? generateKeyPairSync('x25519') : generateKeyPairSync('x448');

const createMontgomery = ({ curve, bytes }: { curve: 'X25519' | 'X448'; bytes: number }): KeyExchange => {
  const { publicKey, privateKey } = generate(curve);
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return {
    publicValue: Uint8Array.from(Buffer.from(x, 'base64url')),
    derive(peerValue) {
      if (peerValue.length !== bytes) throw new RangeError(`a value of ${curve} has ${bytes} bytes`);
      const key: KeyObject = createPublicKey({
        key: { kty: 'OKP', crv: curve, x: Buffer.from(peerValue).toString('base64url') },
        format: 'jwk',
      });
      return diffieHellman({ privateKey, publicKey: key });
    },
  };
};

const createKeyExchange = (group: number): KeyExchange => {
  const direct = createEvpMontgomery(group, random);
  if (direct !== undefined) return direct;
  const [prime, curve, other] = [modp[group], curves[group], montgomery[group]];
  if (prime !== undefined) return createModp(prime);
  if (curve !== undefined) return createEcp(curve);
  if (other !== undefined) return createMontgomery(other);
  const kem = createMlKem(group);
  if (kem !== undefined) return kem;
  throw new RangeError(`key exchange ${group} is not supported`);
};

const hmac = (id: number, key: Uint8Array, data: Uint8Array): Uint8Array =>
  createHmac(hashOfPrf[id] as string, key)
    .update(data)
    .digest();

/** Cryptography of IPsec: by OpenSSL's own functions where they can be called, else by `node:crypto`. */
export const nodeIpsecCrypto: IpsecCrypto = {
  random,
  sha1: (data) => findEvpHash()?.sha1(data) ?? createHash('sha1').update(data).digest(),
  prf: (id, key, data) => findEvpHash()?.prf(id, key, data) ?? hmac(id, key, data),
  createCipher: createPacketCipher,
  createKeyExchange,
  encapsulate: encapsulateMlKem,
};
