import { hash, type KeyObject, type X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate, type TBSCertificate } from '@peculiar/asn1-x509';
import { parseSchema } from './asn1.ts';
import { CertificateError } from './certificate-error.ts';
import type { CertificateDetails, ChainLink } from './certificate-facts.ts';
import { isCompleteChain, isSelfSigned, orderChain } from './chain.ts';
import { extensionFactsOf } from './extension-facts.ts';
import { type KeyFacts, keyFactsOf } from './key-pair.ts';
import { distinguishedNameOf } from './names/distinguished-name.ts';
import { isKeyOf } from './private-key.ts';
import { parseRevocationList, serialOf } from './revocation-list.ts';

interface CertificateInput {
  readonly certificates: readonly X509Certificate[];
  readonly revocationLists: readonly Buffer[];
  readonly key: KeyObject | undefined;
  readonly now: Date;
}

export function certificateDetailsOf({
  certificates,
  revocationLists,
  key,
  now,
}: CertificateInput): CertificateDetails {
  const [leaf, ...chain] = orderChain(certificates, key);
  if (!leaf) throw new CertificateError('BAD_PEM', '/public', 'there is no certificate');
  const serialNumber = serialOf(Buffer.from(leaf.serialNumber, 'hex'));
  return {
    kind: 'certificate',
    ...factsOf(leaf),
    serialNumber,
    expiresInDays: expiresInDaysOf(isoOf(leaf.validToDate), now),
    chain: chain.map(chainLinkOf),
    chainComplete: isCompleteChain([leaf, ...chain]),
    keyMatch: key ? isKeyOf(leaf, key) : null,
    revoked: revocationLists.flatMap(parseRevocationList).includes(serialNumber),
  };
}

/** For those who keep details and read them again later. */
export function expiresInDaysOf(notAfter: string | null, now: Date): number | null {
  return notAfter === null ? null : Math.floor((Date.parse(notAfter) - now.getTime()) / 86_400_000);
}

function factsOf(leaf: X509Certificate) {
  const decoded = decode(leaf);
  const spki = Buffer.from(AsnConvert.serialize(decoded.subjectPublicKeyInfo));
  return {
    subject: distinguishedNameOf(decoded.subject),
    issuer: distinguishedNameOf(decoded.issuer),
    ...findKeyFacts(leaf),
    ...extensionFactsOf(decoded.extensions ?? []),
    signatureAlgorithm: leaf.signatureAlgorithm ?? leaf.signatureAlgorithmOid,
    notBefore: isoOf(leaf.validFromDate),
    notAfter: isoOf(leaf.validToDate),
    selfSigned: isSelfSigned(leaf),
    fingerprints: { sha1: hexOf(leaf.fingerprint), sha256: hexOf(leaf.fingerprint256) },
    spkiSha256: hash('sha256', spki, 'hex'),
  };
}

function chainLinkOf(certificate: X509Certificate): ChainLink {
  const { subject, issuer } = decode(certificate);
  return {
    subject: distinguishedNameOf(subject),
    issuer: distinguishedNameOf(issuer),
    notBefore: isoOf(certificate.validFromDate),
    notAfter: isoOf(certificate.validToDate),
    isCa: certificate.ca,
    selfSigned: isSelfSigned(certificate),
    sha256: hexOf(certificate.fingerprint256),
  };
}

function decode(certificate: X509Certificate): TBSCertificate {
  try {
    return parseSchema(certificate.raw, Certificate).tbsCertificate;
  } catch (cause) {
    throw new CertificateError('BAD_PEM', '/public', 'a certificate is not well formed', { cause });
  }
}

/** Node cannot load the key of an algorithm that OpenSSL does not know. */
function findKeyFacts(certificate: X509Certificate): KeyFacts {
  try {
    return keyFactsOf(certificate.publicKey);
  } catch {
    return { keyType: 'unknown', keySize: 0 };
  }
}

function isoOf(date: Date): string | null {
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function hexOf(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}
