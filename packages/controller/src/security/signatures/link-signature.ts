import type { Change } from '../../store/engine/change.ts';
import { setLinks } from '../../store/engine/links.ts';
import type { NewSignature } from '../../store/security/cve.ts';

export const dictionaryIds = ({ payloads }: Pick<NewSignature, 'payloads'>) =>
  payloads.flatMap(({ dictionaryId }) => dictionaryId ?? []);

/** Says anew which dictionaries a signature draws from. */
export const linkSignature = (tx: Change, id: number, signature: NewSignature) =>
  setLinks(
    tx,
    { kind: 'signature', id, name: signature.name },
    dictionaryIds(signature).map((dictionary) => ({ kind: 'dictionary' as const, id: dictionary })),
  );
