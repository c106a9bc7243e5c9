import { type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate, id_ce_subjectKeyIdentifier, type Name, SubjectKeyIdentifier } from '@peculiar/asn1-x509';
import type * as x509 from '@peculiar/x509';
import { parseSchema } from '../asn1.ts';
import { type CertificatePem, parseBundle } from '../bundle.ts';
import { CertificateError } from '../certificate-error.ts';
import { createKeyPair, type KeyPair, signingKeyOf } from '../key-pair.ts';
import { loadX509 } from '../x509-library.ts';
import { type CertificateProfile, extensionsOf, requestedExtensionsOf } from './profile.ts';

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

function subjectOf(certificate: X509Certificate): Name {
  return parseSchema(certificate.raw, Certificate).tbsCertificate.subject;
}

/** The subject key identifier in hex, as the issuer itself states it. */
function findKeyId(certificate: X509Certificate): string | undefined {
  const extensions = parseSchema(certificate.raw, Certificate).tbsCertificate.extensions ?? [];
  const extension = extensions.find(({ extnID }) => extnID === id_ce_subjectKeyIdentifier);
  if (!extension) return undefined;
  const identifier = parseSchema(new Uint8Array(extension.extnValue.buffer), SubjectKeyIdentifier);
  return Buffer.from(identifier.buffer).toString('hex');
}

/** Signs with the authority, or with the pair itself where there is none. */
export async function issueCertificate(
  profile: CertificateProfile,
  keys: KeyPair,
  authority?: Authority,
): Promise<X509Certificate> {
  const signer = signingKeyOf(authority?.key ?? keys.privateKey, profile.signatureHash);
  const issuerKeyId = authority && findKeyId(authority.certificate);
  const certificate = await loadX509().X509CertificateGenerator.create({
    serialNumber: randomSerial(),
    subject: libraryName(profile.subject),
    issuer: libraryName(authority ? subjectOf(authority.certificate) : profile.subject),
    notBefore: profile.notBefore,
    notAfter: profile.notAfter,
    publicKey: keys.publicKey.export({ type: 'spki', format: 'der' }),
    signingKey: signer.key,
    signingAlgorithm: signer.algorithm,
    extensions: await extensionsOf(profile, keys.publicKey, issuerKeyId),
  });
  return new X509Certificate(Buffer.from(certificate.rawData));
}

export async function issueAuthority(profile: CertificateProfile, parent?: Authority): Promise<Authority> {
  const keys = await createKeyPair(profile.keyType);
  const certificate = await issueCertificate(profile, keys, parent);
  return { certificate, key: keys.privateKey, chain: parent ? [parent.certificate, ...parent.chain] : [] };
}

/** PKCS#10 in DER. */
export async function issueRequest(profile: CertificateProfile, keys: KeyPair): Promise<Buffer> {
  const signer = signingKeyOf(keys.privateKey, profile.signatureHash);
  const request = await loadX509().Pkcs10CertificateRequestGenerator.create({
    name: libraryName(profile.subject),
    keys: { privateKey: signer.key, publicKey: signingKeyOf(keys.publicKey).key },
    signingAlgorithm: signer.algorithm,
    extensions: requestedExtensionsOf(profile),
  });
  return Buffer.from(request.rawData);
}

export interface RevocationInput {
  readonly authority: Authority;
  readonly revoked: X509Certificate;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date;
}

/** A revocation list in DER that names one certificate. */
export async function issueRevocationList({
  authority,
  revoked,
  thisUpdate,
  nextUpdate,
}: RevocationInput): Promise<Buffer> {
  const signer = signingKeyOf(authority.key);
  const list = await loadX509().X509CrlGenerator.create({
    issuer: libraryName(subjectOf(authority.certificate)),
    thisUpdate,
    nextUpdate,
    signingKey: signer.key,
    signingAlgorithm: signer.algorithm,
    entries: [
      {
        serialNumber: revoked.serialNumber,
        revocationDate: thisUpdate,
        reason: loadX509().X509CrlReason.keyCompromise,
      },
    ],
  });
  return Buffer.from(list.rawData);
}

/** 127 random bits, positive and never zero. */
function randomSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

function libraryName(name: Name): x509.Name {
  return new (loadX509().Name)(new Uint8Array(AsnConvert.serialize(name)));
}
