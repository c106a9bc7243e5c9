import { createHash, createPublicKey, hash, type KeyObject, type X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate, Extension, Name, type TBSCertificate } from '@peculiar/asn1-x509';
import type * as x509 from '@peculiar/x509';
import { parseSchema } from './asn1.ts';
import {
  type CertificatePem,
  isCertificateBlock,
  isRevocationBlock,
  parseCertificate,
  parseRevocationList,
  serialOf,
} from './bundle.ts';
import { CertificateError } from './certificate-error.ts';
import { type CertificateDetails, type ChainLink, extensionFactsOf } from './certificate-facts.ts';
import { isCompleteChain, isSelfSigned, orderChain } from './chain.ts';
import { type KeyFacts, keyFactsOf } from './key-pair.ts';
import { distinguishedNameOf } from './names/distinguished-name.ts';
import { parsePem } from './pem.ts';
import { findStoredKey, isKeyOf } from './private-key.ts';
import { loadX509 } from './x509-library.ts';

/** Details of a PKCS#10 request in DER. */
function requestDetailsOf(der: Buffer, key: KeyObject | undefined): CertificateDetails {
  try {
    return readRequest(der, key);
  } catch (cause) {
    if (cause instanceof CertificateError) throw cause;
    throw new CertificateError('BAD_PEM', '/public', 'the certificate request cannot be read', { cause });
  }
}

function readRequest(der: Buffer, key: KeyObject | undefined): CertificateDetails {
  const request = new (loadX509().Pkcs10CertificateRequest)(new Uint8Array(der));
  const spki = Buffer.from(request.publicKey.rawData);
  const publicKey = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  const extensions = request.extensions.map((extension) => parseSchema(new Uint8Array(extension.rawData), Extension));
  return {
    kind: 'csr',
    subject: distinguishedNameOf(parseSchema(new Uint8Array(request.subjectName.toArrayBuffer()), Name)),
    issuer: '',
    serialNumber: '',
    signatureAlgorithm: signatureNameOf(request.signatureAlgorithm),
    notBefore: null,
    notAfter: null,
    expiresInDays: null,
    selfSigned: false,
    fingerprints: { sha1: hexDigestOf('sha1', der), sha256: hexDigestOf('sha256', der) },
    spkiSha256: hexDigestOf('sha256', spki),
    ...keyFactsOf(publicKey),
    ...extensionFactsOf(extensions),
    chain: [],
    chainComplete: false,
    keyMatch: key ? createPublicKey(key).equals(publicKey) : null,
    revoked: false,
  };
}

/** The names OpenSSL uses, so that requests and certificates read alike. */
function signatureNameOf({ name, hash }: x509.HashedAlgorithm): string {
  const digest = hash?.name.replace('-', '') ?? '';
  if (name === 'RSASSA-PKCS1-v1_5') return `${digest.toLowerCase()}WithRSAEncryption`;
  if (name === 'ECDSA') return `ecdsa-with-${digest}`;
  return name.toUpperCase();
}

function hexDigestOf(digest: 'sha1' | 'sha256', bytes: Uint8Array): string {
  return createHash(digest).update(bytes).digest('hex');
}

interface CertificateInput {
  readonly certificates: readonly X509Certificate[];
  readonly revocationLists: readonly Buffer[];
  readonly key: KeyObject | undefined;
  readonly now: Date;
}

function certificateDetailsOf({ certificates, revocationLists, key, now }: CertificateInput): CertificateDetails {
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

/** For callers that store details and read them later. */
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
