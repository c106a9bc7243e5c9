import { CveDraft, type CveImportFields, type CveImportLine } from '@rushhour/contract';
import { createSchemaCheck } from '../../../../schema-check.ts';
import type { NewSignature } from '../../../../store/security/cve.ts';
import { signatureIssues } from '../../expressions/check-signature.ts';
import { completeSignature } from '../../expressions/complete-signature.ts';
import type { TemplateOutcome } from '../template.ts';

/** A template that may be stored. */
export interface Prepared {
  readonly path: string;
  readonly templateId: string;
  readonly sha256: string;
  /** The file; undefined for that of the template before it. */
  readonly raw?: string;
  readonly signature: NewSignature;
}

interface Source {
  readonly path: string;
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly fields: CveImportFields;
}

const check = createSchemaCheck(CveDraft, 'first');
const maxRawBytes = 2 * 1_048_576;
const maxReason = 500;

/** Judges a template that was read as strictly as one that a user writes. */
export const prepareTemplate = (
  outcome: TemplateOutcome,
  { path, bytes, sha256, fields }: Source,
): { line: CveImportLine } | { ready: Prepared } => {
  const templateId = outcome.templateId.slice(0, 300);
  const refuse = (reason: string) => ({
    line: {
      path,
      templateId,
      status: 'refused' as const,
      reason: reason.slice(0, maxReason),
      safety: null,
      signatureIDs: [],
    },
  });
  if ('refused' in outcome) return refuse(outcome.refused);
  const { draft, source, sourceRef, warnings } = outcome;
  const tagged = { ...draft, tags: joined(draft.tags ?? '', fields.tags ?? '') };
  const [misshapen] = check(tagged);
  if (misshapen) return refuse(`${misshapen.path} ${misshapen.message}`);
  const origin = { source, sourceRef, sourceFileID: null, sourceSha256: sha256, warnings: [...warnings] };
  const complete = completeSignature(tagged, origin);
  const issues = signatureIssues(complete);
  if (issues.length > 0) return refuse(issues.map(({ message }) => message).join('; '));
  const isEnabled = complete.safety === 'benign' && fields.enable !== 'none';
  const isText = source !== 'pcap' && bytes.length <= maxRawBytes;
  const raw = isText ? bytes.toString('utf8').replaceAll('\0', '') : '';
  return { ready: { path, templateId, sha256, raw, signature: { ...complete, enabled: isEnabled } } };
};

const joined = (left: string, right: string) =>
  [...new Set([...left.split(','), ...right.split(',')].filter((tag) => tag !== ''))].slice(0, 32).join(',');
