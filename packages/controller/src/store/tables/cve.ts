import type { CveSignature } from '@rushhour/contract';
import { type Column, flag, integer, json, maybeInteger, text } from '../engine/column.ts';

const maybeReal: Column<number | null, number | null> = { cleared: null };
const textOr = <Word extends string>(cleared: Word): Column<Word, string> =>
  ({ cleared }) as unknown as Column<Word, string>;

/** What signatures are searched and sorted by. Rows are short on purpose: a search may look at every one of them. */
export const cveSignatures = {
  id: integer,
  name: text,
  severity: textOr<CveSignature['severity']>('unknown'),
  severityRank: integer,
  cvssScore: maybeReal,
  epssScore: maybeReal,
  kev: flag,
  year: maybeInteger,
  vendor: text,
  product: text,
  protocol: textOr<CveSignature['protocol']>('http'),
  direction: textOr<CveSignature['direction']>('c2s'),
  category: textOr<CveSignature['category']>('other'),
  safety: textOr<CveSignature['safety']>('unreviewed'),
  enabled: flag,
  source: textOr<CveSignature['source']>('user'),
  sourceRef: text,
  fingerprint: text,
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
};

/** What a list shows besides. */
export type CveDetails = Pick<
  CveSignature,
  | 'description'
  | 'cveIDs'
  | 'cweIDs'
  | 'cvssVersion'
  | 'cvssVector'
  | 'epssPercentile'
  | 'publishedAt'
  | 'cpe'
  | 'techniques'
  | 'tags'
  | 'remediation'
  | 'references'
  | 'sourceFileID'
  | 'sourceSha256'
  | 'licence'
  | 'warnings'
>;

/** What it sends and answers. */
export type CveContent = Pick<
  CveSignature,
  'requests' | 'responses' | 'variables' | 'payloads' | 'combine' | 'maxAttempts' | 'expect'
>;

export const cveDetails = {
  signatureID: integer,
  details: json<CveDetails | null>(null),
  content: json<CveContent | null>(null),
  raw: text,
};

/** CVE ids, CWE ids, techniques and tags, one row each. */
export const cveLabels = { signatureID: integer, kind: text, value: text };

/** What `search` looks into, folded to lower case. */
export const cveTexts = { signatureID: integer, haystack: text };
