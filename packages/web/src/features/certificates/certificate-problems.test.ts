import { expect, it } from 'vitest';
import { text } from '../../lib/text.ts';
import { problemsOf } from './certificate-problems.ts';

const valid = {
  kind: 'certificate',
  notBefore: '2026-01-01T00:00:00.000Z',
  notAfter: '2027-01-01T00:00:00.000Z',
  selfSigned: false,
  isCa: false,
  keyType: 'rsa2048',
  keySize: 2048,
  signatureAlgorithm: 'sha256WithRSAEncryption',
  sanCount: 1,
  revoked: false,
  chainComplete: true,
  keyMatch: true,
} as Parameters<typeof problemsOf>[0];
const now = Date.parse('2026-06-01T00:00:00.000Z');

it('reports nothing for a valid certificate', () => {
  expect(problemsOf(valid, now)).toEqual([]);
});

it.each([
  ['expired', { notAfter: '2026-05-31T00:00:00.000Z' }],
  ['notYetValid', { notBefore: '2026-07-01T00:00:00.000Z' }],
  ['selfSigned', { selfSigned: true }],
  ['weakKey', { keySize: 1024 }],
  ['sha1', { signatureAlgorithm: 'sha1WithRSAEncryption' }],
  ['noNames', { sanCount: 0 }],
  ['revoked', { revoked: true }],
  ['chain', { chainComplete: false }],
  ['key', { keyMatch: false }],
] as const)('reports the problem %s', (name, members) => {
  expect(problemsOf({ ...valid, ...members }, now)).toEqual([text.certificateProblems[name]]);
});
