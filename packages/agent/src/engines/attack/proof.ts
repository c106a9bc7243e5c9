import { createHash, createHmac } from 'node:crypto';

/** The token of an attempt as it travels; steps after the first add their number. */
export const tokenOf = (runToken: string, attempt: number, step = 0): string =>
  `${runToken}/${attempt}${step === 0 ? '' : `.${step}`}`;

/** The attempt and step of a token of this entry; undefined for anything else. */
export const parseToken = (runToken: string, text: string): { attempt: number; step: number } | undefined => {
  const found = /^([a-z0-9]+)\/(\d{1,9})(?:\.(\d{1,3}))?$/.exec(text);
  if (found === null || found[1] !== runToken) return undefined;
  return { attempt: Number(found[2]), step: Number(found[3] ?? 0) };
};

/** What only the other end of the entry can answer to a nonce or a token. */
export const proofOf = (proofKey: string, text: string): string =>
  createHmac('sha256', proofKey).update(text).digest('hex').slice(0, 32);

export const sha256Of = (...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

/** Of nothing the hash is empty, so that silence on both ends is equal and is seen at once. */
export const hashOfBytes = (bytes: Uint8Array): string => (bytes.length === 0 ? '' : sha256Of(bytes));

/** Of several steps the hash is that of their hashes; of one it is its own. */
export const joinedHash = (hashes: readonly string[]): string =>
  hashes.length <= 1 ? (hashes[0] ?? '') : sha256Of(...hashes);
