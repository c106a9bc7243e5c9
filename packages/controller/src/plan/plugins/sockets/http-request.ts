import type { HttpValues } from '@rushhour/contract';
import { findAddress } from '@rushhour/pools';
import type { HttpClientConfig } from '@rushhour/protocol';

type HttpParams = HttpValues['httpParams'];

/** What a client asks, wherever it was written: in the address, the path, the query or among the cookies. */
export interface HttpRequest {
  readonly path: string;
  readonly headers: HttpClientConfig['headers'];
  /** For the Host header; undefined entries it to the target. */
  readonly host: string | undefined;
  /** The name to ask for in TLS; an address is none. */
  readonly serverName: string | undefined;
  readonly isHttps: boolean;
}

const withQuery = (path: string, query: HttpParams['query']): string => {
  if (query.length === 0) return path;
  const pairs = query.map(({ name, value }) => `${encode(name)}=${encode(value)}`);
  return `${path}${path.includes('?') ? '&' : '?'}${pairs.join('&')}`;
};

const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

/** A request line holds visible ASCII only. */
const visible = (path: string): string => path.toWellFormed().replace(/[^\x21-\x7e]+/gu, encode);

const withCookies = ({ headers, cookies }: HttpParams): HttpClientConfig['headers'] => {
  if (cookies.length === 0) return headers;
  const given = headers.find(({ name }) => name.toLowerCase() === 'cookie');
  const pairs = cookies.map(({ name, value }) => `${name}=${value}`);
  const value = [...(given ? [given.value] : []), ...pairs].join('; ');
  return [...headers.filter((header) => header !== given), { name: 'Cookie', value }];
};

const nameOf = (host: string | undefined): string | undefined => {
  const name = host?.replace(/:\d+$/, '');
  return name === undefined || name.startsWith('[') || findAddress(name) ? undefined : name;
};

/** The path of an address, written as requests have it. */
const pathOf = (url: URL): string => `${url.pathname}${url.search}`;

export const requestOf = (params: HttpParams): HttpRequest => {
  const url = params.url !== undefined && URL.canParse(params.url) ? new URL(params.url) : undefined;
  const host = params.host ?? url?.host;
  return {
    path: url ? pathOf(url) : withQuery(visible(params.path), params.query),
    headers: withCookies(params),
    host,
    serverName: nameOf(host),
    isHttps: url?.protocol === 'https:',
  };
};

/** Bytes of the request line and headers, for estimates. */
export const requestBytes = ({ path, headers }: HttpRequest, bodyBytes: number): number =>
  headers.reduce((sum, { name, value }) => sum + name.length + value.length + 4, 0) + path.length + 60 + bodyBytes;
