import { GeneralName } from '@peculiar/asn1-x509';
import type { DefectName } from '@rushhour/contract';
import { CertificateError } from '../certificate-error.ts';
import { parseDistinguishedName } from '../names/distinguished-name.ts';
import { authorityProfileOf, dayMs, type IssuePlan } from './issue-plan.ts';
import { authorityUsage, type CertificateProfile, purposes } from './profile.ts';

/** One defect of a certificate, to test whether a TLS-inspecting device detects it. */
export interface Defect {
  readonly name: DefectName;
  /** Bounds and default of `defectSize`, where the defect has one. */
  readonly size?: { readonly min: number; readonly max: number; readonly default: number };
  readonly apply: (plan: IssuePlan, size: number) => IssuePlan;
}

export const defects: readonly Defect[] = [
  {
    name: 'expired',
    apply: (plan) => shiftValidity(plan, plan.now.getTime() - dayMs - lengthMs(plan.leaf)),
  },
  {
    name: 'notYetValid',
    apply: (plan) => shiftValidity(plan, plan.now.getTime() + 30 * dayMs),
  },
  {
    name: 'wrongHost',
    apply: (plan) =>
      withLeaf(plan, {
        subject: parseDistinguishedName('CN=wrong-host.invalid'),
        names: [new GeneralName({ dNSName: 'wrong-host.invalid' })],
      }),
  },
  {
    name: 'nulInName',
    apply: (plan) =>
      withLeaf(plan, {
        subject: parseDistinguishedName({ O: 'Rushhour test' }),
        names: hostsOf(plan).map((host) => new GeneralName({ dNSName: `${host}\0.attacker.invalid` })),
      }),
  },
  {
    name: 'noSan',
    apply: (plan) =>
      withLeaf(plan, { subject: parseDistinguishedName({ CN: hostsOf(plan)[0] ?? 'host.invalid' }), names: [] }),
  },
  {
    name: 'hugeSan',
    size: { min: 1, max: 10_000, default: 5000 },
    apply: (plan, size) => withLeaf(plan, { names: [...plan.leaf.names, ...manyNames(plan, size)] }),
  },
  {
    name: 'selfSigned',
    apply: (plan) => ({ ...plan, isSelfSigned: true }),
  },
  {
    name: 'weakKey',
    apply: (plan) => withLeaf(plan, { keyType: 'rsa1024' }),
  },
  {
    name: 'sha1Signature',
    apply: (plan) => withLeaf(plan, { signatureHash: 'SHA-1' }),
  },
  {
    name: 'badSignature',
    apply: (plan) => ({ ...plan, breaksSignature: true }),
  },
  {
    name: 'revoked',
    apply: (plan) => ({ ...plan, isRevoked: true, isSelfSigned: false }),
  },
  {
    name: 'longChain',
    size: { min: 1, max: 50, default: 10 },
    apply: (plan, size) => below(plan, Array(size).fill({})),
  },
  {
    name: 'missingIntermediate',
    apply: (plan) => ({ ...below(plan, [{}]), sendsIntermediates: false }),
  },
  {
    name: 'nonCaIssuer',
    apply: (plan) => below(plan, [{ isCa: false }]),
  },
  {
    name: 'pathTooLong',
    apply: (plan) => below(plan, [{ pathLength: 0 }, {}]),
  },
  {
    name: 'nameNotPermitted',
    apply: (plan) => below(plan, [{ permittedNames: [new GeneralName({ dNSName: 'permitted.invalid' })] }]),
  },
  {
    name: 'caAsLeaf',
    apply: (plan) => withLeaf(plan, { isCa: true, keyUsage: authorityUsage, extendedKeyUsage: [] }),
  },
  {
    name: 'wrongKeyUsage',
    apply: (plan) => withLeaf(plan, { extendedKeyUsage: [purposes.codeSigning] }),
  },
  {
    name: 'duplicateExtension',
    apply: (plan) => withLeaf(plan, { hasDuplicateExtension: true }),
  },
  {
    name: 'unknownCriticalExtension',
    apply: (plan) => withLeaf(plan, { hasUnknownCriticalExtension: true }),
  },
];

export function applyDefect(plan: IssuePlan, name: string, size?: number): IssuePlan {
  const defect = defects.find((one) => one.name === name);
  if (!defect)
    throw new CertificateError('BAD_DEFECT', '/generate/defect', `there is no defect ${JSON.stringify(name)}`);
  const { min = 0, max = 0, default: defaultCount = 0 } = defect.size ?? {};
  const count = size ?? defaultCount;
  if (!Number.isInteger(count) || count < min || count > max) {
    const message = defect.size ? `defectSize must be from ${min} to ${max}` : `${name} has no size`;
    throw new CertificateError('BAD_DEFECT', '/generate/defectSize', message);
  }
  return defect.apply(plan, count);
}

function withLeaf(plan: IssuePlan, change: Partial<CertificateProfile>): IssuePlan {
  return { ...plan, leaf: { ...plan.leaf, ...change } };
}

function shiftValidity(plan: IssuePlan, startMs: number): IssuePlan {
  return withLeaf(plan, { notBefore: new Date(startMs), notAfter: new Date(startMs + lengthMs(plan.leaf)) });
}

function lengthMs(profile: CertificateProfile): number {
  return profile.notAfter.getTime() - profile.notBefore.getTime();
}

/** Puts intermediates above the leaf, each an ordinary authority but for its change. */
function below(plan: IssuePlan, changes: readonly Partial<CertificateProfile>[]): IssuePlan {
  const intermediates = changes.map((change, i) => ({
    ...authorityProfileOf(plan.leaf, `test intermediate ${i + 1}`, plan.now),
    ...change,
  }));
  return { ...plan, intermediates, isSelfSigned: false };
}

function hostsOf(plan: IssuePlan): string[] {
  const hosts = plan.leaf.names.flatMap((name) => name.dNSName ?? []);
  return hosts.length > 0 ? hosts : ['host.invalid'];
}

function manyNames(plan: IssuePlan, count: number): GeneralName[] {
  const domain = (hostsOf(plan)[0] ?? '').replace(/^\*\./, '');
  return Array.from({ length: count }, (_, i) => new GeneralName({ dNSName: `n${i + 1}.${domain}` }));
}
