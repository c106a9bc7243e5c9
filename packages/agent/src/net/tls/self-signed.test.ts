import { X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { createSelfSigned } from './self-signed.ts';

it('makes a certificate that verifies for its names and fits its key', () => {
  const made = createSelfSigned(['localhost', '127.0.0.1', '::1']);
  const certificate = new X509Certificate(made.certificate);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.checkHost('localhost')).toBe('localhost');
  expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(certificate.checkIP('::1')).toBeDefined();
  expect(certificate.ca).toBe(true);
  expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.now() + 300 * 86_400_000);
});
