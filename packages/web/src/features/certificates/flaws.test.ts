import { expect, it } from 'vitest';
import { text } from '../../lib/text.ts';
import { flawsOf } from './flaws.ts';

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
} as Parameters<typeof flawsOf>[0];
const now = Date.parse('2026-06-01T00:00:00.000Z');

it('finds nothing wrong with a valid certificate', () => {
  expect(flawsOf(valid, now)).toEqual([]);
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
] as const)('names the flaw %s', (name, members) => {
  expect(flawsOf({ ...valid, ...members }, now)).toEqual([text.certificateProblems[name]]);
});
