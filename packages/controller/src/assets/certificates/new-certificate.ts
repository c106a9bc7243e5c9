import { type NewCertificate, secretMask } from '@rushhour/contract';
import { type Issue, invalid } from '../../errors.ts';
import type { CertificatePem } from './bundle.ts';
import { movedTo, problemOf, reported } from './issues.ts';
import { generateCertificate } from './issuing/generate.ts';
import { requestIssues } from './issuing/request-issues.ts';
import { isChildOf } from './kinship.ts';
import { importPem, importPkcs12, type Material, materialOf } from './material.ts';
import { parsePrivateKey } from './private-key.ts';

export interface NewMaterial extends Material {
  /** The stored authority that signed it. */
  readonly issuerCertificateID: number | null;
}

/** The stored certificate with its key in clear. */
export type FindIssuer = (id: number) => Promise<CertificatePem | undefined>;

const sources = ['public', 'pkcs12', 'generate'] as const;

/** Reads or makes what the body of a create asks for. */
export const newMaterial = async (body: NewCertificate, findIssuer: FindIssuer): Promise<NewMaterial> => {
  const given = { ...body, private: keyIn(body.private) };
  assertOneSource(given);
  if (body.generate) return generated(body.generate, findIssuer);
  const material = await reported(
    () => imported(given),
    () => (given.private ? problemOf(() => parsePrivateKey(given.private, given.passphrase)) : []),
  );
  return { ...material, issuerCertificateID: null };
};

export const issuerNotFound = (id: number) =>
  invalid(
    [{ path: '/generate/issuerCertificateID', code: 'ISSUER_NOT_FOUND', message: `there is no certificate ${id}` }],
    'ISSUER_NOT_FOUND',
  );

/** The key that a member carries: none where it is empty or only the mask. */
export const keyIn = (text: string | null | undefined): string => (text && text !== secretMask ? text : '');

const imported = async ({ public: pem = '', private: key, pkcs12, passphrase }: NewCertificate): Promise<Material> => {
  if (!pkcs12) return materialOf(await importPem({ public: pem, private: key, passphrase }));
  return importPkcs12(pkcs12, passphrase)
    .then(materialOf)
    .catch(movedTo('/pkcs12', '/public', 'BAD_PKCS12'));
};

const generated = async (
  { issuerCertificateID, ...wish }: NonNullable<NewCertificate['generate']>,
  findIssuer: FindIssuer,
): Promise<NewMaterial> => {
  const request = { ...wish, subject: wish.subject ?? '' };
  const issuer = issuerCertificateID ? await findIssuer(issuerCertificateID) : undefined;
  if (issuerCertificateID && !issuer) throw issuerNotFound(issuerCertificateID);
  const material = await reported(
    async () => materialOf(await generateCertificate(request, issuer)),
    () => requestIssues(request),
  );
  const isChild = issuer !== undefined && isChildOf(material.public, issuer.public);
  return { ...material, issuerCertificateID: (isChild && issuerCertificateID) || null };
};

const assertOneSource = (body: NewCertificate) => {
  const [first, ...others] = sources.filter((source) => body[source]);
  const issues: Issue[] = others.map((source) => ({
    path: `/${source}`,
    code: 'ONE_SOURCE',
    message: 'is one too many: give public, pkcs12 or generate',
  }));
  if (!first) issues.push({ path: '/public', code: 'REQUIRED', message: 'is required, or pkcs12, or generate' });
  if (body.private && first && first !== 'public') {
    issues.push({ path: '/private', code: 'ONE_SOURCE', message: `goes with public, not with ${first}` });
  }
  if (issues.length > 0) throw invalid(issues);
};
