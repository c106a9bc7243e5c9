import { createHash } from 'node:crypto';
import type { CveDraft, CveSignature } from '@rushhour/contract';
import type { NewSignature } from '../../../store/security/cve.ts';
import { cvssScoreOf, severityOfScore } from './cvss.ts';
import { safetyOf } from './safety.ts';

/** What makes two signatures the same: what they are about and what they send; not who made them, nor when. */
type Fingerprinted = Pick<
  CveSignature,
  | 'name'
  | 'cveIDs'
  | 'cweIDs'
  | 'severity'
  | 'cvssVector'
  | 'protocol'
  | 'direction'
  | 'category'
  | 'tags'
  | 'requests'
  | 'responses'
  | 'variables'
  | 'payloads'
  | 'combine'
  | 'expect'
>;

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
};

const fingerprintOf = (signature: Fingerprinted) => {
  const { name, cveIDs, cweIDs, severity, cvssVector, protocol, direction, category, tags } = signature;
  const { requests, responses, variables, payloads, combine, expect } = signature;
  const about = { name, cveIDs, cweIDs, severity, cvssVector, protocol, direction, category, tags };
  const content = { requests, responses, variables, payloads, combine, expect };
  return createHash('sha256')
    .update(JSON.stringify(sorted({ ...about, ...content })))
    .digest('hex');
};

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
