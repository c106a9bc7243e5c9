import type { IpsecLoadValues, IpsecTunnelValues } from '@rushhour/contract';
import { findAddress, formatAddress, type IpVersion } from '@rushhour/pools';
import type { AddressRange, IpsecSettings } from '@rushhour/protocol';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { isIpsecAlgorithm, parseSpi } from '../../stack/ipsec-settings.ts';
import { manualKeyBytes } from './manual-keys.ts';

/** Members of both plugins. */
export type IpsecValues = Pick<IpsecTunnelValues, keyof IpsecTunnelValues & keyof IpsecLoadValues>;

const report = (scope: PlanScope, member: string, code: string, message: string): undefined =>
  scope.issues.error(pointerIn(scope, member), code, message);

const algorithms = [
  ['ikeEncryption', 'ipsecIkeEncr'],
  ['ikePrf', 'ipsecIkePrf'],
  ['ikeGroup', 'ipsecIkeDh'],
  ['cipher', 'ipsecCipher'],
] as const;

const reportAlgorithms = (scope: PlanScope, values: IpsecValues): void => {
  for (const [kind, member] of algorithms) {
    const text = values[member];
    if (text === undefined || isIpsecAlgorithm(kind, text)) continue;
    report(scope, member, 'NOT_SUPPORTED', `agents do not have ${text}`);
  }
};

const privateKeyBlock = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----/;

/** A certificate from its PEM or its record; undefined, with an issue, when there is none. */
const certificateAt = (scope: PlanScope, values: IpsecValues, member: 'ipsecCert' | 'ipsecCa') => {
  const text = values[member];
  if (text === undefined) return undefined;
  if (!/^[0-9]+$/.test(text)) return { certificate: text, privateKey: privateKeyBlock.exec(text)?.[0] ?? '' };
  const found = scope.input.certificates.get(Number(text));
  return found ?? report(scope, member, 'CERTIFICATE_UNKNOWN', `there is no certificate ${text}`);
};

const certificateKeys = (scope: PlanScope, values: IpsecValues): Partial<IpsecSettings> => {
  const own = certificateAt(scope, values, 'ipsecCert');
  const authority = certificateAt(scope, values, 'ipsecCa');
  if (values.ipsecCert === undefined) report(scope, 'ipsecCert', 'REQUIRED', 'is required: peers prove who they are');
  if (own?.privateKey === '') report(scope, 'ipsecCert', 'CERTIFICATE_WITHOUT_KEY', 'has no private key');
  return {
    ...(own && { certificate: own.certificate, privateKey: own.privateKey }),
    ...(authority && { ca: authority.certificate }),
  };
};

const hexBytes = (key: string | undefined): number => (key?.replace(/^0x/i, '').length ?? 0) / 2;

/** Keys by hand, checked against what the cipher needs. */
export const manualKeysAt = (scope: PlanScope, values: IpsecTunnelValues): Partial<IpsecSettings> => {
  const { ipsecKey, ipsecCipherKey, ipsecCipher, ipsecTunnelCount } = values;
  const spi = parseSpi(values.ipsecSpi);
  if (spi === undefined) report(scope, 'ipsecSpi', 'REQUIRED', 'is required: there is no IKE that chooses it');
  else if (spi < 256 || spi + ipsecTunnelCount > 2 ** 32)
    report(scope, 'ipsecSpi', 'RANGE_INVALID', 'SPIs are from 256 to 4294967295, one for each tunnel');
  const needed = manualKeyBytes(ipsecCipher, values.ipsecEncrypt === 1);
  const keys = [
    ['ipsecCipherKey', ipsecCipherKey, needed.encryption],
    ['ipsecKey', ipsecKey, needed.integrity],
  ] as const;
  for (const [member, key, bytes] of keys) {
    if (key === undefined && bytes > 0) report(scope, member, 'REQUIRED', `is required: ${bytes} bytes`);
    else if (key !== undefined && hexBytes(key) !== bytes) {
      const message = bytes === 0 ? `${ipsecCipher} needs no such key` : `${ipsecCipher} needs ${bytes} bytes`;
      report(scope, member, 'KEY_INVALID', message);
    }
  }
  return {
    ...(spi !== undefined && { spi }),
    ...(ipsecKey !== undefined && { integrityKey: ipsecKey }),
    ...(ipsecCipherKey !== undefined && { encryptionKey: ipsecCipherKey }),
  };
};

/** User name and password, and the authority of the gateway. */
const eapKeys = (scope: PlanScope, values: IpsecValues): Partial<IpsecSettings> => {
  const [, eapIdentity, psk] = /^([^:]+):(.+)$/s.exec(values.ipsecPsk ?? '') ?? [];
  const authority = certificateAt(scope, values, 'ipsecCa');
  if (psk === undefined) report(scope, 'ipsecPsk', 'KEY_INVALID', 'is not user:password');
  if (values.ipsecCa === undefined)
    report(scope, 'ipsecCa', 'REQUIRED', 'is required: the gateway shows a certificate');
  return {
    ...(psk !== undefined && eapIdentity !== undefined && { psk, eapIdentity }),
    ...(authority && { ca: authority.certificate }),
  };
};

/** The certificate of the users, and the authority of the gateway. */
const eapCertificate = (scope: PlanScope, values: IpsecValues): Partial<IpsecSettings> => {
  if (values.ipsecCa === undefined)
    report(scope, 'ipsecCa', 'REQUIRED', 'is required: the gateway shows a certificate');
  return certificateKeys(scope, values);
};

/** Agents that answer have no users. */
export const reportAnswer = (scope: PlanScope, { ipsecAuthMethod }: IpsecValues): void => {
  if (!ipsecAuthMethod.startsWith('eap')) return;
  report(scope, 'ipsecAuthMethod', 'NOT_SUPPORTED', 'agents do not answer by EAP: name a gateway without an agent');
};

const keysAt = (scope: PlanScope, values: IpsecValues): Partial<IpsecSettings> => {
  if (values.ipsecAuthMethod === 'eap-mschapv2') return eapKeys(scope, values);
  if (values.ipsecAuthMethod === 'eap-tls') return eapCertificate(scope, values);
  if (values.ipsecAuthMethod === 'cert') return certificateKeys(scope, values);
  if (values.ipsecAuthMethod !== 'psk') return {};
  if (values.ipsecPsk !== undefined) return { psk: values.ipsecPsk };
  return report(scope, 'ipsecPsk', 'REQUIRED', 'is required: peers prove who they are') ?? {};
};

/** Settings of IPsec that are the same for all tunnels of an entry; problems are reported as issues. */
export const ipsecSettingsAt = (scope: PlanScope, values: IpsecValues): IpsecSettings => {
  reportAlgorithms(scope, values);
  const { ipsecIkeEncr, ipsecIkePrf, ipsecIkeDh } = values;
  return {
    mode: values.ipsecMode,
    authMethod: values.ipsecAuthMethod,
    cipher: values.ipsecCipher,
    encrypts: values.ipsecEncrypt === 1,
    pfs: values.ipsecPfs === 1,
    natt: values.ipsecNatt === 1,
    dpdIntervalSec: values.ipsecDpdInterval,
    dpdTimeoutSec: values.ipsecDpdTimeout,
    handshakeTimeoutSec: values.ipsecIkeTimeout,
    rekeySec: values.ipsecRekeyTime,
    lifetimeSec: values.ipsecSaLifetime,
    uniqueSelectors: false,
    firstIndex: 0,
    children: 1,
    ...(ipsecIkeEncr !== undefined && { ikeEncryption: ipsecIkeEncr }),
    ...(ipsecIkePrf !== undefined && { ikePrf: ipsecIkePrf }),
    ...(ipsecIkeDh !== undefined && { ikeGroup: ipsecIkeDh }),
    ...keysAt(scope, values),
  };
};

/** A range of addresses with its size. */
export interface SizedRange extends AddressRange {
  readonly version: IpVersion;
  readonly size: bigint;
}

/** The range of two members, `<name>Start` and `<name>End`; undefined, with an issue if it is not valid. */
export const rangeAt = (scope: PlanScope, values: object, name: string): SizedRange | undefined => {
  const at = (end: 'Start' | 'End') => (values as Readonly<Record<string, string | undefined>>)[`${name}${end}`];
  const [start, end] = [at('Start'), at('End')];
  if (start === undefined && end === undefined) return undefined;
  if (start === undefined || end === undefined) {
    const absent = `${name}${start === undefined ? 'Start' : 'End'}`;
    return report(scope, absent, 'REQUIRED', 'is required together with its other end');
  }
  const [first, last] = [findAddress(start), findAddress(end)];
  if (first === undefined || last === undefined || first.version !== last.version || first.value > last.value)
    return report(scope, `${name}End`, 'RANGE_INVALID', `${start} to ${end} is not a range`);
  return { start, end, version: first.version, size: last.value - first.value + 1n };
};

const bits = { 4: 32n, 6: 128n } as const;

/** `count` addresses from a base on; undefined if there are fewer. */
export const addressesFrom = (base: string, count: number): { at(index: number): string } | undefined => {
  const first = findAddress(base);
  if (first === undefined || first.value + BigInt(count) > 1n << bits[first.version]) return undefined;
  return { at: (index) => formatAddress(first.version, first.value + BigInt(index)) };
};

/** Most peers of an entry. */
const maxPeers = 1024;

/** Peers that the entry names by their first address and their number, where it has no targets. */
export const basePeers = (
  scope: PlanScope,
  { base, count, names }: { base: string | undefined; count: number; names: { base: string; count: string } },
) => {
  const hasTargets = (scope.entry.values.targets ?? []).length > 0;
  if (base === undefined || hasTargets) {
    if (base !== undefined) report(scope, names.base, 'NOT_SUPPORTED', 'has no effect where targets are given');
    if (count !== 1) report(scope, names.count, 'NOT_SUPPORTED', `counts the peers from ${names.base} on: give that`);
    return [];
  }
  if (count > maxPeers) return report(scope, names.count, 'TOO_MANY_TARGETS', `${maxPeers} is the maximum`) ?? [];
  const addresses = addressesFrom(base, count);
  if (addresses === undefined) return report(scope, names.count, 'RANGE_INVALID', 'there are fewer addresses') ?? [];
  const path = pointerIn(scope, names.base);
  return Array.from({ length: count }, (_, i) => ({ endpoint: { ip: addresses.at(i), weight: 1 }, path }));
};

/** Reports a source that has fewer addresses than sessions are opened from. */
export const reportSources = (
  scope: PlanScope,
  { wanted, found, member }: { wanted: number; found: number; member: string },
): void => {
  if (wanted <= found) return;
  report(scope, member, 'ADDRESSES_TOO_FEW', `${wanted} addresses are asked for, a source has ${found}`);
};

/** Bytes of the four messages of a handshake on the wire, on average. */
const messageBytes = 350;

/** Packets of so many handshakes a second. */
export const handshakeEstimate = (rate: number) => {
  const pps = 2 * rate;
  const bps = pps * messageBytes * 8;
  return { connections: 0, opens: 0, txPps: pps, rxPps: pps, txBps: bps, rxBps: bps };
};
