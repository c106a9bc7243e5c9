import { createHash, createHmac } from 'node:crypto';

/** The token of an attempt as sent on the wire; steps after the first append their number, `b` marks the bare path. */
export const tokenOf = (runToken: string, attempt: number, step = 0, isBare = false): string =>
  `${runToken}/${isBare ? 'b' : ''}${attempt}${step === 0 ? '' : `.${step}`}`;

/** Parses a token of this entry; undefined for other text. */
export const parseToken = (
  runToken: string,
  text: string,
): { attempt: number; step: number; isBare: boolean } | undefined => {
  const found = /^([a-z0-9]+)\/(b?)(\d{1,9})(?:\.(\d{1,3}))?$/.exec(text);
  if (found === null || found[1] !== runToken) return undefined;
  return { attempt: Number(found[3]), step: Number(found[4] ?? 0), isBare: found[2] === 'b' };
};

/** Proof for a nonce or token; only the two ends of the entry can compute it. */
export const proofOf = (proofKey: string, text: string): string =>
  createHmac('sha256', proofKey).update(text).digest('hex').slice(0, 32);

/** What a nonce proves besides, if the server has received this attempt completely. */
export const arrivalOf = (nonce: string, attempt: number): string => `${nonce} ${attempt}`;

export const sha256Of = (...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

/** Empty for no bytes, so that silence on both ends compares equal. */
export const hashOfBytes = (bytes: Uint8Array): string => (bytes.length === 0 ? '' : sha256Of(bytes));

/** The hash of a single step is its own; several steps are hashed over their hashes. */
export const joinedHash = (hashes: readonly string[]): string =>
  hashes.length <= 1 ? (hashes[0] ?? '') : sha256Of(...hashes);
