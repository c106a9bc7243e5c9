import { type Static, Type } from 'typebox';
import { createBody, patchBody } from '../bodies.ts';
import { allRoute, crudRoutes } from '../crud.ts';
import { IdParams, ListQuery, NewId, One, OneOf } from '../envelopes.ts';
import { collection, route } from '../route.ts';
import { Id, Name, Timestamp } from '../scalars.ts';
import { secret, writeOnlySecret } from '../secret.ts';
import { certificateDefects, type DefectName } from './certificate-defects.ts';
import { CertificateDetails } from './certificate-details.ts';
import { Issuer } from './users.ts';

/** Chains and thousands of alternative names do not fit the usual bound of a body. */
const bodyLimit = 4 * 1_048_576;
const MaybeId = Type.Unsafe<number | null>({ type: ['integer', 'null'] });
const Generate = Type.Object(
  {
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
    san: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 10_000,
        description:
          'Host names, addresses, e-mail addresses, URIs, with or without `DNS:`, `IP:`, `email:`, `URI:`. The common name where left out',
      }),
    ),
    keyType: Type.Optional(
      OneOf(['rsa2048', 'rsa3072', 'rsa4096', 'ecdsa-p256', 'ecdsa-p384', 'ed25519'], {
        description: 'ecdsa-p256 unless said',
      }),
    ),
    validDays: Type.Optional(Type.Number({ description: '397 unless said, 3650 for a `ca`' })),
    notBefore: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: 'RFC 3339; one hour ago unless said' })),
    issuerCertificateID: Type.Optional(
      Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The stored authority that signs; 0 and null: none',
      }),
    ),
    defect: Type.Optional(
      OneOf(Object.keys(certificateDefects) as DefectName[], {
        description: `Wrong on purpose, to test what inspects TLS. Without an issuer a test root is made whose key is thrown away. ${Object.entries(
          certificateDefects,
        )
          .map(([name, sentence]) => `\`${name}\`: ${sentence}`)
          .join(' ')}`,
      }),
    ),
    defectSize: Type.Optional(
      Type.Integer({ description: 'Intermediates of `longChain` (1..50), names of `hugeSan` (1..10000)' }),
    ),
  },
  { additionalProperties: false },
);

const members = {
  public: Type.String({
    description:
      'PEM: a certificate with its chain, in any order, and revocation lists; or a certificate request. Lists leave out texts longer than 16 KiB; an empty text keeps what is stored',
  }),
  private: Type.Optional(
    Type.String({
      ...secret,
      description:
        'Private key in PEM. It is stored encrypted and reads back empty; an empty text and `********` keep what is stored',
    }),
  ),
  passphrase: Type.Optional(
    Type.String({ maxLength: 1024, ...writeOnlySecret, description: 'Opens `private` or `pkcs12`; not stored' }),
  ),
};

/** A certificate to import (`public` or `pkcs12`) or to make (`generate`). */
const NewCertificate = Type.Object({
  name: Name,
  ...members,
  public: Type.Optional(members.public),
  pkcs12: Type.Optional(
    Type.String({ ...writeOnlySecret, description: 'A .p12 or .pfx file in base64, instead of `public`' }),
  ),
  generate: Type.Optional(Generate),
});
export type NewCertificate = Static<typeof NewCertificate>;

const CertificateDraft = Type.Object({ name: Name, ...members });

export const Certificate = Type.Object(
  {
    id: Id,
    name: Type.String(),
    public: Type.String(),
    private: Type.String({ ...secret, description: 'Empty unless asked for with `include=private`: PKCS#8 in PEM' }),
    hasPrivate: Type.Boolean({ description: 'A private key is stored' }),
    details: Type.Optional(CertificateDetails),
    pem: Type.Optional(
      Type.String({ description: 'With `format=pem`: `public`, and `private` where it was asked for' }),
    ),
    issuerCertificateID: Type.Unsafe<number | null>({
      ...MaybeId,
      description: 'The stored authority that signed it, which cannot be deleted before it',
    }),
    issuerID: MaybeId,
    issuer: Issuer,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Certificate' },
);
export type Certificate = Static<typeof Certificate>;

const shared = { path: '/certificates', noun: 'certificate', item: Certificate, read: 'certificates.read' } as const;
const write = 'certificates.write';
const crud = crudRoutes({
  ...shared,
  draft: CertificateDraft,
  query: ListQuery(['id', 'name', 'createdAt', 'notAfter'], {
    expiresBefore: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: 'Ends before this moment' })),
    hasPrivate: Type.Optional(Type.Boolean({ description: 'Has a private key, or has none' })),
    ca: Type.Optional(Type.Boolean({ description: 'Is an authority, or is none' })),
    keyType: Type.Optional(Type.String({ maxLength: 64, description: 'As in `details`, such as rsa2048' })),
  }),
  write,
});

export const certificates = collection({
  tag: 'certificates',
  title: 'Certificates',
  routes: {
    ...crud,
    all: { ...allRoute(shared), summary: 'All certificates, without details' },
    create: route({
      ...crud.create,
      summary: 'Import a certificate, or generate one',
      body: createBody(NewCertificate, Certificate),
      bodyLimit,
      reply: NewId,
    }),
    update: route({ ...crud.update, body: patchBody(CertificateDraft, Certificate), bodyLimit }),
    get: route({
      method: 'GET',
      path: '/certificates/:id',
      summary: 'Get a certificate; its private key with the permission `certificates.private`',
      access: 'certificates.read',
      params: IdParams,
      query: Type.Object({
        include: Type.Optional(
          OneOf(['private'], { description: 'Show the private key; needs `certificates.private` and is audited' }),
        ),
        format: Type.Optional(OneOf(['pem'], { description: 'Add `pem`, the text of one file' })),
      }),
      reply: One(Certificate),
      errors: [404],
    }),
  },
});
