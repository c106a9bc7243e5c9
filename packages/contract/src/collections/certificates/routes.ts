import { type Static, Type } from 'typebox';
import { createBody, patchBody } from '../../bodies.ts';
import { allRoute, crudRoutes } from '../../crud.ts';
import { IdParams, ListQuery, NewId, One } from '../../envelopes.ts';
import { collection, route } from '../../route.ts';
import { Id, Name, NullableInteger, Timestamp } from '../../scalars.ts';
import { Component, Described, Nullable, OneOf, optional, StrictObject } from '../../schema.ts';
import { secret, writeOnlySecret } from '../../secret.ts';
import { authored } from '../users.ts';
import { CertificateDetails, certificateDefects, type DefectName } from './certificate-details.ts';

/** Chains and thousands of alternative names exceed the default body limit. */
const bodyLimit = 4 * 1_048_576;
const Generate = StrictObject({
  kind: OneOf(['self-signed', 'ca', 'leaf', 'csr'], {
    description:
      'A `ca` signs itself unless an issuer is given. A `leaf` needs an issuer, unless it has a defect. For a `csr` `public` holds the request until it is replaced by the issued certificate',
  }),
  subject: Type.Optional(
    Type.Unsafe<string | Record<string, string>>({
      type: ['string', 'object'],
      maxLength: 20_000,
      maxProperties: 64,
      additionalProperties: { type: 'string' },
      description: 'RFC 4514 (`CN=www.example.test,O=Example,C=NL`), or the same attributes as an object',
    }),
  ),
  san: optional.array(Type.String(), {
    maxItems: 10_000,
    description:
      'Host names, addresses, e-mail addresses, URIs, with or without `DNS:`, `IP:`, `email:`, `URI:`. The common name where left out',
  }),
  keyType: optional.oneOf(['rsa2048', 'rsa3072', 'rsa4096', 'ecdsa-p256', 'ecdsa-p384', 'ed25519'], {
    description: 'ecdsa-p256 unless said',
  }),
  validDays: Type.Optional(Type.Number({ description: '397 unless said, 3650 for a `ca`' })),
  notBefore: optional.described(Timestamp, 'RFC 3339; one hour ago unless said'),
  issuerCertificateID: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The stored authority that signs; 0 and null: none',
      }),
    ),
  ),
  defect: optional.oneOf(Object.keys(certificateDefects) as DefectName[], {
    description: `Wrong on purpose, to test what inspects TLS. Without an issuer a test root is made whose key is thrown away. ${Object.entries(
      certificateDefects,
    )
      .map(([name, sentence]) => `\`${name}\`: ${sentence}`)
      .join(' ')}`,
  }),
  defectSize: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Intermediates of `longChain` (1..50), names of `hugeSan` (1..10000)',
    }),
  ),
});

const members = {
  public: Type.String({
    description:
      'PEM: a certificate with its chain, in any order, and revocation lists; or a certificate request. Lists leave out texts longer than 16 KiB; an empty text keeps what is stored',
  }),
  private: optional.string({
    ...secret,
    description:
      'Private key in PEM. It is stored encrypted and reads back empty; an empty text and `********` keep what is stored',
  }),
  passphrase: optional.string({
    maxLength: 1024,
    ...writeOnlySecret,
    description: 'Opens `private` or `pkcs12`; not stored',
  }),
};

/** A certificate to import (`public` or `pkcs12`) or to make (`generate`). */
const NewCertificate = Type.Object({
  name: Name,
  ...members,
  public: Type.Optional(members.public),
  pkcs12: optional.string({ ...writeOnlySecret, description: 'A .p12 or .pfx file in base64, instead of `public`' }),
  generate: Type.Optional(Generate),
});
export type NewCertificate = Static<typeof NewCertificate>;

const CertificateDraft = Type.Object({ name: Name, ...members });

export const Certificate = Component('Certificate', {
  id: Id,
  name: Type.String(),
  public: Type.String(),
  private: Type.String({ ...secret, description: 'Empty unless asked for with `include=private`: PKCS#8 in PEM' }),
  hasPrivate: Type.Boolean({ description: 'A private key is stored' }),
  details: Type.Optional(CertificateDetails),
  pem: optional.string({ description: 'With `format=pem`: `public`, and `private` where it was asked for' }),
  issuerCertificateID: Described(
    NullableInteger,
    'The stored authority that signed it, which cannot be deleted before it',
  ),
  ...authored,
});
export type Certificate = Static<typeof Certificate>;

const shared = { path: '/certificates', noun: 'certificate', item: Certificate, permissions: 'certificates' } as const;
const crud = crudRoutes({
  ...shared,
  draft: CertificateDraft,
  query: ListQuery(['id', 'name', 'createdAt', 'notAfter'], {
    expiresBefore: optional.described(Timestamp, 'Ends before this moment'),
    hasPrivate: optional.flag('Has a private key, or has none'),
    ca: optional.flag('Is an authority, or is none'),
    keyType: optional.text(64, 'As in `details`, such as rsa2048'),
  }),
});

export const certificates = collection({
  tag: 'certificates',
  title: 'Certificates',
  routes: {
    ...crud,
    all: { ...allRoute(shared), summary: 'All certificates, without details' },
    create: {
      ...crud.create,
      summary: 'Import a certificate, or generate one',
      body: createBody(NewCertificate, Certificate),
      bodyLimit,
      reply: NewId,
    },
    update: { ...crud.update, body: patchBody(CertificateDraft, Certificate), bodyLimit },
    get: route('GET /certificates/:id', {
      summary: 'Get a certificate; its private key with the permission `certificates.private`',
      access: 'certificates.read',
      params: IdParams,
      query: Type.Object({
        include: optional.oneOf(['private'], {
          description: 'Show the private key; needs `certificates.private` and is audited',
        }),
        format: optional.oneOf(['pem'], { description: 'Add `pem`, the text of one file' }),
      }),
      reply: One(Certificate),
      errors: [404],
    }),
  },
});
