import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/**
 * A signed package is an archive followed by a trailer of fixed length: magic, public key, signature. The signature
 * covers the SHA-256 of the archive. `gzip` and `tar` ignore the trailer.
 */
const magic = Buffer.from('RUSHHOUR-PACKAGE-SIGNATURE-1\n');
const keyBytes = 32;
const signatureBytes = 64;
export const packageTrailerBytes = magic.length + keyBytes + signatureBytes;

const keyPrefix = 'rh_key_';
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** An Ed25519 public key as users see it: `rh_key_` and the 32 bytes in base64url. */
export const publicKeyText = (key: KeyObject): string =>
  textOfRawKey(key.export({ format: 'der', type: 'spki' }).subarray(spkiPrefix.length));

const textOfRawKey = (raw: Uint8Array) => `${keyPrefix}${Buffer.from(raw).toString('base64url')}`;

export const isPublicKeyText = (text: string): boolean => /^rh_key_[0-9A-Za-z_-]{42}[AEIMQUYcgkosw048]$/.test(text);

/** Throws on a text that is not an Ed25519 public key. */
export const parsePublicKey = (text: string): KeyObject => {
  if (!isPublicKeyText(text)) throw new TypeError(`${text.slice(0, 64)} is not a key such as rh_key_…`);
  const raw = Buffer.from(text.slice(keyPrefix.length), 'base64url');
  return createPublicKey({ key: Buffer.concat([spkiPrefix, raw]), format: 'der', type: 'spki' });
};

const signedText = (archiveSha256: string) => Buffer.from(`rushhour agent package ${archiveSha256}`);

/** The trailer for an archive. `key` is an Ed25519 private key. */
export const signPackage = (archiveSha256: string, key: KeyObject): Buffer => {
  const raw = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(spkiPrefix.length);
  return Buffer.concat([magic, raw, sign(null, signedText(archiveSha256), key)]);
};

/** A package that is not signed, or not with a trusted key. */
export class UntrustedPackage extends Error {
  override readonly name = 'UntrustedPackage';
  readonly code: 'UNSIGNED' | 'BAD_SIGNATURE' | 'UNTRUSTED_KEY';

  constructor(code: UntrustedPackage['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Throws `UntrustedPackage` unless the trailer is a signature of the archive by one of the trusted keys. */
export const verifyPackageTrailer = (trailer: Buffer, archiveSha256: string, trusted: readonly string[]): void => {
  if (trailer.length !== packageTrailerBytes || !trailer.subarray(0, magic.length).equals(magic))
    throw new UntrustedPackage('UNSIGNED', 'the package is not signed');
  const key = textOfRawKey(trailer.subarray(magic.length, magic.length + keyBytes));
  if (!trusted.includes(key))
    throw new UntrustedPackage('UNTRUSTED_KEY', `the package is signed with ${key}, which is not trusted here`);
  if (!verify(null, signedText(archiveSha256), parsePublicKey(key), trailer.subarray(magic.length + keyBytes)))
    throw new UntrustedPackage('BAD_SIGNATURE', 'the signature does not match the package');
};

/** The keys in a list: one for each line or comma, `#` begins a comment. Throws on the first invalid one. */
export const parseKeyList = (text: string): string[] => {
  const keys = text
    .replace(/#.*$/gm, '')
    .split(/[\s,]+/)
    .filter((key) => key !== '');
  for (const key of keys) parsePublicKey(key);
  return [...new Set(keys)];
};
