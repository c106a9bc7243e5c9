import { createHash } from 'node:crypto';
import type { CveSignature } from '@rushhour/contract';

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

export const fingerprintOf = (signature: Fingerprinted) => {
  const { name, cveIDs, cweIDs, severity, cvssVector, protocol, direction, category, tags } = signature;
  const { requests, responses, variables, payloads, combine, expect } = signature;
  const about = { name, cveIDs, cweIDs, severity, cvssVector, protocol, direction, category, tags };
  const content = { requests, responses, variables, payloads, combine, expect };
  return createHash('sha256')
    .update(JSON.stringify(sorted({ ...about, ...content })))
    .digest('hex');
};
