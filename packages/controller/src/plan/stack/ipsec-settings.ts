import type { IpsecSettings } from '@rushhour/protocol';
import type { PlanCertificate, PlanTunnel } from '../core/plan-input.ts';
import type { PlanScope } from '../core/plan-scope.ts';

type Params = Readonly<Record<string, unknown>>;

const names = {
  ikeEncryption: /^(aes(128|192|256)?(cbc|ctr|gcm(8|12|16|64|96|128)?)?|3des|chacha20poly1305)$/,
  ikePrf: /^(prf|hmac)*sha(1|2?256|2?384|2?512)?$/,
  ikeGroup:
    /^(modp(1024|1536|2048|3072|4096|6144|8192)|(ecp|p|secp|nistp)(256|384|521)(r1)?|(curve|x)(25519|448))((\+|ke1)mlkem(512|768|1024))?$/,
  cipher:
    /^((null)?aes(128|192|256)?(cbc|ctr|gmac|gcm(8|12|16|64|96|128)?)?|3des|null|chacha20poly1305)(hmac)?(sha(1|2?256|2?384|2?512)?)?((no)?esn)?$/,
};

/** True if agents have the algorithm; several alternatives are separated by commas. */
export const isIpsecAlgorithm = (kind: keyof typeof names, text: string): boolean =>
  text.split(',').every((one) => names[kind].test(one.toLowerCase().replaceAll(/[-_ ]/g, '')));

const textIn = (params: Params, name: string): string | undefined => {
  const value = params[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

const numberIn = (params: Params, name: string, otherwise: number): number => {
  const value = params[name];
  return typeof value === 'number' ? value : otherwise;
};

/** "0x100" or "256". */
export const parseSpi = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

const rangeIn = (params: Params, name: string) => {
  const [start, end] = [textIn(params, `${name}Start`), textIn(params, `${name}End`)];
  return start === undefined || end === undefined ? undefined : { start, end };
};

/** Settings of a record that need no check. */
const plainSettings = (params: Params): IpsecSettings => ({
  mode: 'tunnel',
  authMethod: (textIn(params, 'authMethod') ?? 'psk') as IpsecSettings['authMethod'],
  cipher: textIn(params, 'cipher') ?? 'aes256gcm16',
  encrypts: true,
  pfs: params['pfs'] === true,
  natt: params['natt'] === true,
  dpdIntervalSec: numberIn(params, 'dpdInterval', 30),
  dpdTimeoutSec: numberIn(params, 'dpdTimeout', 150),
  rekeySec: numberIn(params, 'rekeyTime', 3600),
  lifetimeSec: numberIn(params, 'saLifetime', 0),
  uniqueSelectors: false,
  firstIndex: 0,
  children: 1,
});

const given = (values: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

const keysOf = (params: Params, certificate: PlanCertificate | undefined): object => {
  const authMethod = textIn(params, 'authMethod') ?? 'psk';
  if (authMethod === 'psk') return given({ psk: textIn(params, 'psk') });
  if (authMethod === 'cert') {
    return given({ certificate: certificate?.certificate, privateKey: certificate?.privateKey });
  }
  return given({
    spi: parseSpi(textIn(params, 'spi')),
    integrityKey: textIn(params, 'key'),
    encryptionKey: textIn(params, 'cipherKey'),
  });
};

/** What is missing or unknown in a record, as parts of a message. */
const problemsOf = ({ params, certificate }: PlanTunnel): string[] => {
  const authMethod = textIn(params, 'authMethod') ?? 'psk';
  const algorithms = [
    ['ikeEncryption', 'ikeEncr'],
    ['ikePrf', 'ikePrf'],
    ['ikeGroup', 'ikeDh'],
    ['cipher', 'cipher'],
  ] as const;
  const unknown = algorithms.flatMap(([kind, member]) => {
    const text = textIn(params, member);
    return text === undefined || isIpsecAlgorithm(kind, text) ? [] : [`agents do not have params.${member} ${text}`];
  });
  const spi = parseSpi(textIn(params, 'spi')) ?? 0;
  const checks: readonly [boolean, string][] = [
    [authMethod === 'psk' && textIn(params, 'psk') === undefined, 'has no params.psk'],
    [authMethod === 'cert' && certificate === undefined, 'has no certificate'],
    [authMethod === 'cert' && certificate?.privateKey === '', 'has a certificate without its private key'],
    [authMethod === 'manual' && textIn(params, 'cipherKey') === undefined, 'has no params.cipherKey'],
    [authMethod === 'manual' && (spi < 256 || spi >= 2 ** 32), 'needs a params.spi from 256 on'],
    [textIn(params, 'mode') === 'transport', 'has the mode transport, which needs hosts that are the ends themselves'],
  ];
  return [...unknown, ...checks.flatMap(([isProblem, message]) => (isProblem ? [message] : []))];
};

/** Settings of IPsec of a tunnel record; undefined, with issues, when agents cannot use them. */
export const ipsecSettingsOf = (
  { issues }: PlanScope,
  { tunnel, path, start }: { readonly tunnel: PlanTunnel; readonly path: string; readonly start: number },
): IpsecSettings | undefined => {
  const problems = problemsOf(tunnel);
  for (const problem of problems) issues.error(path, 'TUNNEL_KEYS_INVALID', `"${tunnel.name}" ${problem}`);
  if (problems.length > 0) return undefined;
  const { params } = tunnel;
  const settings = {
    ...plainSettings(params),
    ...keysOf(params, tunnel.certificate),
    ...given({
      ikeEncryption: textIn(params, 'ikeEncr'),
      ikePrf: textIn(params, 'ikePrf'),
      ikeGroup: textIn(params, 'ikeDh'),
      localId: textIn(params, 'localId'),
      remoteId: textIn(params, 'remoteId'),
      localRange: rangeIn(params, 'tsSrc'),
      remoteRange: rangeIn(params, 'tsDst'),
    }),
  };
  return { ...settings, firstIndex: start };
};
