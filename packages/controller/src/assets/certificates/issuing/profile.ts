import type { KeyObject } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  type GeneralName,
  GeneralSubtree,
  GeneralSubtrees,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  type Name,
  NameConstraints,
  SubjectAlternativeName,
} from '@peculiar/asn1-x509';
import type * as x509 from '@peculiar/x509';
import type { KeyType, SigningHash, WeakKeyType } from '../key-pair.ts';
import { loadX509 } from '../x509-library.ts';

/** The content of one certificate, before keys and signature. */
export interface CertificateProfile {
  readonly subject: Name;
  readonly names: readonly GeneralName[];
  readonly keyType: KeyType | WeakKeyType;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly isCa: boolean;
  readonly pathLength?: number;
  /** Bits of `usage`, below. */
  readonly keyUsage: number;
  readonly extendedKeyUsage: readonly string[];
  readonly signatureHash?: SigningHash;
  /** Names below which the certificates of this authority must stay. */
  readonly permittedNames?: readonly GeneralName[];
  readonly hasDuplicateExtension?: boolean;
  readonly hasUnknownCriticalExtension?: boolean;
}

/** Bits of the key usage extension, the first named bit lowest (RFC 5280, 4.2.1.3). */
const usage = { digitalSignature: 1, keyEncipherment: 4, keyCertSign: 32, cRLSign: 64 };
export const purposes = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
};
export const authorityUsage = usage.keyCertSign | usage.cRLSign;

export function leafUsageOf(keyType: KeyType | WeakKeyType): number {
  const isRsa = keyType.startsWith('rsa');
  return usage.digitalSignature | (isRsa ? usage.keyEncipherment : 0);
}

/** Extensions of a certificate; `issuerKeyId` is undefined for one that signs itself. */
export async function extensionsOf(
  profile: CertificateProfile,
  publicKey: KeyObject,
  issuerKeyId: string | undefined,
): Promise<x509.Extension[]> {
  const spki = new (loadX509().PublicKey)(publicKey.export({ type: 'spki', format: 'der' }));
  const requested = requestedExtensionsOf(profile);
  const extensions = [...requested, await loadX509().SubjectKeyIdentifierExtension.create(spki)];
  if (issuerKeyId) extensions.push(new (loadX509().AuthorityKeyIdentifierExtension)(issuerKeyId));
  if (profile.permittedNames) extensions.push(nameConstraintsOf(profile.permittedNames));
  if (profile.hasDuplicateExtension) extensions.push(...requested);
  if (profile.hasUnknownCriticalExtension) {
    // 2.25.… is the arc of UUIDs, so no other extension has this identifier.
    const oid = '2.25.187041934093150402143518091874026533937';
    extensions.push(new (loadX509().Extension)(oid, true, AsnConvert.serialize(new OctetString([1]))));
  }
  return extensions;
}

/** Those that a certificate request may ask for too. */
export function requestedExtensionsOf(profile: CertificateProfile): x509.Extension[] {
  const extensions: x509.Extension[] = [
    new (loadX509().BasicConstraintsExtension)(profile.isCa, profile.pathLength, true),
    new (loadX509().KeyUsagesExtension)(profile.keyUsage, true),
  ];
  if (profile.extendedKeyUsage.length > 0) {
    extensions.push(new (loadX509().ExtendedKeyUsageExtension)([...profile.extendedKeyUsage]));
  }
  if (profile.names.length > 0) {
    const isCritical = profile.subject.length === 0;
    const names = AsnConvert.serialize(new SubjectAlternativeName([...profile.names]));
    extensions.push(new (loadX509().Extension)(id_ce_subjectAltName, isCritical, names));
  }
  return extensions;
}

function nameConstraintsOf(permittedNames: readonly GeneralName[]): x509.Extension {
  const permittedSubtrees = new GeneralSubtrees(permittedNames.map((base) => new GeneralSubtree({ base })));
  return new (loadX509().Extension)(
    id_ce_nameConstraints,
    true,
    AsnConvert.serialize(new NameConstraints({ permittedSubtrees })),
  );
}
