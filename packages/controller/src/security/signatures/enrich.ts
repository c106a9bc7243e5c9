import type { CveImportLine, CveSignature } from '@rushhour/contract';
import type { Change } from '../../store/engine/change.ts';
import { findSignatures, idsOfCve, type NewSignature, rawOf, replaceSignature } from '../../store/security/cve.ts';
import { yearOf } from './expressions/complete-signature.ts';
import { severityOfScore } from './expressions/cvss.ts';
import type { Enrichment } from './import/template.ts';

/** Adds what lists know of a CVE to its signatures. CVE without signatures are passed over: lists have hundreds of thousands. */
export const enrich = async (
  tx: Change,
  enrichments: readonly Enrichment[],
  dryRun: boolean,
): Promise<CveImportLine[]> => {
  const lines: CveImportLine[] = [];
  for (const { cveID, patch } of enrichments) {
    const ids = await idsOfCve(tx, cveID);
    if (ids.length === 0) continue;
    const changed: number[] = [];
    for (const before of await findSignatures(tx, ids)) {
      const after = enriched(before, patch);
      if (JSON.stringify(after) === JSON.stringify(before)) continue;
      changed.push(before.id);
      if (!dryRun) await replaceSignature(tx, before.id, after as NewSignature, await rawOf(tx, before.id));
    }
    lines.push({
      path: '',
      templateId: cveID,
      status: changed.length > 0 ? 'updated' : 'unchanged',
      reason: '',
      safety: null,
      signatureIDs: changed.length > 0 ? changed : ids,
    });
  }
  return lines;
};

/** Own words stay; empty members are filled; scores are always those of the list. */
const enriched = (
  before: CveSignature,
  { description, vendor, product, references, cweIDs, ...scores }: Enrichment['patch'],
): CveSignature => {
  const known = new Set(before.references.map(({ value }) => value));
  const publishedAt = before.publishedAt ?? scores.publishedAt ?? null;
  const merged = {
    ...before,
    ...scores,
    publishedAt,
    year: yearOf(before.cveIDs, publishedAt),
    description: before.description || (description ?? ''),
    vendor: before.vendor || (vendor ?? ''),
    product: before.product || (product ?? ''),
    cweIDs: before.cweIDs.length > 0 ? before.cweIDs : (cweIDs ?? []),
    references: [...before.references, ...(references ?? []).filter(({ value }) => !known.has(value))].slice(0, 100),
  } as CveSignature;
  const { cvssScore } = merged;
  if (merged.severity !== 'unknown' || cvssScore === null) return merged;
  return { ...merged, severity: severityOfScore(cvssScore) };
};
