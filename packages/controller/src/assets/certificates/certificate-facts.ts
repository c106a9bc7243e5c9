import {
  BasicConstraints,
  ExtendedKeyUsage,
  type Extension,
  GeneralName,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  KeyUsage,
} from '@peculiar/asn1-x509';
import { membersOf, parseAsn1, parseSchema, schemaOf } from './asn1.ts';
import { CertificateError } from './certificate-error.ts';
import type { KeyFacts } from './key-pair.ts';
import { alternativeNameText } from './names/alternative-name.ts';

interface ExtensionFacts {
  readonly isCa: boolean;
  /** The first 100 alternative names, such as `DNS:www.example.test`; `sanCount` counts all. */
  readonly san: readonly string[];
  readonly sanCount: number;
  readonly keyUsage: readonly string[];
  /** Names where known, else object identifiers. */
  readonly extendedKeyUsage: readonly string[];
}

const shownNames = 100;
const purposeNames: Readonly<Record<string, string>> = {
  '1.3.6.1.5.5.7.3.1': 'serverAuth',
  '1.3.6.1.5.5.7.3.2': 'clientAuth',
  '1.3.6.1.5.5.7.3.3': 'codeSigning',
  '1.3.6.1.5.5.7.3.4': 'emailProtection',
  '1.3.6.1.5.5.7.3.8': 'timeStamping',
  '1.3.6.1.5.5.7.3.9': 'ocspSigning',
  '2.5.29.37.0': 'any',
};

export function extensionFactsOf(extensions: readonly Extension[]): ExtensionFacts {
  try {
    return readFacts(extensions);
  } catch (cause) {
    throw new CertificateError('BAD_PEM', '/public', 'an extension cannot be read', { cause });
  }
}

function readFacts(extensions: readonly Extension[]): ExtensionFacts {
  const names = findValue(extensions, id_ce_subjectAltName, (der) => membersOf(parseAsn1(der))) ?? [];
  const purposes = [...(findExtension(extensions, id_ce_extKeyUsage, ExtendedKeyUsage) ?? [])];
  return {
    isCa: findExtension(extensions, id_ce_basicConstraints, BasicConstraints)?.cA ?? false,
    san: names.slice(0, shownNames).map((name) => alternativeNameText(schemaOf(name, GeneralName))),
    sanCount: names.length,
    keyUsage: findExtension(extensions, id_ce_keyUsage, KeyUsage)?.toJSON() ?? [],
    extendedKeyUsage: purposes.map((oid) => purposeNames[oid] ?? oid),
  };
}

function findExtension<T>(extensions: readonly Extension[], oid: string, schema: new () => T): T | undefined {
  return findValue(extensions, oid, (der) => parseSchema(der, schema));
}

function findValue<T>(extensions: readonly Extension[], oid: string, read: (der: Uint8Array) => T): T | undefined {
  const extension = extensions.find(({ extnID }) => extnID === oid);
  return extension && read(new Uint8Array(extension.extnValue.buffer));
}

export interface ChainLink {
  readonly subject: string;
  readonly issuer: string;
  readonly notBefore: string | null;
  readonly notAfter: string | null;
  readonly isCa: boolean;
  readonly selfSigned: boolean;
  readonly sha256: string;
}

/** Facts of a stored certificate or request; hashes and serial numbers are lower-case hex. */
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
