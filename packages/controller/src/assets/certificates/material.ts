import type { CertificateDetails } from '@rushhour/contract';
import type { StoredCertificate } from '../../store/assets/certificates.ts';
import type { Change } from '../../store/engine/change.ts';
import { setLinks } from '../../store/engine/links.ts';
import {
  type BundleInput,
  type CertificatePem,
  findPrivateKey,
  isCertificateBlock,
  parseBundle,
  pemOfBundle,
} from './bundle.ts';
import { CertificateError } from './certificate-error.ts';
import { detailsOf, expiresInDaysOf } from './details.ts';
import { parsePem, pemOf } from './pem.ts';
import { parsePkcs12 } from './pkcs12.ts';
import { privateKeyPemOf } from './private-key.ts';

export const columnsOf = ({
  details,
  private: key,
  issuerCertificateID,
}: Material & { issuerCertificateID: number | null }) => ({
  keywords: keywordsOf(details),
  keyType: details.keyType,
  isCa: details.isCa,
  notAfter: details.notAfter ?? '',
  hasPrivate: key !== '',
  issuerCertificateID,
});

const keywordsOf = ({ subject, issuer, serialNumber, fingerprints, san }: CertificateDetails) =>
  [subject, issuer, serialNumber, fingerprints.sha1, fingerprints.sha256, ...san].join('\n');

export const link = (
  tx: Change,
  { id, name, issuerCertificateID }: Pick<StoredCertificate, 'id' | 'name' | 'issuerCertificateID'>,
) =>
  setLinks(
    tx,
    { kind: 'certificate', id, name },
    issuerCertificateID === null ? [] : [{ kind: 'certificate', id: issuerCertificateID }],
  );

/** The record as anyone may read it: there is no key in it. */
export const shown = (certificate: StoredCertificate) => ({ ...certificate, private: '' });

export const described = (details: CertificateDetails | null | undefined) =>
  details ? { details: { ...details, expiresInDays: expiresInDaysOf(details.notAfter, new Date()) } } : {};

/** The stored material: checked texts and their details. */
export interface Material extends CertificatePem {
  readonly details: CertificateDetails;
}

const maxDetailsChars = 512 * 1024;

export const materialOf = (pem: CertificatePem): Material => {
  const details = detailsOf(pem);
  if (details.keyMatch === false) {
    throw new CertificateError('KEY_MISMATCH', '/private', 'the private key does not belong to the public one');
  }
  if (JSON.stringify(details).length > maxDetailsChars) {
    throw new CertificateError('BAD_PEM', '/public', 'the names in the certificates are too long');
  }
  return { ...pem, details };
};

/** Reads certificates, or a request for one, and the key that belongs to them. */
export const importPem = async (input: BundleInput): Promise<CertificatePem> => {
  const blocks = parsePem(input.public, '/public');
  const request = blocks.find(({ label }) => label.endsWith('CERTIFICATE REQUEST'));
  if (!request || blocks.some(isCertificateBlock)) return pemOfBundle(await parseBundle(input));
  const key = await findPrivateKey(input, blocks);
  return { public: pemOf('CERTIFICATE REQUEST', request.der), private: key ? privateKeyPemOf(key) : '' };
};

/** Reads a .p12 or .pfx file in base64. */
export const importPkcs12 = async (text: string, passphrase = ''): Promise<CertificatePem> => {
  const base64 = text.replace(/\s/g, '');
  if (base64 === '' || base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
    throw new CertificateError('BAD_PKCS12', '/pkcs12', 'the file is not given in base64');
  }
  return pemOfBundle(await parsePkcs12(Buffer.from(base64, 'base64'), passphrase));
};
