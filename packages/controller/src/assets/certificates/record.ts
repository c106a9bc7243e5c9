import type { CertificateDetails } from '@rushhour/contract';
import type { StoredCertificate } from '../../store/assets/certificates.ts';
import type { Change } from '../../store/engine/change.ts';
import { setLinks } from '../../store/engine/links.ts';
import { expiresInDaysOf } from './details.ts';
import type { Material } from './material.ts';

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
