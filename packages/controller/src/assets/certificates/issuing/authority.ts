import type { KeyObject, X509Certificate } from 'node:crypto';
import { Certificate, id_ce_subjectKeyIdentifier, type Name, SubjectKeyIdentifier } from '@peculiar/asn1-x509';
import { parseSchema } from '../asn1.ts';
import { type CertificatePem, parseBundle } from '../bundle.ts';
import { CertificateError } from '../certificate-error.ts';

/** A certificate with its key, ready to sign others. */
export interface Authority {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
  /** Its own issuers, upwards. */
  readonly chain: readonly X509Certificate[];
}

const path = '/generate/issuerCertificateID';

export async function parseAuthority(pem: CertificatePem): Promise<Authority> {
  if (!pem.private) {
    throw new CertificateError('ISSUER_HAS_NO_KEY', path, 'the issuer certificate is stored without its private key');
  }
  const { leaf, chain, privateKey } = await parseBundle(pem);
  if (!leaf.ca)
    throw new CertificateError('ISSUER_NOT_CA', path, 'the issuer certificate is not a certificate authority');
  if (!privateKey) {
    throw new CertificateError('ISSUER_HAS_NO_KEY', path, 'the issuer certificate is stored without its private key');
  }
  return { certificate: leaf, key: privateKey, chain };
}

export function subjectOf(certificate: X509Certificate): Name {
  return parseSchema(certificate.raw, Certificate).tbsCertificate.subject;
}

/** The subject key identifier in hex, as the issuer itself states it. */
export function findKeyId(certificate: X509Certificate): string | undefined {
  const extensions = parseSchema(certificate.raw, Certificate).tbsCertificate.extensions ?? [];
  const extension = extensions.find(({ extnID }) => extnID === id_ce_subjectKeyIdentifier);
  if (!extension) return undefined;
  const identifier = parseSchema(new Uint8Array(extension.extnValue.buffer), SubjectKeyIdentifier);
  return Buffer.from(identifier.buffer).toString('hex');
}
