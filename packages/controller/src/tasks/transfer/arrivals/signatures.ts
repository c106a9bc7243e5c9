import { at } from '../at-place.ts';
import type { Prepare } from './arrival.ts';

/** Judged as if somebody wrote it here: what the archive says of its safety can only make it less harmless. */
export const prepareSignature: Prepare<'cveSignatures'> = async ({ signature }, { rules }) => {
  const checked = await at('/signature', () => rules.signature(signature));
  return (tx, _name, parts) => rules.insertSignature(tx, { ...checked, payloads: parts.signature.payloads ?? [] });
};
