import { CertificateList } from '@peculiar/asn1-x509';
import { parseSchema } from './asn1.ts';
import { CertificateError } from './certificate-error.ts';

/** Serial numbers, lower-case hex without leading zeros, that a DER revocation list names. */
export function parseRevocationList(der: Uint8Array): string[] {
  try {
    const { tbsCertList } = parseSchema(der, CertificateList);
    return (tbsCertList.revokedCertificates ?? []).map((entry) => serialOf(Buffer.from(entry.userCertificate)));
  } catch (cause) {
    throw new CertificateError('BAD_PEM', '/public', 'a revocation list cannot be read', { cause });
  }
}

/** The form in which serial numbers are compared and shown. */
export function serialOf(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^0+(?=.)/, '');
}
