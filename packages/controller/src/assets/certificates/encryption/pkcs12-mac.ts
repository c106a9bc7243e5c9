import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Asn1Node, integerOf, membersOf, octetsOf, oidOf } from '../asn1.ts';
import { CertificateError } from '../certificate-error.ts';
import { type DerivationBudget, type Digest, derivePkcs12, type Passphrase } from './key-derivation.ts';
import { deriveKey, hmacDigestOf, unsupported } from './password-encryption.ts';

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
export async function openMac(
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
