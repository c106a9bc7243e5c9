import { findAddress } from '@rushhour/pools';
import type { Issue } from '../../errors.ts';
import type { Rule } from './checked-entry.ts';

interface Payload {
  readonly type?: string;
  readonly pattern?: string;
  readonly text?: string;
  readonly fileId?: number;
  readonly dictionaryId?: number;
}

const neededBy: Readonly<Record<string, keyof Payload>> = {
  pattern: 'pattern',
  text: 'text',
  file: 'fileId',
  dictionary: 'dictionaryId',
};

const payloadIssues = (path: string, payload: Payload | undefined): Issue[] => {
  const member = payload?.type === undefined ? undefined : neededBy[payload.type];
  if (member === undefined || payload?.[member] !== undefined) return [];
  return [{ path: `${path}/${member}`, code: 'REQUIRED', message: `is required when the type is ${payload?.type}` }];
};

interface HttpContent {
  readonly body?: Payload;
  readonly responses?: readonly { readonly body: Payload }[];
  readonly url?: string;
}

/** The payload has its content. */
export const payloads: Rule = ({ path, values }) => {
  const http = values['httpParams'] as HttpContent | undefined;
  const stateless = values['statelessServerParams'] as { reply?: Payload } | undefined;
  return [
    ...payloadIssues(`${path}/payload`, values['payload'] as Payload | undefined),
    ...payloadIssues(`${path}/httpParams/body`, http?.body),
    ...(http?.responses ?? []).flatMap(({ body }, i) => payloadIssues(`${path}/httpParams/responses/${i}/body`, body)),
    ...payloadIssues(`${path}/statelessServerParams/reply`, stateless?.reply),
  ];
};

export const httpUrl: Rule = ({ path, values }) => {
  const url = (values['httpParams'] as HttpContent | undefined)?.url;
  if (url === undefined || URL.canParse(url)) return [];
  return [{ path: `${path}/httpParams/url`, code: 'URL_INVALID', message: `"${url}" is not an address` }];
};

interface DnsContent {
  readonly names: readonly string[];
  readonly dictionaryId?: number;
  readonly answers: readonly { readonly type: string; readonly data: string }[];
}

const versionOf: Readonly<Record<string, number>> = { A: 4, AAAA: 6 };

/** There are names to query, and addresses in answers are valid. */
export const dnsContent: Rule = ({ path, values }) => {
  const dns = values['dnsParams'] as DnsContent | undefined;
  if (dns === undefined) return [];
  const dnsPath = `${path}/dnsParams`;
  const isNameless = !values.isServer && dns.names.length === 0 && dns.dictionaryId === undefined;
  const wrong = dns.answers.flatMap(({ type, data }, i): Issue[] => {
    const version = versionOf[type];
    if (version === undefined || findAddress(data)?.version === version) return [];
    const message = `"${data}" is not an IPv${version} address`;
    return [{ path: `${dnsPath}/answers/${i}/data`, code: 'ADDRESS_INVALID', message }];
  });
  return [
    ...(isNameless ? [{ path: `${dnsPath}/names`, code: 'REQUIRED', message: 'needs names or dictionaryId' }] : []),
    ...wrong,
  ];
};

const keysFor: Readonly<Record<string, readonly string[]>> = {
  psk: ['ipsecPsk'],
  cert: ['ipsecCert'],
  'eap-mschapv2': ['ipsecPsk', 'ipsecCa'],
  'eap-tls': ['ipsecCert', 'ipsecCa'],
  manual: ['ipsecSpi', 'ipsecCipherKey'],
};

const ranges = ['ipsecTsSrc', 'ipsecTsDst', 'ipsecInnerSrc', 'ipsecInnerDst'];

/** Keys match the authentication method; ranges are ascending. */
export const ipsec: Rule = ({ path, values }) => {
  const method = values['ipsecAuthMethod'] as string | undefined;
  if (method === undefined) return [];
  const missing = (keysFor[method] ?? [])
    .filter((name) => values[name] === undefined)
    .map((name) => ({
      path: `${path}/${name}`,
      code: 'REQUIRED',
      message: `is required when ipsecAuthMethod is ${method}`,
    }));
  return [...missing, ...ranges.flatMap((name) => rangeIssues(path, name, values))];
};

const rangeIssues = (path: string, name: string, values: Readonly<Record<string, unknown>>): Issue[] => {
  const [start, end] = [values[`${name}Start`], values[`${name}End`]] as (string | undefined)[];
  if (start === undefined && end === undefined) return [];
  if (start === undefined || end === undefined) {
    const absent = `${name}${start === undefined ? 'Start' : 'End'}`;
    return [{ path: `${path}/${absent}`, code: 'REQUIRED', message: 'is required together with its other end' }];
  }
  const [first, last] = [findAddress(start), findAddress(end)];
  if (first && last && first.version === last.version && first.value <= last.value) return [];
  return [{ path: `${path}/${name}End`, code: 'RANGE_INVALID', message: `${start} to ${end} is not a range` }];
};
