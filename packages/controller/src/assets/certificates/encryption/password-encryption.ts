import { createDecipheriv } from 'node:crypto';
import { type Asn1Node, integerOf, isInteger, membersOf, octetsOf, oidOf } from '../asn1.ts';
import { CertificateError } from '../certificate-error.ts';
import {
  type DerivationBudget,
  type Digest,
  derivePbkdf2,
  derivePkcs12,
  deriveScrypt,
  type Passphrase,
} from './key-derivation.ts';
import { decryptRc2Cbc } from './rc2.ts';

type Decrypt = (key: Uint8Array, iv: Uint8Array, data: Uint8Array) => Buffer;

interface Cipher {
  readonly keyBytes: number;
  readonly decrypt: Decrypt;
}

const hmacDigests: Record<string, Digest> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};

const pbes2Ciphers: Record<string, Cipher> = {
  '2.16.840.1.101.3.4.1.2': { keyBytes: 16, decrypt: nodeCipher('aes-128-cbc') },
  '2.16.840.1.101.3.4.1.22': { keyBytes: 24, decrypt: nodeCipher('aes-192-cbc') },
  '2.16.840.1.101.3.4.1.42': { keyBytes: 32, decrypt: nodeCipher('aes-256-cbc') },
  '1.2.840.113549.3.7': { keyBytes: 24, decrypt: nodeCipher('des-ede3-cbc') },
};

const pkcs12Ciphers: Record<string, Cipher> = {
  '1.2.840.113549.1.12.1.3': { keyBytes: 24, decrypt: nodeCipher('des-ede3-cbc') },
  '1.2.840.113549.1.12.1.4': { keyBytes: 16, decrypt: nodeCipher('des-ede-cbc') },
  '1.2.840.113549.1.12.1.5': { keyBytes: 16, decrypt: decryptRc2Cbc },
  '1.2.840.113549.1.12.1.6': { keyBytes: 5, decrypt: decryptRc2Cbc },
};

/** Decrypts data encrypted with a PBES2 or PKCS#12 algorithm; a wrong passphrase is BAD_PASSPHRASE. */
export async function decryptWithPassphrase(
  algorithm: Asn1Node | undefined,
  data: Uint8Array,
  passphrase: Passphrase,
  budget: DerivationBudget,
): Promise<Buffer> {
  const [identifier, parameters] = membersOf(algorithm);
  const oid = oidOf(identifier);
  if (oid === '1.2.840.113549.1.5.13') return decryptPbes2(membersOf(parameters), data, passphrase, budget);
  const cipher = pkcs12Ciphers[oid];
  if (!cipher) throw unsupported(oid);
  const [salt, iterations] = membersOf(parameters);
  const cost = { salt: octetsOf(salt), iterations: integerOf(iterations), digest: 'sha1' } as const;
  const key = await derivePkcs12(passphrase, 'key', { ...cost, keyBytes: cipher.keyBytes }, budget);
  const iv = await derivePkcs12(passphrase, 'iv', { ...cost, keyBytes: 8 }, budget);
  return open(cipher.decrypt, key, iv, data);
}

/** `parameters` is [key derivation, encryption]. */
async function decryptPbes2(
  parameters: Asn1Node[],
  data: Uint8Array,
  passphrase: Passphrase,
  budget: DerivationBudget,
): Promise<Buffer> {
  const [identifier, iv] = membersOf(parameters[1]);
  const cipher = pbes2Ciphers[oidOf(identifier)];
  if (!cipher) throw unsupported(oidOf(identifier));
  const key = await deriveKey(parameters[0], cipher.keyBytes, passphrase, budget);
  return open(cipher.decrypt, key, octetsOf(iv), data);
}

/** Runs the key derivation an AlgorithmIdentifier of PBES2 or PBMAC1 describes. */
export async function deriveKey(
  algorithm: Asn1Node | undefined,
  keyBytes: number,
  passphrase: Passphrase,
  budget: DerivationBudget,
): Promise<Buffer> {
  const [identifier, parameters] = membersOf(algorithm);
  const oid = oidOf(identifier);
  const [salt, ...rest] = membersOf(parameters);
  if (oid === '1.2.840.113549.1.5.12') {
    const [iterations, ...options] = rest;
    const prf = options.find((node) => !isInteger(node));
    const declared = options.find(isInteger);
    const cost = {
      salt: octetsOf(salt),
      iterations: integerOf(iterations),
      digest: prf ? hmacDigestOf(prf) : 'sha1',
      keyBytes: declared ? boundedKeyBytes(integerOf(declared)) : keyBytes,
    };
    return derivePbkdf2(passphrase, cost, budget);
  }
  if (oid === '1.3.6.1.4.1.11591.4.11') {
    const [N, r, p] = [integerOf(rest[0]), integerOf(rest[1]), integerOf(rest[2])];
    return deriveScrypt(passphrase, { salt: octetsOf(salt), N, r, p, keyBytes }, budget);
  }
  throw unsupported(oid);
}

export function hmacDigestOf(algorithm: Asn1Node | undefined): Digest {
  const oid = oidOf(membersOf(algorithm)[0]);
  const digest = hmacDigests[oid];
  if (!digest) throw unsupported(oid);
  return digest;
}

export function unsupported(oid: string): CertificateError {
  return new CertificateError(
    'UNSUPPORTED_ENCRYPTION',
    '/passphrase',
    `the encryption ${oid} is not supported; save the file again with AES-256`,
  );
}

function boundedKeyBytes(keyBytes: number): number {
  if (keyBytes > 128) throw new Error('key length out of range');
  return keyBytes;
}

/** All such plaintexts are a SEQUENCE, which detects a wrong key that happens to leave valid padding. */
function open(decrypt: Decrypt, key: Uint8Array, iv: Uint8Array, data: Uint8Array): Buffer {
  try {
    const plain = decrypt(key, iv, data);
    if (plain[0] !== 0x30) throw new Error('no SEQUENCE inside');
    return plain;
  } catch (cause) {
    throw new CertificateError('BAD_PASSPHRASE', '/passphrase', 'the passphrase does not open it', { cause });
  }
}

function nodeCipher(name: string): Decrypt {
  return (key, iv, data) => {
    const decipher = createDecipheriv(name, key, iv);
    return Buffer.concat([decipher.update(data), decipher.final()]);
  };
}
