import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { Extension, Name } from '@peculiar/asn1-x509';
import type * as x509 from '@peculiar/x509';
import { parseSchema } from './asn1.ts';
import { CertificateError } from './certificate-error.ts';
import type { CertificateDetails } from './certificate-facts.ts';
import { extensionFactsOf } from './extension-facts.ts';
import { keyFactsOf } from './key-pair.ts';
import { distinguishedNameOf } from './names/distinguished-name.ts';
import { loadX509 } from './x509-library.ts';

/** Details of a PKCS#10 request in DER. */
export function requestDetailsOf(der: Buffer, key: KeyObject | undefined): CertificateDetails {
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
