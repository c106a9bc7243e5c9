import { createHmac, type KeyObject, timingSafeEqual, X509Certificate } from 'node:crypto';
import { type Asn1Node, encodingOf, integerOf, membersOf, octetsOf, oidOf, parseAsn1 } from './asn1.ts';
import { bundleOf, type CertificateBundle } from './bundle.ts';
import { CertificateError } from './certificate-error.ts';
import {
  createDerivationBudget,
  type DerivationBudget,
  type Digest,
  derivePkcs12,
  type Passphrase,
} from './encryption/key-derivation.ts';
import { decryptWithPassphrase, deriveKey, hmacDigestOf, unsupported } from './encryption/password-encryption.ts';
import { isKeyOf, privateKeyOfInfo } from './private-key.ts';

const pbmac1 = '1.2.840.113549.1.5.14';
const digests: Record<string, Digest> = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.4': 'sha224',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};
const digestBytes: Record<Digest, number> = { sha1: 20, sha224: 28, sha256: 32, sha384: 48, sha512: 64 };

/** Returns the form of the passphrase that the MAC proves right, or throws BAD_PASSPHRASE. */
async function openMac(
  macData: Asn1Node,
  content: Uint8Array,
  passphrase: string,
  budget: DerivationBudget,
): Promise<Passphrase> {
  const [digestInfo, salt, iterations] = membersOf(macData);
  const [algorithm, expected] = membersOf(digestInfo);
  const cost = { salt: octetsOf(salt), iterations: iterations ? integerOf(iterations) : 1 };
  for (const candidate of passphrase === '' ? ['', null] : [passphrase]) {
    const mac = await macOf({ algorithm, content, cost, passphrase: candidate, budget });
    const wanted = octetsOf(expected);
    if (mac.length === wanted.length && timingSafeEqual(mac, wanted)) return candidate;
  }
  throw new CertificateError('BAD_PASSPHRASE', '/passphrase', 'the passphrase does not open the PKCS#12 file');
}

interface MacInput {
  readonly algorithm: Asn1Node | undefined;
  readonly content: Uint8Array;
  readonly cost: { readonly salt: Buffer; readonly iterations: number };
  readonly passphrase: Passphrase;
  readonly budget: DerivationBudget;
}

async function macOf({ algorithm, content, cost, passphrase, budget }: MacInput): Promise<Buffer> {
  const [identifier, parameters] = membersOf(algorithm);
  const oid = oidOf(identifier);
  if (oid === pbmac1) {
    const [derivation, scheme] = membersOf(parameters);
    const digest = hmacDigestOf(scheme);
    const key = await deriveKey(derivation, digestBytes[digest], passphrase, budget);
    return createHmac(digest, key).update(content).digest();
  }
  const digest = digests[oid];
  if (!digest) throw unsupported(oid);
  const key = await derivePkcs12(passphrase, 'mac', { ...cost, digest, keyBytes: digestBytes[digest] }, budget);
  return createHmac(digest, key).update(content).digest();
}

const maxBytes = 8 * 1024 * 1024;
const maxParts = 200;
const maxNesting = 3;
const data = '1.2.840.113549.1.7.1';
const encryptedData = '1.2.840.113549.1.7.6';
const bags = {
  key: '1.2.840.113549.1.12.10.1.1',
  shroudedKey: '1.2.840.113549.1.12.10.1.2',
  certificate: '1.2.840.113549.1.12.10.1.3',
  safeContents: '1.2.840.113549.1.12.10.1.6',
};
const x509Certificate = '1.2.840.113549.1.9.22.1';

interface Reading {
  readonly passphrase: Passphrase;
  readonly budget: DerivationBudget;
  readonly certificates: X509Certificate[];
  readonly keys: KeyObject[];
}

/** Reads a .p12 or .pfx file: AES (PBES2), 3DES and RC2, with or without a MAC. */
export async function parsePkcs12(bytes: Uint8Array, passphrase: string): Promise<CertificateBundle> {
  if (bytes.length > maxBytes) throw new CertificateError('BAD_PKCS12', '/pkcs12', 'the file is larger than 8 MiB');
  try {
    const reading = await readFile(bytes, passphrase);
    if (reading.certificates.length === 0) {
      throw new CertificateError('BAD_PKCS12', '/pkcs12', 'the file holds no certificate');
    }
    return await bundleOf(reading.certificates, keyOf(reading));
  } catch (cause) {
    throw pkcs12ErrorOf(cause);
  }
}

function pkcs12ErrorOf(cause: unknown): CertificateError {
  if (!(cause instanceof CertificateError)) {
    return new CertificateError('BAD_PKCS12', '/pkcs12', 'the file is not a readable PKCS#12 file', { cause });
  }
  if (cause.path === '/passphrase') return cause;
  return new CertificateError(cause.code === 'BAD_PEM' ? 'BAD_PKCS12' : cause.code, '/pkcs12', cause.message, {
    cause,
  });
}

async function readFile(bytes: Uint8Array, passphrase: string): Promise<Reading> {
  const [, authSafe, macData] = membersOf(parseAsn1(bytes));
  const [contentType, content] = membersOf(authSafe);
  if (oidOf(contentType) !== data) throw unsupported(oidOf(contentType));
  const safe = octetsOf(membersOf(content)[0]);
  const budget = createDerivationBudget();
  const provenPassphrase = macData ? await openMac(macData, safe, passphrase, budget) : passphrase;
  const reading: Reading = { passphrase: provenPassphrase, budget, certificates: [], keys: [] };
  const parts = membersOf(parseAsn1(safe));
  if (parts.length > maxParts) throw new Error('too many parts');
  for (const part of parts) await readSafeContents(await openPart(part, reading), reading, 1);
  return reading;
}

async function openPart(part: Asn1Node, reading: Reading): Promise<Buffer> {
  const [contentType, content] = membersOf(part);
  const inner = membersOf(content)[0];
  if (oidOf(contentType) === data) return octetsOf(inner);
  if (oidOf(contentType) !== encryptedData) throw unsupported(oidOf(contentType));
  const [, algorithm, encrypted] = membersOf(membersOf(inner)[1]);
  return decryptWithPassphrase(algorithm, octetsOf(encrypted), reading.passphrase, reading.budget);
}

async function readSafeContents(bytes: Uint8Array, reading: Reading, depth: number): Promise<void> {
  if (depth > maxNesting) throw new Error('nested too deeply');
  const contents = membersOf(parseAsn1(bytes));
  if (contents.length > maxParts) throw new Error('too many bags');
  for (const bag of contents) {
    await readBag(bag, reading, depth);
    // Each level stays below its own bound, so that nested ones multiply.
    if (reading.certificates.length + reading.keys.length > maxParts) throw new Error('too many certificates and keys');
  }
}

async function readBag(bag: Asn1Node, reading: Reading, depth: number): Promise<void> {
  const [bagId, wrapped] = membersOf(bag);
  const value = membersOf(wrapped)[0];
  if (!value) throw new Error('empty bag');
  switch (oidOf(bagId)) {
    case bags.key:
      reading.keys.push(privateKeyOfInfo(encodingOf(value)));
      return;
    case bags.shroudedKey: {
      const [algorithm, encrypted] = membersOf(value);
      const { passphrase, budget } = reading;
      reading.keys.push(
        privateKeyOfInfo(await decryptWithPassphrase(algorithm, octetsOf(encrypted), passphrase, budget)),
      );
      return;
    }
    case bags.certificate: {
      const [certId, certificate] = membersOf(value);
      if (oidOf(certId) !== x509Certificate) return;
      reading.certificates.push(new X509Certificate(octetsOf(membersOf(certificate)[0])));
      return;
    }
    case bags.safeContents:
      await readSafeContents(encodingOf(value), reading, depth + 1);
      return;
    default:
      return;
  }
}

/** The first key that fits a certificate; a key that fits none is reported as a mismatch later. */
function keyOf({ keys, certificates }: Reading): KeyObject | undefined {
  return keys.find((key) => certificates.some((certificate) => isKeyOf(certificate, key))) ?? keys[0];
}
