import { createPrivateKey, type KeyObject, sign, verify, type X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { membersOf, octetsOf, parseAsn1 } from './asn1.ts';
import { CertificateError } from './certificate-error.ts';
import { createDerivationBudget, type DerivationBudget, type Passphrase } from './encryption/key-derivation.ts';
import { decryptWithPassphrase } from './encryption/password-encryption.ts';
import { type PemBlock, parsePem, pemOf } from './pem.ts';

const path = '/private';

/** The first private key of a PEM text, opened with the passphrase where it is encrypted. */
export async function parsePrivateKey(text: string, passphrase?: string): Promise<KeyObject> {
  const block = parsePem(text, path).find(isPrivateKeyBlock);
  if (!block) throw new CertificateError('BAD_PEM', path, 'the PEM text holds no private key');
  return openPrivateKeyBlock(block, passphrase);
}

export function isPrivateKeyBlock(block: PemBlock): boolean {
  return block.label.endsWith('PRIVATE KEY');
}

export async function openPrivateKeyBlock(block: PemBlock, passphrase?: string): Promise<KeyObject> {
  if (block.label === 'ENCRYPTED PRIVATE KEY') {
    return decryptPrivateKeyInfo(block.der, requirePassphrase(passphrase), createDerivationBudget());
  }
  const pem = pemOf(block.label, block.der, block.headers);
  if (block.headers.some((header) => /^Proc-Type:.*ENCRYPTED/.test(header))) {
    return openTraditional(pem, requirePassphrase(passphrase));
  }
  return readKey(() => createPrivateKey({ key: pem, passphrase: '' }));
}

/** PKCS#8 EncryptedPrivateKeyInfo. Node would derive the key on the event loop, for as long as the file says. */
async function decryptPrivateKeyInfo(
  der: Uint8Array,
  passphrase: Passphrase,
  budget: DerivationBudget,
): Promise<KeyObject> {
  const [algorithm, data] = readKey(() => membersOf(parseAsn1(der)));
  const plain = await decryptKeyData(() => decryptWithPassphrase(algorithm, octetsOf(data), passphrase, budget));
  try {
    return privateKeyOfInfo(plain);
  } catch (cause) {
    throw new CertificateError('BAD_PASSPHRASE', '/passphrase', 'the passphrase does not open the key', { cause });
  }
}

/** PKCS#8 PrivateKeyInfo in DER. */
export function privateKeyOfInfo(der: Uint8Array): KeyObject {
  return readKey(() => createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' }));
}

/** A key as records keep it: unencrypted PEM, or an empty text for none. */
export function findStoredKey(pem: string): KeyObject | undefined {
  return pem === '' ? undefined : readKey(() => createPrivateKey({ key: pem, passphrase: '' }));
}

export function privateKeyPemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Compares the public halves only, cheap enough for lists. */
export function isKeyOf(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    return certificate.checkPrivateKey(key);
  } catch {
    return false;
  }
}

const signAsync = promisify<string | null, Uint8Array, KeyObject, Buffer>(sign);
const verifyAsync = promisify<string | null, Uint8Array, KeyObject, Uint8Array, boolean>(verify);

/** Throws KEY_MISMATCH unless a signature made with the key is good under the certificate. */
export async function requireKeyOf(certificate: X509Certificate, key: KeyObject): Promise<void> {
  const isMatch = isKeyOf(certificate, key) && (await canSignFor(certificate, key));
  if (!isMatch) {
    throw new CertificateError('KEY_MISMATCH', path, 'the private key does not belong to the certificate');
  }
}

async function canSignFor(certificate: X509Certificate, key: KeyObject): Promise<boolean> {
  if (isAgreementKey(key)) return true;
  const digest = probeDigestOf(key);
  const probe = Buffer.from('key match');
  try {
    return await verifyAsync(digest, probe, certificate.publicKey, await signAsync(digest, probe, key));
  } catch {
    return false;
  }
}

function isAgreementKey(key: KeyObject): boolean {
  return ['x25519', 'x448', 'dh'].includes(key.asymmetricKeyType ?? '');
}

function probeDigestOf(key: KeyObject): string | null {
  if (key.asymmetricKeyType === 'rsa-pss') return key.asymmetricKeyDetails?.hashAlgorithm ?? 'sha256';
  return ['rsa', 'ec', 'dsa'].includes(key.asymmetricKeyType ?? '') ? 'sha256' : null;
}

function openTraditional(pem: string, passphrase: string): KeyObject {
  try {
    return createPrivateKey({ key: pem, passphrase });
  } catch (cause) {
    const isUnsupported = (cause as NodeJS.ErrnoException).code === 'ERR_OSSL_UNSUPPORTED';
    throw isUnsupported
      ? new CertificateError('UNSUPPORTED_ENCRYPTION', path, 'the cipher of the private key is not supported', {
          cause,
        })
      : new CertificateError('BAD_PASSPHRASE', '/passphrase', 'the passphrase does not open the key', { cause });
  }
}

function requirePassphrase(passphrase: string | undefined): string {
  if (passphrase !== undefined && passphrase !== '') return passphrase;
  throw new CertificateError('BAD_PASSPHRASE', '/passphrase', 'the private key is encrypted: its passphrase is needed');
}

function readKey<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new CertificateError('BAD_PEM', path, 'the private key cannot be read', { cause });
  }
}

async function decryptKeyData(decrypt: () => Promise<Buffer>): Promise<Buffer> {
  try {
    return await decrypt();
  } catch (cause) {
    if (cause instanceof CertificateError) throw cause;
    throw new CertificateError('BAD_PEM', path, 'the encryption of the private key cannot be read', { cause });
  }
}
