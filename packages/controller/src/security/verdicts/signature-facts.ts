import type { AttackResult, CveSummary } from '@rushhour/contract';
import type { Executor } from '../../store/engine/database.ts';
import { cveSignatures, withDetails } from '../../store/security/cve.ts';
import { signaturePlaceholder } from '../content/waf/placeholders.ts';

/** The facts of a signature by which its impact is judged. */
export type SignatureFacts = Pick<
  CveSummary,
  'cveIDs' | 'cweIDs' | 'cvssScore' | 'cvssVector' | 'epssScore' | 'kev' | 'remediation'
>;

/** The signature of an attempt; undefined for payloads, samples, campaigns and benign requests. */
export const signatureIdOf = ({
  kind,
  refID,
  variant,
}: Pick<AttackResult, 'refID' | 'variant'> & { readonly kind: string }): number | undefined => {
  const isSignature = kind === 'cve' || (kind === 'waf' && variant.split('/')[1] === signaturePlaceholder);
  return isSignature && refID > 0 ? refID : undefined;
};

const rowsAtOnce = 1000;

/** Current facts of the catalogue, by id; none for deleted signatures. */
export const readSignatureFacts = async (
  read: Executor,
  ids: Iterable<number>,
): Promise<ReadonlyMap<number, SignatureFacts>> => {
  const facts = new Map<number, SignatureFacts>();
  const wanted = [...new Set(ids)];
  for (let at = 0; at < wanted.length; at += rowsAtOnce) {
    const rows = await cveSignatures.findMany(read, wanted.slice(at, at + rowsAtOnce));
    for (const signature of await withDetails(read, rows)) {
      const { cveIDs, cweIDs, cvssScore, cvssVector, epssScore, kev, remediation } = signature;
      facts.set(signature.id, { cveIDs, cweIDs, cvssScore, cvssVector, epssScore, kev, remediation });
    }
  }
  return facts;
};
