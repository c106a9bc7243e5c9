import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { base62Of, checksumOf } from './token.ts';

const shape = /^rh_ai_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})[0-9A-Za-z]{6}$/;
const checkLength = 6;

/** A new secret with a public id: the text for its holder, and the stored hash. */
export const newKey = (publicId: string = base62Of(randomBytes(6), 8)) => {
  const secret = base62Of(randomBytes(32), 43);
  const body = `rh_ai_${publicId}_${secret}`;
  return { publicId, text: body + checksumOf(body), secretHash: secretHash(secret) };
};

/** The parts of a key, or undefined if it is malformed; needs no database lookup. */
export const parseKey = (text: string): { publicId: string; secret: string } | undefined => {
  const [, publicId, secret] = shape.exec(text) ?? [];
  if (publicId === undefined || secret === undefined) return undefined;
  return checksumOf(text.slice(0, -checkLength)) === text.slice(-checkLength) ? { publicId, secret } : undefined;
};

export const prefixOf = (publicId: string) => `rh_ai_${publicId}_`;

/** 256 random bits need no slow hash. */
const secretHash = (secret: string) => hash('sha256', secret, 'hex');

const nobody = secretHash('');

/** Takes constant time whether or not the key exists. */
export const fits = (secret: string, stored: string | undefined): boolean =>
  timingSafeEqual(Buffer.from(secretHash(secret)), Buffer.from(stored ?? nobody)) && stored !== undefined;
