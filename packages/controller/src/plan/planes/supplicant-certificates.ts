import type { ProtocolConfig } from '@rushhour/contract';
import type { PlanInput } from '../core/plan-input.ts';
import type { PlanIssues } from '../core/plan-issues.ts';

type Dot1x = ProtocolConfig<'dot1x'>;

/** A profile of 802.1X as agents get it: with the certificates that supplicants show and trust. */
const withTexts = (
  { certificates }: PlanInput,
  { supplicant, ...profile }: Dot1x,
  refuse: (member: string, message: string) => undefined,
): unknown => {
  const { certificateID, caCertificateID, ...user } = supplicant;
  const find = (member: string, id: number | undefined) =>
    id === undefined ? undefined : (certificates.get(id) ?? refuse(member, `there is no certificate ${id}`));
  const own = find('certificateID', certificateID);
  const authority = find('caCertificateID', caCertificateID);
  if (own?.privateKey === '') refuse('certificateID', `certificate "${own.name}" has no private key`);
  return {
    ...profile,
    supplicant: {
      ...user,
      ...(own !== undefined && { certificate: own.certificate, privateKey: own.privateKey }),
      ...(authority !== undefined && { ca: authority.certificate }),
    },
  };
};

/** Profiles whose supplicants have certificates, with these. */
export const withSupplicantCertificates = (
  input: PlanInput,
  profiles: Readonly<Record<string, unknown[]>>,
  { path, issues }: { readonly path: string; readonly issues: PlanIssues },
): Readonly<Record<string, unknown[]>> => {
  const { dot1x, ...others } = profiles;
  if (dot1x === undefined) return profiles;
  const complete = (dot1x as Dot1x[]).map((profile, i) =>
    withTexts(input, profile, (member, message) =>
      issues.error(`${path}/dot1x/${i}`, 'CERTIFICATE_UNKNOWN', `/supplicant/${member}: ${message}`),
    ),
  );
  return { ...others, dot1x: complete };
};
