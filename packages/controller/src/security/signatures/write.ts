import { type CveDraft, type CveSignature, permissions } from '@rushhour/contract';
import type { Caller } from '../../caller.ts';
import { assertFresh } from '../../crud.ts';
import { forbidden, type Issue, invalid, orNotFound } from '../../errors.ts';
import { allows } from '../../people/permissions.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import { setLinks } from '../../store/engine/links.ts';
import { referredRecords } from '../../store/engine/referred-records.ts';
import {
  findSignature,
  insertSignature,
  type NewSignature,
  rawOf,
  replaceSignature,
} from '../../store/security/cve.ts';
import type { Store } from '../../store/store.ts';
import { signatureIssues } from './expressions/check-signature.ts';
import { completeSignature, madeByUser } from './expressions/complete-signature.ts';
import { isSafer } from './expressions/safety.ts';

type Safety = CveSignature['safety'];

/** The safety given by the caller instead of the known one. A lower hazard than known needs a reviewer. */
const chosenSafety = ({ permissions: held }: Caller, known: Safety, wanted: Safety | undefined): Safety => {
  if (wanted === undefined || wanted === known) return known;
  if (isSafer(wanted, known) && !allows(held, 'cve.review')) {
    throw forbidden(
      'FORBIDDEN',
      `calling this signature ${wanted} instead of ${known} needs the permission cve.review`,
      {
        permission: 'cve.review',
        value: permissions['cve.review'],
      },
    );
  }
  return wanted;
};

const dictionaryIds = ({ payloads }: Pick<NewSignature, 'payloads'>) =>
  payloads.flatMap(({ dictionaryId }) => dictionaryId ?? []);

/** Says anew which dictionaries a signature draws from. */
export const linkSignature = (tx: Change, id: number, signature: NewSignature) =>
  setLinks(
    tx,
    { kind: 'signature', id, name: signature.name },
    dictionaryIds(signature).map((dictionary) => ({ kind: 'dictionary' as const, id: dictionary })),
  );

const assertValid = async (read: Executor, signature: NewSignature) => {
  const issues = [...signatureIssues(signature), ...(await dictionaryIssues(read, signature))];
  if (issues.length > 0) throw invalid(issues);
};

const dictionaryIssues = async (read: Executor, signature: NewSignature): Promise<Issue[]> => {
  const found = await referredRecords(read, 'dictionary', dictionaryIds(signature));
  return signature.payloads.flatMap(({ dictionaryId }, i) =>
    dictionaryId === undefined || found.has(dictionaryId)
      ? []
      : [{ path: `/payloads/${i}/dictionaryId`, code: 'DICTIONARY_UNKNOWN', message: 'is not there' }],
  );
};

export const createSignature = async (store: Store, draft: CveDraft, caller: Caller) => {
  const complete = completeSignature(draft, madeByUser);
  const safety = chosenSafety(caller, complete.safety, draft.safety);
  const signature = { ...complete, safety, enabled: draft.enabled ?? safety === 'benign' };
  await assertValid(store.read, signature);
  return store.change(caller, async (tx) => {
    const id = await insertSignature(tx, signature, '');
    await linkSignature(tx, id, signature);
    return { data: id };
  });
};

type Patch = { [K in keyof CveDraft]?: CveDraft[K] | null };

const contentMembers = [
  'requests',
  'responses',
  'variables',
  'payloads',
  'combine',
  'maxAttempts',
  'tags',
  'cweIDs',
] as const;

/** What a signature becomes by a patch. Changed content is judged anew, as if it were new. */
const patched = (before: CveSignature, patch: Patch, caller: Caller): NewSignature => {
  const { source, sourceRef, sourceFileID, sourceSha256, warnings } = before;
  const origin = { source, sourceRef, sourceFileID, sourceSha256, warnings };
  const complete = completeSignature({ ...asDraft(before), ...patch } as CveDraft, origin);
  const touchesContent = contentMembers.some((member) => patch[member] !== undefined);
  const isChanged = touchesContent && complete.fingerprint !== before.fingerprint;
  const safety = chosenSafety(caller, isChanged ? complete.safety : before.safety, patch.safety ?? undefined);
  const enabled = patch.enabled ?? (isChanged && safety !== 'benign' ? false : before.enabled);
  return { ...complete, safety, enabled };
};

const asDraft = (signature: CveSignature): CveDraft => signature as unknown as CveDraft;

/** Built-in signatures can be enabled and disabled; to change one, copy it. */
const assertUntouched = (before: CveSignature, after: NewSignature) => {
  if (after.fingerprint === before.fingerprint && after.safety === before.safety) return;
  throw forbidden('BUILT_IN', `signature "${before.name}" is built in and stays as it is`, { id: before.id });
};

export const updateSignature = async (
  store: Store,
  { id, updatedAt, ...patch }: Patch & { id: number; updatedAt?: string },
  caller: Caller,
) => {
  const before = await orNotFound(findSignature(store.read, id), 'signature', id);
  assertFresh('signature', before, updatedAt);
  const signature = patched(before, patch, caller);
  if (before.source === 'builtin') assertUntouched(before, signature);
  await assertValid(store.read, signature);
  await store.change(caller, async (tx) => {
    const now = await orNotFound(findSignature(tx, id), 'signature', id);
    // What was checked was checked together with the rest of the signature.
    assertFresh('signature', now, before.updatedAt);
    await replaceSignature(tx, id, signature, await rawOf(tx, id));
    await linkSignature(tx, id, signature);
    if (signature.safety !== before.safety) tx.note({ safety: { from: before.safety, to: signature.safety } });
  });
};
