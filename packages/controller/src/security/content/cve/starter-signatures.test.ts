import { expect, it } from 'vitest';
import { signatureIssues } from '../../signatures/expressions/check-signature.ts';
import { completeSignature, madeByUser } from '../../signatures/expressions/complete-signature.ts';
import { starterSignatures } from './starter-signatures.ts';

it('every starter is sound, harmless and named once', () => {
  expect(new Set(starterSignatures.map(({ ref }) => ref)).size).toBe(starterSignatures.length);
  for (const { ref: _, ...draft } of starterSignatures) {
    const signature = completeSignature(draft, madeByUser);
    expect([signature.name, signatureIssues(signature), signature.safety]).toEqual([draft.name, [], 'benign']);
  }
});

it('starters name no host, address or address of mail but reserved ones', () => {
  const text = JSON.stringify(starterSignatures);
  const hosts = [...text.matchAll(/\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|cn|ru|de|info|biz)\b/gi)].map(([host]) => host);
  expect(hosts).toEqual([]);
  expect(text).not.toMatch(/\b\d{1,3}(?:\.\d{1,3}){3}\b|@/);
});
