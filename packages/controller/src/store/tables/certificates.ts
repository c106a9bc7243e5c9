import type { CertificateDetails } from '@rushhour/contract';
import { flag, integer, json, maybeInteger, text } from '../engine/column.ts';

/** What lists sort, filter and search by. */
export const certificates = {
  id: integer,
  name: text,
  /** Names, serial number and fingerprints, a line each. */
  keywords: text,
  keyType: text,
  isCa: flag,
  /** Empty for a certificate request. */
  notAfter: text,
  hasPrivate: flag,
  issuerCertificateID: maybeInteger,
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
};

/** The rest, apart from it so that lists never read a private key. `private` is sealed, or empty for none. */
export const certificateContents = {
  id: integer,
  public: text,
  private: text,
  details: json<CertificateDetails | null>(null),
};
