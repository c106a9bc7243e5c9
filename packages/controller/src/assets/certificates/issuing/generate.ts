import type { X509Certificate } from 'node:crypto';
import { type CertificatePem, parseCertificate } from '../bundle.ts';
import { CertificateError } from '../certificate-error.ts';
import { createKeyPair, type KeyPair } from '../key-pair.ts';
import { pemOf } from '../pem.ts';
import { privateKeyPemOf } from '../private-key.ts';
import { applyDefect } from './defects.ts';
import {
  type Authority,
  issueAuthority,
  issueCertificate,
  issueRequest,
  issueRevocationList,
  parseAuthority,
} from './issue.ts';
import { authorityProfileOf, dayMs, type GenerateRequest, type IssuePlan, planOf } from './issue-plan.ts';

/**
 * Makes a key and a certificate, or for kind `csr` a certificate request, with `issuer` as the record that signs.
 * A defective leaf without an issuer gets a test root of its own, whose certificate ends the chain and whose key is thrown away.
 */
export async function generateCertificate(
  request: GenerateRequest,
  issuer?: CertificatePem,
  now: Date = new Date(),
): Promise<CertificatePem> {
  const plan = defectivePlanOf(request, now);
  if (request.kind === 'csr') return generateRequest(plan);
  const authority = await findAuthority(request, plan, issuer);
  const keys = createKeyPair(plan.leaf.keyType);
  return issuePlan(plan, await keys, authority);
}

function defectivePlanOf(request: GenerateRequest, now: Date): IssuePlan {
  const plan = planOf(request, now);
  if (request.defect === undefined) return plan;
  if (request.kind === 'csr') {
    throw new CertificateError('BAD_DEFECT', '/generate/defect', 'a certificate request cannot have a defect');
  }
  const bent = applyDefect(plan, request.defect, request.defectSize);
  if (bent.leaf.signatureHash === 'SHA-1' && bent.isSelfSigned && bent.leaf.keyType === 'ed25519') throw noSha1();
  return bent;
}

async function generateRequest(plan: IssuePlan): Promise<CertificatePem> {
  const keys = await createKeyPair(plan.leaf.keyType);
  const der = await issueRequest(plan.leaf, keys);
  return { public: pemOf('CERTIFICATE REQUEST', der), private: privateKeyPemOf(keys.privateKey) };
}

/** Undefined where the certificate signs itself. */
async function findAuthority(
  request: GenerateRequest,
  plan: IssuePlan,
  issuer: CertificatePem | undefined,
): Promise<Authority | undefined> {
  if (plan.isSelfSigned) return undefined;
  if (issuer) {
    const authority = await parseAuthority(issuer);
    if (plan.leaf.signatureHash === 'SHA-1' && authority.key.asymmetricKeyType === 'ed25519') throw noSha1();
    return authority;
  }
  if (request.defect !== undefined) return issueAuthority(authorityProfileOf(plan.leaf, 'test root', plan.now));
  if (request.kind === 'ca') return undefined;
  throw new CertificateError('ISSUER_REQUIRED', '/generate/issuerCertificateID', 'a leaf needs an issuer certificate');
}

async function issuePlan(plan: IssuePlan, keys: KeyPair, authority: Authority | undefined): Promise<CertificatePem> {
  let signer = authority;
  for (const profile of plan.intermediates) signer = await issueAuthority(profile, signer);
  const issued = await issueCertificate(plan.leaf, keys, signer);
  const leaf = plan.breaksSignature ? withBrokenSignature(issued) : issued;
  const sender = plan.sendsIntermediates ? signer : authority;
  const chain = sender ? [sender.certificate, ...sender.chain] : [];
  const lists = plan.isRevoked && signer ? [await revocationListOf(plan, leaf, signer)] : [];
  return {
    public: [...[leaf, ...chain].map(({ raw }) => pemOf('CERTIFICATE', raw)), ...lists].join(''),
    private: privateKeyPemOf(keys.privateKey),
  };
}

async function revocationListOf(plan: IssuePlan, revoked: X509Certificate, authority: Authority): Promise<string> {
  const thisUpdate = new Date(plan.now.getTime() - dayMs);
  const nextUpdate = new Date(Math.max(plan.leaf.notAfter.getTime(), plan.now.getTime()) + dayMs);
  return pemOf('X509 CRL', await issueRevocationList({ authority, revoked, thisUpdate, nextUpdate }));
}

/** The last byte of a certificate is the last byte of its signature. */
function withBrokenSignature(certificate: X509Certificate): X509Certificate {
  const der = Buffer.from(certificate.raw);
  der.writeUInt8(der.readUInt8(der.length - 1) ^ 1, der.length - 1);
  return parseCertificate(der);
}

function noSha1(): CertificateError {
  return new CertificateError('BAD_DEFECT', '/generate/defect', 'Ed25519 keys cannot make a SHA-1 signature');
}
