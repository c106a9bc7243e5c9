import type { X509Certificate } from 'node:crypto';
import { isCertificateBlock, parseCertificate } from './bundle.ts';
import { isSignedBy } from './chain.ts';
import { parsePem } from './pem.ts';

/** Whether the authority signed the certificate or stands in the chain that comes with it. Both are PEM as stored. */
export const isChildOf = (child: string, authority: string): boolean => {
  const [leaf, ...chain] = certificatesOf(child);
  const [parent] = certificatesOf(authority);
  if (!leaf || !parent) return false;
  return isSignedBy(leaf, parent) || chain.some(({ fingerprint256 }) => fingerprint256 === parent.fingerprint256);
};

const certificatesOf = (pem: string): X509Certificate[] =>
  parsePem(pem, '/public')
    .filter(isCertificateBlock)
    .map(({ der }) => parseCertificate(der));
