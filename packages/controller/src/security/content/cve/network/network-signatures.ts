import { binaryFamilies } from './binary-families.ts';
import { type NetworkSignature, signaturesOf } from './signature-table.ts';
import { textFamilies } from './text-families.ts';
import { tlsSmbFamilies } from './tls-smb-families.ts';

/** Signatures for intrusion prevention, of protocols beyond HTTP: requests with a mark, and answers that refuse them. */
export const networkSignatures: readonly NetworkSignature[] = [
  ...textFamilies,
  ...binaryFamilies,
  ...tlsSmbFamilies,
].flatMap(signaturesOf);
