import { createPublicKey, verify } from 'node:crypto';
import { challengeText } from '@rushhour/protocol';
import { Refusal } from './refusal.ts';

const keyOf = (publicKey: string) => {
  try {
    return createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
};

/** Checks that the agent holds the key it shows, and answers the key in its one spelling. */
export const provenKey = (shown: { publicKey: string; signature: string }, nonce: string): string => {
  const key = keyOf(shown.publicKey);
  if (key?.asymmetricKeyType !== 'ed25519') throw new Refusal('BAD_KEY', 'the public key is not an Ed25519 key');
  const isProven = verify(null, Buffer.from(challengeText(nonce)), key, Buffer.from(shown.signature, 'base64'));
  if (!isProven) throw new Refusal('BAD_SIGNATURE', 'the signature does not fit the key');
  return key.export({ format: 'der', type: 'spki' }).toString('base64');
};
