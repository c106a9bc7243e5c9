import type { CveDraft, CveSignature } from '@rushhour/contract';
import type { NewSignature } from '../../../store/security/cve.ts';
import { cvssScoreOf, severityOfScore } from './cvss.ts';
import { fingerprintOf } from './fingerprint.ts';
import { safetyOf } from './safety.ts';

/** Where a signature comes from. */
export type Origin = Pick<NewSignature, 'source' | 'sourceRef' | 'sourceFileID' | 'sourceSha256' | 'warnings'>;

export const madeByUser: Origin = { source: 'user', sourceRef: '', sourceFileID: null, sourceSha256: '', warnings: [] };

type Draft = { [K in keyof CveDraft]?: CveDraft[K] | null } & Pick<CveDraft, 'name' | 'requests'>;

/** A draft with everything that it leaves to us. `safety` is what the content says, whatever the draft claims. */
export const completeSignature = (draft: Draft, origin: Origin): NewSignature => {
  const cveIDs = draft.cveIDs ?? [];
  const publishedAt = draft.publishedAt ?? null;
  const vector = cvssScoreOf(draft.cvssVector ?? '');
  const cvssScore = draft.cvssScore ?? vector?.score ?? null;
  const content = contentOf(draft);
  const about = {
    cweIDs: draft.cweIDs ?? [],
    tags: draft.tags ?? '',
    severity: draft.severity ?? (cvssScore === null ? 'unknown' : severityOfScore(cvssScore)),
  };
  const safety = safetyOf({ ...content, ...about });
  const signature: Omit<NewSignature, 'fingerprint'> = {
    ...origin,
    ...about,
    ...content,
    name: draft.name,
    description: draft.description ?? '',
    cveIDs,
    cvssVersion: draft.cvssVersion || (vector?.version ?? ''),
    cvssScore,
    cvssVector: draft.cvssVector ?? '',
    epssScore: draft.epssScore ?? null,
    epssPercentile: draft.epssPercentile ?? null,
    kev: draft.kev ?? false,
    year: yearOf(cveIDs, publishedAt),
    publishedAt,
    vendor: (draft.vendor ?? '').trim().toLowerCase(),
    product: (draft.product ?? '').trim().toLowerCase(),
    cpe: draft.cpe ?? '',
    techniques: draft.techniques ?? [],
    protocol: draft.protocol ?? protocolOf(draft.requests),
    direction: draft.direction ?? 'c2s',
    category: draft.category ?? 'other',
    safety,
    enabled: draft.enabled ?? safety === 'benign',
    remediation: draft.remediation ?? '',
    references: draft.references ?? [],
    licence: draft.licence ?? '',
  };
  return { ...signature, fingerprint: fingerprintOf(signature) };
};

const contentOf = (draft: Draft) => ({
  requests: draft.requests.map((request, idx) => ({ ...request, idx })),
  responses: (draft.responses ?? []).map((response, idx) => ({ ...response, idx: response.idx ?? idx })),
  variables: draft.variables ?? {},
  payloads: draft.payloads ?? [],
  combine: draft.combine ?? 'batteringram',
  maxAttempts: draft.maxAttempts ?? 50,
  expect: draft.expect ?? { action: 'block' as const },
});

export const yearOf = (cveIDs: readonly string[], publishedAt: string | null) => {
  const year = /^CVE-(\d{4})/.exec(cveIDs[0] ?? '')?.[1] ?? publishedAt?.slice(0, 4);
  return year === undefined ? null : Number(year);
};

const protocolOf = ([first]: readonly CveSignature['requests'][number][]) => {
  if (first?.kind === 'raw') return first.tls ? 'tls' : first.transport;
  return first?.kind ?? 'http';
};
