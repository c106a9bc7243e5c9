import { type KeyObject, X509Certificate } from 'node:crypto';
import { CertificateList } from '@peculiar/asn1-x509';
import { parseSchema } from './asn1.ts';
import { CertificateError } from './certificate-error.ts';
import { isSignedBy, orderChain } from './chain.ts';
import { type PemBlock, parsePem, pemOf } from './pem.ts';
import {
  isPrivateKeyBlock,
  openPrivateKeyBlock,
  parsePrivateKey,
  privateKeyPemOf,
  requireKeyOf,
} from './private-key.ts';

/** Serial numbers, lower-case hex without leading zeros, that a DER revocation list names. */
export function parseRevocationList(der: Uint8Array): string[] {
  try {
    const { tbsCertList } = parseSchema(der, CertificateList);
    return (tbsCertList.revokedCertificates ?? []).map((entry) => serialOf(Buffer.from(entry.userCertificate)));
  } catch (cause) {
    throw new CertificateError('BAD_PEM', '/public', 'a revocation list cannot be read', { cause });
  }
}

/** The form in which serial numbers are compared and shown. */
export function serialOf(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^0+(?=.)/, '');
}

/** Whether the authority signed the certificate or stands in the chain that comes with it. Both are PEM as stored. */
export const isChildOf = (child: string, authority: string): boolean => {
  const [leaf, ...chain] = certificatesOf(child);
  const [parent] = certificatesOf(authority);
  if (!leaf || !parent) return false;
  return isSignedBy(leaf, parent) || chain.some(({ fingerprint256 }) => fingerprint256 === parent.fingerprint256);
};

const certificatesOf = (pem: string): X509Certificate[] =>
  parsePem(pem, '/public')
    .filter(isCertificateBlock)
    .map(({ der }) => parseCertificate(der));

/** A certificate with what belongs to it, checked: the key is the leaf's own. */
export interface CertificateBundle {
  readonly leaf: X509Certificate;
  /** Issuers from the leaf upwards. */
  readonly chain: readonly X509Certificate[];
  /** Revocation lists in DER. */
  readonly revocationLists: readonly Buffer[];
  readonly privateKey: KeyObject | undefined;
}

/** PEM texts as a record keeps them; `private` is unencrypted PKCS#8 or empty. */
export interface CertificatePem {
  readonly public: string;
  readonly private: string;
}

export interface BundleInput {
  readonly public: string;
  readonly private?: string | undefined;
  readonly passphrase?: string | undefined;
}

/** Reads pasted PEM: chains in any order, comments, and a key in either text. */
export async function parseBundle(input: BundleInput): Promise<CertificateBundle> {
  const blocks = parsePem(input.public, '/public');
  const certificates = blocks.filter(isCertificateBlock).map((block) => parseCertificate(block.der));
  if (certificates.length === 0) throw noCertificate(blocks);
  const revocationLists = blocks.filter(isRevocationBlock).map((block) => block.der);
  for (const list of revocationLists) parseRevocationList(list);
  return bundleOf(certificates, await findPrivateKey(input, blocks), revocationLists);
}

/** Orders the certificates and checks the key against the leaf. */
export async function bundleOf(
  certificates: readonly X509Certificate[],
  privateKey: KeyObject | undefined,
  revocationLists: readonly Buffer[] = [],
): Promise<CertificateBundle> {
  const [leaf, ...chain] = orderChain(certificates, privateKey);
  if (!leaf) throw new CertificateError('BAD_PEM', '/public', 'there is no certificate');
  if (privateKey) await requireKeyOf(leaf, privateKey);
  return { leaf, chain, revocationLists, privateKey };
}

export function pemOfBundle(bundle: CertificateBundle): CertificatePem {
  const certificates = [bundle.leaf, ...bundle.chain].map((certificate) => pemOf('CERTIFICATE', certificate.raw));
  const lists = bundle.revocationLists.map((der) => pemOf('X509 CRL', der));
  return {
    public: [...certificates, ...lists].join(''),
    private: bundle.privateKey ? privateKeyPemOf(bundle.privateKey) : '',
  };
}

export function parseCertificate(der: Uint8Array): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch (cause) {
    throw new CertificateError('BAD_PEM', '/public', 'a certificate cannot be read', { cause });
  }
}

/** The key that is given, else one that stands among the blocks. */
export async function findPrivateKey(input: BundleInput, blocks: readonly PemBlock[]): Promise<KeyObject | undefined> {
  if (input.private) return parsePrivateKey(input.private, input.passphrase);
  const inside = blocks.find(isPrivateKeyBlock);
  return inside && openPrivateKeyBlock(inside, input.passphrase);
}

export function isCertificateBlock(block: PemBlock): boolean {
  return block.label === 'CERTIFICATE' || block.label === 'X509 CERTIFICATE';
}

export function isRevocationBlock(block: PemBlock): boolean {
  return block.label === 'X509 CRL';
}

function noCertificate(blocks: readonly PemBlock[]): CertificateError {
  const found = blocks.map((block) => block.label).join(', ');
  const message = found ? `expected a CERTIFICATE block but found ${found}` : 'the text holds no PEM block';
  return new CertificateError('BAD_PEM', '/public', message);
}
