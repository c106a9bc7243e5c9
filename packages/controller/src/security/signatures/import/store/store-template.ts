import type { CveImportFields, CveImportLine } from '@rushhour/contract';
import type { Change } from '../../../../store/engine/change.ts';
import {
  findBySource,
  findSignature,
  insertSignature,
  type NewSignature,
  replaceSignature,
} from '../../../../store/security/cve.ts';
import { linkSignature } from '../../link-signature.ts';
import type { Prepared } from './prepare-template.ts';

/** Stores one template, or says why it need not be. */
export const storeTemplate = async (
  tx: Change,
  { path, templateId, raw, signature }: Prepared,
  { dryRun = false, onConflict = 'replace' }: CveImportFields,
): Promise<CveImportLine> => {
  const known = await findBySource(tx, signature.source, signature.sourceRef);
  const tell = (status: CveImportLine['status'], reason: string, ids: number[]): CveImportLine => ({
    path,
    templateId,
    status,
    reason,
    safety: signature.safety,
    signatureIDs: ids,
  });
  if (known?.fingerprint === signature.fingerprint) return tell('unchanged', '', [known.id]);
  if (known && onConflict === 'skip')
    return tell('unchanged', 'there is another one of this name, which is kept', [known.id]);
  const warnings = signature.warnings.join('; ').slice(0, 500);
  if (known && onConflict === 'replace') {
    if (!dryRun) await renew(tx, known.id, signature, raw);
    return tell('updated', warnings, [known.id]);
  }
  const id = dryRun ? undefined : await insertSignature(tx, signature, raw);
  if (id !== undefined) await linkSignature(tx, id, signature);
  const ids = id === undefined ? [] : [id];
  if (signature.safety === 'benign') return tell('imported', warnings, ids);
  return tell('disabled', [`safety is ${signature.safety}`, warnings].filter(Boolean).join('; '), ids);
};

/** What a new edition of a template changes: not what is known of its CVE from elsewhere. */
const renew = async (tx: Change, id: number, signature: NewSignature, raw: string) => {
  const before = await findSignature(tx, id);
  const kept = before && {
    epssScore: signature.epssScore ?? before.epssScore,
    epssPercentile: signature.epssPercentile ?? before.epssPercentile,
    kev: signature.kev || before.kev,
    publishedAt: signature.publishedAt ?? before.publishedAt,
  };
  await replaceSignature(tx, id, { ...signature, ...kept }, raw);
  await linkSignature(tx, id, signature);
};
