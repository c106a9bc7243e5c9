import type { ExtensionFacts } from './extension-facts.ts';
import type { KeyFacts } from './key-pair.ts';

export interface ChainLink {
  readonly subject: string;
  readonly issuer: string;
  readonly notBefore: string | null;
  readonly notAfter: string | null;
  readonly isCa: boolean;
  readonly selfSigned: boolean;
  readonly sha256: string;
}

/** What a stored certificate or request says about itself; hashes and serial numbers are lower-case hex. */
export interface CertificateDetails extends KeyFacts, ExtensionFacts {
  readonly kind: 'certificate' | 'csr';
  /** RFC 4514. */
  readonly subject: string;
  /** Empty for a request, like `serialNumber`. */
  readonly issuer: string;
  readonly serialNumber: string;
  readonly signatureAlgorithm: string;
  /** `null` for a request, or where the date cannot be read. */
  readonly notBefore: string | null;
  readonly notAfter: string | null;
  /** Whole days from the reading on, rounded down: 0 is less than a day, negative is expired. */
  readonly expiresInDays: number | null;
  readonly selfSigned: boolean;
  /** Of the whole certificate or request. */
  readonly fingerprints: { readonly sha1: string; readonly sha256: string };
  /** Of the public key, the same for every certificate of one key. */
  readonly spkiSha256: string;
  readonly chain: readonly ChainLink[];
  /** Every certificate is signed by the next, up to one that signs itself. */
  readonly chainComplete: boolean;
  /** `null` where there is no private key. */
  readonly keyMatch: boolean | null;
  /** A revocation list stored with the certificate names it. */
  readonly revoked: boolean;
}
