import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Secrets } from '../../store/engine/secrets.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 43;
const checkLength = 6;
const prefix = 'rh_aat_';

/** Big-endian bytes as base62, padded with zeros to a fixed length. */
export const base62Of = (bytes: Uint8Array, length: number): string => {
  let value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  let text = '';
  while (text.length < length) {
    text = alphabet[Number(value % 62n)] + text;
    value /= 62n;
  }
  return text;
};

/** Detects mistyped tokens without a database lookup. */
export const checksumOf = (text: string): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return base62Of(bytes, checkLength);
};

export const newNonce = () => randomBytes(16).toString('hex');

/** The token of an approval. It is never stored: it is derived from the installation's key. */
export const tokenOf = (secrets: Pick<Secrets, 'derive'>, approvalId: number, nonce: string): string => {
  const body = prefix + base62Of(secrets.derive('aat-v1', `${approvalId}\0${nonce}`), secretLength);
  return body + checksumOf(body);
};

const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${secretLength + checkLength}}$`);

export const isWellFormed = (token: string): boolean =>
  shape.test(token) && checksumOf(token.slice(0, -checkLength)) === token.slice(-checkLength);

/** The stored state of a token. */
export const tokenHash = (token: string): string => hash('sha256', token, 'hex');
