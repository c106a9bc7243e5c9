import type { HttpValues } from '@rushhour/contract';
import type { TlsClientSettings, TlsServerSettings } from '@rushhour/protocol';
import { type PlanScope, pointerIn } from '../core/plan-scope.ts';

export type TlsParams = NonNullable<HttpValues['tlsParams']>;
type CertificateMember = 'certificateID' | 'clientCertificateID' | 'caCertificateID';

/** What both sides agree on. */
const commonOf = ({ versions, ciphers, groups, alpn, earlyData, recordSizeLimit }: TlsParams) => ({
  versions: versions.length > 0 ? versions : (['1.2', '1.3'] as TlsParams['versions']),
  ...(ciphers !== undefined && { ciphers }),
  ...(groups !== undefined && { groups }),
  alpn,
  ...(earlyData === true && { earlyData }),
  ...(recordSizeLimit !== undefined && { recordSizeLimit }),
});

const certificateAt = (scope: PlanScope, params: TlsParams, member: CertificateMember) => {
  const id = params[member];
  if (id === undefined) return undefined;
  const found = scope.input.certificates.get(id);
  const path = pointerIn(scope, 'tlsParams', member);
  return found ?? scope.issues.error(path, 'CERTIFICATE_UNKNOWN', `there is no certificate ${id}`);
};

/** A certificate to show, with its key. */
const identityAt = (scope: PlanScope, params: TlsParams, member: CertificateMember) => {
  const found = certificateAt(scope, params, member);
  if (found === undefined) return {};
  const { certificate, privateKey } = found;
  if (privateKey !== '') return { certificate, privateKey };
  const message = `certificate "${found.name}" has no private key: it cannot be shown to anyone`;
  return scope.issues.error(pointerIn(scope, 'tlsParams', member), 'CERTIFICATE_WITHOUT_KEY', message) ?? {};
};

/** `name` is asked for where the entry names no server. */
export const clientTls = (scope: PlanScope, params: TlsParams, name?: string): TlsClientSettings => {
  const authority = certificateAt(scope, params, 'caCertificateID');
  const sni = params.sni ?? name;
  return {
    ...commonOf(params),
    ...identityAt(scope, params, 'clientCertificateID'),
    ...(authority && { ca: authority.certificate }),
    ...(sni !== undefined && { sni }),
    verify: params.verify,
    resumption: params.resumption,
  };
};

/** Without a certificate the engine makes a self-signed one. */
export const serverTls = (scope: PlanScope, params: TlsParams): TlsServerSettings => ({
  ...commonOf(params),
  ...identityAt(scope, params, 'certificateID'),
  requestClientCertificate: params.clientCertificateID !== undefined,
  tickets: true,
});
