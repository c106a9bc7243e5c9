import { type CertificatePem, isCertificateBlock, isRevocationBlock, parseCertificate } from './bundle.ts';
import { certificateDetailsOf } from './certificate-details.ts';
import type { CertificateDetails } from './certificate-facts.ts';
import { parsePem } from './pem.ts';
import { findStoredKey } from './private-key.ts';
import { requestDetailsOf } from './request-details.ts';

/** Reads PEM as stored: `private` is unencrypted or empty. */
export function detailsOf(pem: CertificatePem, now: Date = new Date()): CertificateDetails {
  const blocks = parsePem(pem.public, '/public');
  const key = findStoredKey(pem.private);
  const request = blocks.find((block) => block.label.endsWith('CERTIFICATE REQUEST'));
  const certificates = blocks.filter(isCertificateBlock).map((block) => parseCertificate(block.der));
  if (request && certificates.length === 0) return requestDetailsOf(request.der, key);
  const revocationLists = blocks.filter(isRevocationBlock).map((block) => block.der);
  return certificateDetailsOf({ certificates, revocationLists, key, now });
}
