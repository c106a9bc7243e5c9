import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { CertificateError } from './certificate-error.ts';

/** Keys offered to users. */
export const keyTypes = ['rsa2048', 'rsa3072', 'rsa4096', 'ecdsa-p256', 'ecdsa-p384', 'ed25519'] as const;
export type KeyType = (typeof keyTypes)[number];
/** Only defects use it. */
export type WeakKeyType = 'rsa1024';

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const generateAsync = promisify(generateKeyPair);
const curves: Readonly<Record<string, string>> = { prime256v1: 'p256', secp384r1: 'p384', secp521r1: 'p521' };
const curveBits: Readonly<Record<string, number>> = { prime256v1: 256, secp384r1: 384, secp521r1: 521 };

/** Runs on the thread pool. */
export async function createKeyPair(keyType: KeyType | WeakKeyType): Promise<KeyPair> {
  if (keyType === 'ed25519') return generateAsync('ed25519');
  if (keyType === 'ecdsa-p256') return generateAsync('ec', { namedCurve: 'P-256' });
  if (keyType === 'ecdsa-p384') return generateAsync('ec', { namedCurve: 'P-384' });
  return generateAsync('rsa', { modulusLength: Number(keyType.slice(3)) });
}

export interface KeyFacts {
  /** As in `keyTypes` where the key is one of them; else the same pattern, such as `rsa1024` or `ecdsa-p521`. */
  readonly keyType: string;
  /** Bits. */
  readonly keySize: number;
}

export function keyFactsOf(key: KeyObject): KeyFacts {
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  const type = key.asymmetricKeyType ?? 'unknown';
  if (type === 'ec') {
    return { keyType: `ecdsa-${curves[namedCurve] ?? namedCurve}`, keySize: curveBits[namedCurve] ?? 0 };
  }
  if (type === 'ed25519' || type === 'x25519') return { keyType: type, keySize: 256 };
  if (type === 'ed448' || type === 'x448') return { keyType: type, keySize: 448 };
  return { keyType: modulusLength ? `${type}${modulusLength}` : type, keySize: modulusLength };
}

export type SigningHash = 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512';

export interface SigningKey {
  readonly key: CryptoKey;
  readonly algorithm: { name: string; hash?: SigningHash };
}

/** The key as Web Crypto takes it; without a hash the one that suits the key. */
export function signingKeyOf(key: KeyObject, hash?: SigningHash): SigningKey {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'ed25519') return { key: importKey(key, { name: 'Ed25519' }), algorithm: { name: 'Ed25519' } };
  if (type === 'rsa') {
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: hash ?? 'SHA-256' } as const;
    return { key: importKey(key, algorithm), algorithm };
  }
  const curve = curves[details?.namedCurve ?? ''];
  if (type !== 'ec' || !curve) {
    const { keyType } = keyFactsOf(key);
    throw new CertificateError(
      'ISSUER_KEY_UNSUPPORTED',
      '/generate/issuerCertificateID',
      `keys of type ${keyType} cannot sign here`,
    );
  }
  const curveHash = { p256: 'SHA-256', p384: 'SHA-384', p521: 'SHA-512' }[curve] as SigningHash;
  return {
    key: importKey(key, { name: 'ECDSA', namedCurve: curve.replace('p', 'P-') }),
    algorithm: { name: 'ECDSA', hash: hash ?? curveHash },
  };
}

/** Node and the DOM declare the same class twice; the library is typed with the DOM's. */
function importKey(key: KeyObject, algorithm: Parameters<KeyObject['toCryptoKey']>[0]): CryptoKey {
  return key.toCryptoKey(algorithm, true, key.type === 'private' ? ['sign'] : ['verify']) as CryptoKey;
}
