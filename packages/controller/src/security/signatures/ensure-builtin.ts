import type { Executor } from '../../store/engine/database.ts';
import { findBySource, insertSignature, type NewSignature, replaceSignature } from '../../store/security/cve.ts';
import type { Store } from '../../store/store.ts';
import { starterSignatures } from '../content/cve/starter-signatures.ts';
import { completeSignature } from './expressions/complete-signature.ts';

const origin = { userId: null, address: '', requestId: 'start', operation: 'cve.builtin' };

/** Makes the signatures that a new installation starts with, and renews those that a release has changed. */
export const ensureBuiltinSignatures = async (store: Store) => {
  if ((await outdated(store.read)).length === 0) return;
  await store.change(origin, async (tx) => {
    for (const { id, signature } of await outdated(tx)) {
      if (id === undefined) await insertSignature(tx, signature, '');
      else await replaceSignature(tx, id, signature, '');
    }
  });
};

const outdated = async (executor: Executor) => {
  const found: { id: number | undefined; signature: NewSignature }[] = [];
  for (const { ref, ...draft } of starterSignatures) {
    const source = { source: 'builtin', sourceRef: ref, sourceFileID: null, sourceSha256: '', warnings: [] } as const;
    const signature = completeSignature(draft, { ...source, warnings: [] });
    const stored = await findBySource(executor, 'builtin', ref);
    if (stored?.fingerprint !== signature.fingerprint) found.push({ id: stored?.id, signature });
  }
  return found;
};
