import { CveDraft, type CveSignature } from '@rushhour/contract';
import { nativeSchema } from '../import/native.ts';

const members = [...Object.keys(CveDraft.properties), 'source', 'sourceRef', 'fingerprint'];

/** Our own form, without what belongs to this controller alone. */
export const toNative = (signatures: readonly CveSignature[]) => {
  const portable = signatures.map((signature) =>
    Object.fromEntries(Object.entries(signature).filter(([name]) => members.includes(name))),
  );
  return JSON.stringify({ schema: nativeSchema, signatures: portable }, null, 1);
};
