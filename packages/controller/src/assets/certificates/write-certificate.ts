import { type NewCertificate, secretMask } from '@rushhour/contract';
import { type Issue, invalid } from '../../errors.ts';
import { type CertificatePem, isChildOf } from './bundle.ts';
import { CertificateError } from './certificate-error.ts';
import { applyDefect } from './issuing/defects.ts';
import { generateCertificate } from './issuing/generate.ts';
import { type GenerateRequest, planOf } from './issuing/issue-plan.ts';
import { importPem, importPkcs12, type Material, materialOf } from './material.ts';
import { parseAlternativeNames } from './names/alternative-name.ts';
import { parseDistinguishedName } from './names/distinguished-name.ts';
import { parsePem } from './pem.ts';
import { isPrivateKeyBlock, parsePrivateKey } from './private-key.ts';

/** Turns certificate errors into a bad request; `others` finds further problems. */
export const reported = async <T>(
  work: () => Promise<T>,
  others: () => readonly Issue[] | Promise<readonly Issue[]> = () => [],
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    const first = issueOf(error);
    const rest = (await others()).filter(({ path, code }) => path !== first.path || code !== first.code);
    throw invalid([first, ...rest].slice(0, 100), error.code);
  }
};

/** The problem that the work fails with, if any. */
const problemOf = async (work: () => unknown): Promise<Issue[]> => {
  try {
    await work();
    return [];
  } catch (error) {
    if (error instanceof CertificateError) return [issueOf(error)];
    throw error;
  }
};

const issueOf = ({ path, code, message }: CertificateError): Issue => ({ path, code, message });

/** The same error, reported for another member of the request. */
const movedTo = (path: string, from: string, code?: CertificateError['code']) => (error: unknown) => {
  if (!(error instanceof CertificateError) || error.path !== from) throw error;
  throw new CertificateError(code ?? error.code, path, error.message, { cause: error });
};

/** All problems of a generate request; generating itself stops at the first. */
const requestIssues = async (request: GenerateRequest): Promise<Issue[]> => {
  const { kind, subject, san = [], validDays, notBefore, defect, defectSize } = request;
  const now = new Date();
  const valid = { kind, subject: 'CN=host.invalid' } as const;
  const names = san.map(async (name, i) => {
    const problems = await problemOf(() => parseAlternativeNames([name]));
    return problems.map((issue) => ({ ...issue, path: `/generate/san/${i}` }));
  });
  const found = await Promise.all([
    problemOf(() => parseDistinguishedName(subject)),
    ...names,
    problemOf(() => planOf({ ...valid, notBefore }, now)),
    problemOf(() => planOf({ ...valid, validDays }, now)),
    problemOf(() => defect !== undefined && applyDefect(planOf(valid, now), defect, defectSize)),
  ]);
  return found.flat();
};

export interface ContentPatch {
  readonly public?: string | null | undefined;
  /** `null` removes the key. */
  readonly private?: string | null | undefined;
  readonly passphrase?: string | null | undefined;
}

/** Whether an update changes texts or key; a record sent back unchanged does not. */
export const changesContent = (patch: ContentPatch, storedPublic: string): boolean =>
  patch.private === null || keyIn(patch.private) !== '' || isNewPublic(patch, storedPublic);

/** The material after an update: new and stored members combined and checked against each other. */
export const changedMaterial = (patch: ContentPatch, stored: CertificatePem): Promise<Material> => {
  const given = keyIn(patch.private);
  const passphrase = patch.passphrase ?? undefined;
  return reported(
    async () => {
      const text = isNewPublic(patch, stored.public) ? (patch.public ?? '') : stored.public;
      if (patch.private === null)
        return materialOf({ ...(await importPem({ public: text, passphrase })), private: '' });
      if (given || holdsKey(text)) return materialOf(await importPem({ public: text, private: given, passphrase }));
      const pem = importPem({ public: text, private: stored.private });
      return pem.then(materialOf).catch(movedTo('/public', '/private'));
    },
    () => (given ? problemOf(() => parsePrivateKey(given, passphrase)) : []),
  );
};

const isNewPublic = (patch: ContentPatch, storedPublic: string): boolean =>
  Boolean(patch.public) && patch.public !== storedPublic;

const holdsKey = (text: string): boolean => parsePem(text, '/public').some(isPrivateKeyBlock);

export interface NewMaterial extends Material {
  /** The stored authority that signed it. */
  readonly issuerCertificateID: number | null;
}

/** The stored certificate with its key in clear. */
export type FindIssuer = (id: number) => Promise<CertificatePem | undefined>;

const sources = ['public', 'pkcs12', 'generate'] as const;

/** Imports or generates the material of a create request. */
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
  { issuerCertificateID, ...given }: NonNullable<NewCertificate['generate']>,
  findIssuer: FindIssuer,
): Promise<NewMaterial> => {
  const request = { ...given, subject: given.subject ?? '' };
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
