import {
  constants,
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
  X509Certificate,
} from 'node:crypto';
import { authMethod, type Credential, hashId, type PeerCheck } from '@rushhour/wire';

const pemBlocks = (pem: string): string[] =>
  pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];

const certificatesIn = (pem: string): X509Certificate[] => pemBlocks(pem).map((block) => new X509Certificate(block));

/** Length of a DER element with its header, and of the header alone. */
const elementAt = (der: Uint8Array, at: number): { head: number; end: number } => {
  const first = der[at + 1] ?? 0;
  if (first < 0x80) return { head: 2, end: at + 2 + first };
  let length = 0;
  const count = first & 0x7f;
  for (let i = 0; i < count; i++) length = length * 256 + (der[at + 2 + i] ?? 0);
  return { head: 2 + count, end: at + 2 + count + length };
};

const contextTag = 0xa0;

/** The subject of a certificate as it stands there: the fifth field after the version. */
const subjectOf = (der: Uint8Array): Uint8Array => {
  let at = elementAt(der, 0).head;
  at += elementAt(der, at).head;
  if (der[at] === contextTag) at = elementAt(der, at).end;
  for (let i = 0; i < 4; i++) at = elementAt(der, at).end;
  return der.slice(at, elementAt(der, at).end);
};

const keyHash = (certificate: X509Certificate): Uint8Array =>
  createHash('sha1')
    .update(certificate.publicKey.export({ type: 'spki', format: 'der' }))
    .digest();

/** Signature algorithms of RFC 7427 in DER, by hash. */
const rsaAlgorithms: Readonly<Record<string, string>> = {
  sha256: '300d06092a864886f70d01010b0500',
  sha384: '300d06092a864886f70d01010c0500',
  sha512: '300d06092a864886f70d01010d0500',
};
const ecdsaAlgorithms: Readonly<Record<string, string>> = {
  sha256: '300a06082a8648ce3d040302',
  sha384: '300a06082a8648ce3d040303',
  sha512: '300a06082a8648ce3d040304',
};
const pssPrefix = '06092a864886f70d01010a';

const hashNames: readonly { id: number; name: string }[] = [
  { id: hashId.sha256, name: 'sha256' },
  { id: hashId.sha384, name: 'sha384' },
  { id: hashId.sha512, name: 'sha512' },
];

/** Hash and method of ECDSA without RFC 7427, by curve. */
const curveMethods: Readonly<Record<string, { hash: string; method: number }>> = {
  prime256v1: { hash: 'sha256', method: authMethod.ecdsa256 },
  secp384r1: { hash: 'sha384', method: authMethod.ecdsa384 },
  secp521r1: { hash: 'sha512', method: authMethod.ecdsa521 },
};

const isRsa = (key: KeyObject): boolean => key.asymmetricKeyType === 'rsa';

const signWith = (key: KeyObject, octets: Uint8Array, hashes: readonly number[] | undefined) => {
  const curve = curveMethods[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (hashes !== undefined) {
    const preferred = hashNames.find(
      ({ id, name }) => hashes.includes(id) && (curve === undefined || curve.hash === name),
    );
    const hash = (preferred ?? hashNames.find(({ id }) => hashes.includes(id)))?.name;
    if (hash !== undefined) {
      const algorithm = Buffer.from((isRsa(key) ? rsaAlgorithms : ecdsaAlgorithms)[hash] as string, 'hex');
      const signature = sign(hash, octets, key);
      const data = Buffer.concat([Buffer.of(algorithm.length), algorithm, signature]);
      return { method: authMethod.digitalSignature, data };
    }
  }
  if (isRsa(key)) return { method: authMethod.rsa, data: sign('sha1', octets, key) };
  if (curve === undefined) throw new RangeError('the key is neither RSA nor of a NIST curve');
  return { method: curve.method, data: sign(curve.hash, octets, { key, dsaEncoding: 'ieee-p1363' }) };
};

const algorithmNamed = (hex: string, key: KeyObject): string | undefined =>
  Object.entries(isRsa(key) ? rsaAlgorithms : ecdsaAlgorithms).find(([, known]) => known === hex)?.[0];

const isSignatureValid = (
  key: KeyObject,
  octets: Uint8Array,
  { method, data }: { method: number; data: Uint8Array },
) => {
  if (method === authMethod.digitalSignature) {
    const length = data[0] ?? 0;
    const hex = Buffer.from(data.subarray(1, 1 + length)).toString('hex');
    const signature = data.subarray(1 + length);
    if (isRsa(key) && hex.includes(pssPrefix)) return isPssValid(key, octets, { hex, signature });
    const hash = algorithmNamed(hex, key);
    return hash !== undefined && verify(hash, octets, key, signature);
  }
  if (method === authMethod.rsa && isRsa(key)) {
    return ['sha1', 'sha256', 'sha384', 'sha512'].some((hash) => verify(hash, octets, key, data));
  }
  const curve = Object.values(curveMethods).find((one) => one.method === method);
  return curve !== undefined && !isRsa(key) && verify(curve.hash, octets, { key, dsaEncoding: 'ieee-p1363' }, data);
};

/** Object identifiers of SHA-256, SHA-384 and SHA-512 differ in their last byte. */
const pssHashes: Readonly<Record<string, string>> = { '01': 'sha256', '02': 'sha384', '03': 'sha512' };

const isPssValid = (
  key: KeyObject,
  octets: Uint8Array,
  { hex, signature }: { hex: string; signature: Uint8Array },
): boolean => {
  const hash = pssHashes[/608648016503040(2)(\d\d)/.exec(hex)?.[2] ?? ''];
  const options = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  return hash !== undefined && verify(hash, octets, options, signature);
};

const maxChain = 10;

/** Why a certificate does not lead to an authority; undefined: it does. */
const chainProblem = (certificates: readonly X509Certificate[], authorities: readonly X509Certificate[]) => {
  const now = Date.now();
  let [current] = certificates;
  if (current === undefined) return 'noCertificate';
  for (let depth = 0; depth < maxChain; depth++) {
    if (now < Date.parse(current.validFrom) || now > Date.parse(current.validTo)) return 'certificateExpired';
    const one: X509Certificate = current;
    const isIssued = (by: X509Certificate) => one.checkIssued(by) && one.verify(by.publicKey);
    const authority = authorities.find((by) => by.fingerprint256 === one.fingerprint256 || isIssued(by));
    if (authority !== undefined) {
      return now > Date.parse(authority.validTo) ? 'certificateExpired' : undefined;
    }
    const next = certificates.find((by) => by !== one && by.ca && isIssued(by));
    if (next === undefined) return 'untrustedCertificate';
    current = next;
  }
  return 'untrustedCertificate';
};

const readCertificates = (der: readonly Uint8Array[]): X509Certificate[] | undefined => {
  try {
    return der.map((bytes) => new X509Certificate(bytes));
  } catch {
    return undefined;
  }
};

/** Trusts peers whose certificates come from these authorities (PEM). */
export const createPeerCheck = (ca: string): PeerCheck => {
  const authorities = certificatesIn(ca);
  return {
    authorities: authorities.map(keyHash),
    findProblem({ certificates, octets, method, data }) {
      const given = readCertificates(certificates);
      const [peer] = given ?? [];
      if (given === undefined || peer === undefined) return 'noCertificate';
      const problem = chainProblem(given, authorities);
      if (problem !== undefined) return problem;
      const publicKey = createPublicKey(peer.publicKey.export({ type: 'spki', format: 'pem' }));
      return isSignatureValid(publicKey, octets, { method, data }) ? undefined : 'wrongSignature';
    },
  };
};

/** What its owner is called: an electronic mail address, a host name, or the common name. */
export const nameIn = (pem: string): string => {
  const [own] = certificatesIn(pem);
  if (own === undefined) throw new RangeError('there is no certificate in the PEM');
  const names = (own.subjectAltName ?? '').split(', ');
  const named = (kind: string) => names.find((name) => name.startsWith(kind))?.slice(kind.length);
  return named('email:') ?? named('DNS:') ?? /^CN=(.*)$/m.exec(own.subject)?.[1] ?? own.subject.replaceAll('\n', ', ');
};

export interface CredentialOptions {
  /** PEM chain, the own certificate first. */
  readonly certificate: string;
  readonly privateKey: string;
  /** PEM of the trusted authorities. */
  readonly ca: string;
}

/** Authentication by certificates. */
export const createCredential = ({ certificate, privateKey, ca }: CredentialOptions): Credential => {
  const chain = certificatesIn(certificate);
  const key = createPrivateKey(privateKey);
  const [own] = chain;
  if (own === undefined) throw new RangeError('there is no certificate in the PEM');
  if (!own.checkPrivateKey(key)) throw new RangeError('the private key does not belong to the certificate');
  return {
    chain: chain.map(({ raw }) => Uint8Array.from(raw)),
    subject: subjectOf(own.raw),
    ...createPeerCheck(ca),
    sign: (octets, hashes) => signWith(key, octets, hashes),
  };
};
