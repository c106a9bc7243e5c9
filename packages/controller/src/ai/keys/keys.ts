import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { base62Of, checksumOf } from './token.ts';

const shape = /^rh_ai_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})[0-9A-Za-z]{6}$/;
const checkLength = 6;

/** A new secret under a public id: the text its holder gets, and what is stored of it. */
export const newKey = (publicId: string = base62Of(randomBytes(6), 8)) => {
  const secret = base62Of(randomBytes(32), 43);
  const body = `rh_ai_${publicId}_${secret}`;
  return { publicId, text: body + checksumOf(body), secretHash: secretHash(secret) };
};

/** The parts of a key, or nothing where it was mistyped or made up: told without a look into the database. */
export const parseKey = (text: string): { publicId: string; secret: string } | undefined => {
  const [, publicId, secret] = shape.exec(text) ?? [];
  if (publicId === undefined || secret === undefined) return undefined;
  return checksumOf(text.slice(0, -checkLength)) === text.slice(-checkLength) ? { publicId, secret } : undefined;
};

export const prefixOf = (publicId: string) => `rh_ai_${publicId}_`;

/** 256 random bits need no slow hash. */
const secretHash = (secret: string) => hash('sha256', secret, 'hex');

const nobody = secretHash('');

/** Takes the same time whether the key exists or not. */
export const fits = (secret: string, stored: string | undefined): boolean =>
  timingSafeEqual(Buffer.from(secretHash(secret)), Buffer.from(stored ?? nobody)) && stored !== undefined;
