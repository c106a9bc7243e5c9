import type { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { orderChain } from './chain.ts';
import { issueAuthority, issueCertificate } from './issuing/issue.ts';
import { createKeyPair } from './key-pair.ts';
import { parseDistinguishedName } from './names/distinguished-name.ts';

const profile = (subject: string) => ({
  subject: parseDistinguishedName(subject),
  names: [],
  keyType: 'ecdsa-p384' as const,
  notBefore: new Date(0),
  notAfter: new Date(2e12),
  isCa: true,
  keyUsage: 4,
  extendedKeyUsage: [],
});

/** Certificates of A by B and of B by A, none of which was signed by another of them. */
async function makeSameNamed(size: number): Promise<X509Certificate[]> {
  const keys = await createKeyPair('ecdsa-p384');
  const [a, b] = [await issueAuthority(profile('CN=A')), await issueAuthority(profile('CN=B'))];
  return Promise.all(
    Array.from({ length: size }, (_, i) => issueCertificate(profile(i % 2 ? 'CN=A' : 'CN=B'), keys, i % 2 ? b : a)),
  );
}

test('many certificates with the same two names are ordered without checking every signature', async () => {
  const sameNamed = await makeSameNamed(200);
  let checks = 0;
  for (const certificate of sameNamed) {
    const { verify } = certificate;
    certificate.verify = (key) => {
      checks += 1;
      return verify.call(certificate, key);
    };
  }
  const ordered = orderChain(sameNamed);
  expect(new Set(ordered)).toEqual(new Set(sameNamed));
  expect(checks).toBeGreaterThan(0);
  expect(checks).toBeLessThan(100);
});

test('of several authorities with the name of the issuer, the one that signed comes next', async () => {
  const namesakes = await Promise.all(Array.from({ length: 5 }, () => issueAuthority(profile('CN=Root'))));
  for (const signer of namesakes) {
    const leaf = await issueCertificate(profile('CN=leaf.test'), await createKeyPair('ecdsa-p384'), signer);
    const [first, second] = orderChain([...namesakes.map(({ certificate }) => certificate), leaf]);
    expect([first, second]).toEqual([leaf, signer.certificate]);
  }
});
