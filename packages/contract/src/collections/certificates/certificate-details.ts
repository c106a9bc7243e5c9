import { type Static, Type } from 'typebox';
import { NullableTimestamp } from '../../scalars.ts';
import { Component, Nullable, OneOf } from '../../schema.ts';

/** Defects of generated certificates, to test whether a TLS-inspecting device notices them. */
export const certificateDefects = {
  expired: 'The validity ended yesterday.',
  notYetValid: 'The validity begins in 30 days.',
  wrongHost: 'The certificate is in order but names another host, wrong-host.invalid.',
  nulInName: 'Each host name is followed by a NUL byte and another domain, which careless clients cut off.',
  noSan: 'There are no alternative names; the host is named by the common name only.',
  hugeSan: 'The certificate has thousands of alternative names.',
  selfSigned: 'The certificate is signed by its own key and by no authority.',
  weakKey: 'The key is RSA of 1024 bits.',
  sha1Signature: 'The signature uses SHA-1.',
  badSignature: 'One bit of the signature is wrong.',
  revoked: 'A revocation list of the issuer, handed out with the chain, names the certificate.',
  longChain: 'Many intermediate authorities stand between the issuer and the certificate.',
  missingIntermediate: 'The intermediate authority that signed the certificate is not in the chain.',
  nonCaIssuer: 'The certificate is signed by one that is not an authority.',
  pathTooLong: 'An authority that allows no authority below it has one below it.',
  nameNotPermitted: 'An intermediate authority permits names below permitted.invalid only, and the host is not there.',
  caAsLeaf: 'The certificate of the host is itself an authority, and its key may only sign certificates.',
  wrongKeyUsage: 'The certificate is meant for signing code, not for servers.',
  duplicateExtension: 'Extensions occur twice, which the standard forbids.',
  unknownCriticalExtension:
    'An extension that nobody knows is marked critical, so every client must refuse the certificate.',
} as const;
export type DefectName = keyof typeof certificateDefects;

const Texts = (description: string) => Type.Unsafe<readonly string[]>(Type.Array(Type.String(), { description }));

const ChainLink = Component('CertificateChainLink', {
  subject: Type.String(),
  issuer: Type.String(),
  notBefore: NullableTimestamp,
  notAfter: NullableTimestamp,
  isCa: Type.Boolean(),
  selfSigned: Type.Boolean(),
  sha256: Type.String(),
});

export const CertificateDetails = Component('CertificateDetails', {
  kind: OneOf(['certificate', 'csr'], { description: 'What `public` holds: a certificate or a request for one' }),
  subject: Type.String({ description: 'RFC 4514' }),
  issuer: Type.String({ description: 'RFC 4514; empty for a request' }),
  serialNumber: Type.String({ description: 'Lower-case hex; empty for a request' }),
  signatureAlgorithm: Type.String(),
  notBefore: NullableTimestamp,
  notAfter: NullableTimestamp,
  expiresInDays: Nullable(
    Type.Integer({
      description:
        'Whole days from now on, rounded down: 0 is less than a day, negative is expired; null for a request',
    }),
  ),
  selfSigned: Type.Boolean(),
  fingerprints: Type.Object({ sha1: Type.String(), sha256: Type.String() }),
  spkiSha256: Type.String({ description: 'Hash of the public key, the same for every certificate of one key' }),
  keyType: Type.String({ description: 'Such as rsa2048, ecdsa-p256, ed25519' }),
  keySize: Type.Integer({ description: 'Bits' }),
  isCa: Type.Boolean(),
  san: Texts('The first 100 alternative names, such as DNS:www.example.test'),
  sanCount: Type.Integer({ description: 'All alternative names' }),
  keyUsage: Texts('What the key may be used for'),
  extendedKeyUsage: Texts('Names where known, else object identifiers'),
  chain: Type.Unsafe<readonly Static<typeof ChainLink>[]>(
    Type.Array(ChainLink, { description: 'The certificates after the first, issuers upwards' }),
  ),
  chainComplete: Type.Boolean({
    description: 'Every certificate is signed by the next, up to one that signs itself',
  }),
  keyMatch: Type.Unsafe<boolean | null>({
    type: ['boolean', 'null'],
    description: 'The private key belongs to the public one; null where there is none',
  }),
  revoked: Type.Boolean({ description: 'A revocation list stored with the certificate names it' }),
});
export type CertificateDetails = Static<typeof CertificateDetails>;
