import type { KeyObject, X509Certificate } from 'node:crypto';
import { isKeyOf } from './private-key.ts';

// A text may hold 200 certificates that all bear the same two names; no true chain needs this many.
const maxSignatureChecks = 64;

/** Leaf first, each followed by its issuer; certificates that fit nowhere keep their order at the end. */
export function orderChain(certificates: readonly X509Certificate[], key?: KeyObject): X509Certificate[] {
  const rest = new Map(certificates.map((certificate) => [certificate.fingerprint256, certificate]));
  const ordered: X509Certificate[] = [];
  const budget = { checksLeft: maxSignatureChecks };
  let current = leafOf([...rest.values()], key);
  while (current) {
    ordered.push(current);
    rest.delete(current.fingerprint256);
    current = isSelfIssued(current) ? undefined : findIssuer(current, [...rest.values()], budget);
  }
  return [...ordered, ...rest.values()];
}

/** True when every certificate is signed by the next one and the last one by itself. */
export function isCompleteChain(chain: readonly X509Certificate[]): boolean {
  return chain.every((certificate, i) => isSignedBy(certificate, chain[i + 1] ?? certificate));
}

export function isSelfSigned(certificate: X509Certificate): boolean {
  return isSignedBy(certificate, certificate);
}

export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  if (certificate.issuer !== issuer.subject) return false;
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

function leafOf(certificates: readonly X509Certificate[], key?: KeyObject): X509Certificate | undefined {
  const owned = key && certificates.find((certificate) => isKeyOf(certificate, key));
  if (owned) return owned;
  const issuers = new Set(certificates.filter((one) => !isSelfIssued(one)).map((one) => one.issuer));
  const ends = certificates.filter((certificate) => !issuers.has(certificate.subject));
  return ends.find((one) => !one.ca) ?? ends.find((one) => !isSelfIssued(one)) ?? ends[0] ?? certificates[0];
}

/** Names decide; where several certificates bear the name, the one whose key made the signature. */
function findIssuer(
  certificate: X509Certificate,
  among: readonly X509Certificate[],
  budget: { checksLeft: number },
): X509Certificate | undefined {
  const { issuer } = certificate;
  const named = among.filter((other) => other.subject === issuer);
  if (named.length < 2) return named[0];
  return named.find((other) => budget.checksLeft-- > 0 && isSignedBy(certificate, other)) ?? named[0];
}

function isSelfIssued(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer;
}
