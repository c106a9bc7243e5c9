import { randomBytes } from 'node:crypto';
import type { Name } from '@peculiar/asn1-x509';
import { CertificateError } from '../certificate-error.ts';
import type { KeyType } from '../key-pair.ts';
import { findAlternativeName, parseAlternativeNames } from '../names/alternative-name.ts';
import { commonNameOf, parseDistinguishedName, type SubjectInput } from '../names/distinguished-name.ts';
import { authorityUsage, type CertificateProfile, leafUsageOf, purposes } from './profile.ts';

/** `ca` with an issuer is an intermediate authority; `leaf` needs one unless a defect is wanted. */
type CertificateKind = 'self-signed' | 'ca' | 'leaf' | 'csr';

export interface GenerateRequest {
  readonly kind: CertificateKind;
  readonly subject: SubjectInput;
  /** Empty: the common name, where it is a host name or an address. */
  readonly san?: readonly string[] | undefined;
  /** Default `ecdsa-p256`. */
  readonly keyType?: KeyType | undefined;
  /** Default 397, for an authority 3650. */
  readonly validDays?: number | undefined;
  /** RFC 3339; default one hour ago, so that a device with a slow clock accepts it. */
  readonly notBefore?: string | undefined;
  readonly defect?: string | undefined;
  /** How many intermediates (`longChain`) or names (`hugeSan`). */
  readonly defectSize?: number | undefined;
}

/** The certificates to issue, as plain data that a defect may modify. */
export interface IssuePlan {
  readonly leaf: CertificateProfile;
  /** Between the issuer and the leaf, from the issuer down. */
  readonly intermediates: readonly CertificateProfile[];
  readonly isSelfSigned: boolean;
  /** Whether the chain that is handed out holds the intermediates. */
  readonly sendsIntermediates: boolean;
  readonly breaksSignature: boolean;
  readonly isRevoked: boolean;
  readonly now: Date;
}

export const dayMs = 86_400_000;
const latest = Date.parse('9999-12-31T23:59:59Z');

export function planOf(request: GenerateRequest, now: Date): IssuePlan {
  return {
    leaf: profileOf(request, now),
    intermediates: [],
    isSelfSigned: request.kind === 'self-signed',
    sendsIntermediates: true,
    breaksSignature: false,
    isRevoked: false,
    now,
  };
}

/** An authority made for one chain: valid longer than the leaf, named so that no two are confused. */
export function authorityProfileOf(leaf: CertificateProfile, title: string, now: Date): CertificateProfile {
  return {
    subject: parseDistinguishedName({ CN: `Rushhour ${title} ${randomBytes(4).toString('hex')}`, O: 'Rushhour test' }),
    names: [],
    keyType: leaf.keyType.startsWith('rsa') ? 'rsa2048' : 'ecdsa-p256',
    notBefore: new Date(Math.max(0, Math.min(leaf.notBefore.getTime(), now.getTime()) - dayMs)),
    notAfter: new Date(Math.min(latest, Math.max(leaf.notAfter.getTime(), now.getTime()) + 365 * dayMs)),
    isCa: true,
    keyUsage: authorityUsage,
    extendedKeyUsage: [],
  };
}

function profileOf(request: GenerateRequest, now: Date): CertificateProfile {
  const isCa = request.kind === 'ca';
  const keyType = request.keyType ?? 'ecdsa-p256';
  const subject = parseDistinguishedName(request.subject);
  const names = request.san?.length ? parseAlternativeNames(request.san) : isCa ? [] : namesFrom(subject);
  if (subject.length === 0 && names.length === 0) {
    throw new CertificateError('BAD_SUBJECT', '/generate/subject', 'a subject or an alternative name is needed');
  }
  return {
    subject,
    names,
    keyType,
    ...validityOf(request, isCa ? 3650 : 397, now),
    isCa,
    keyUsage: isCa ? authorityUsage : leafUsageOf(keyType),
    extendedKeyUsage: isCa ? [] : [purposes.serverAuth, purposes.clientAuth],
  };
}

function namesFrom(subject: Name): CertificateProfile['names'] {
  const name = findAlternativeName(commonNameOf(subject) ?? '');
  return name ? [name] : [];
}

function validityOf(request: GenerateRequest, defaultDays: number, now: Date): { notBefore: Date; notAfter: Date } {
  const start = request.notBefore === undefined ? now.getTime() - 3_600_000 : Date.parse(request.notBefore);
  const days = request.validDays ?? defaultDays;
  if (!(start >= 0 && start <= latest)) {
    throw new CertificateError('BAD_VALIDITY', '/generate/notBefore', 'notBefore must be a date from 1970 to 9999');
  }
  if (!(days > 0 && start + days * dayMs <= latest)) {
    throw new CertificateError(
      'BAD_VALIDITY',
      '/generate/validDays',
      'validDays must be above 0 and end before the year 10000',
    );
  }
  return { notBefore: wholeSecond(start), notAfter: wholeSecond(start + days * dayMs) };
}

function wholeSecond(ms: number): Date {
  return new Date(Math.floor(ms / 1000) * 1000);
}
