import type { HttpClientConfig, Target } from '@rushhour/protocol';
import type { Header } from '@rushhour/wire';
import { messagesOf } from '../../net/load/payload.ts';

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** Value of the Host header or of `:authority`. */
export const authorityOf = (config: HttpClientConfig, target: Target): string => {
  if (config.host !== undefined) return config.host;
  const isDefault = target.port === (config.tls === undefined ? 80 : 443);
  return isDefault ? bracketed(target.host) : `${bracketed(target.host)}:${target.port}`;
};

/** The bodies of requests, in turn; undefined: requests have none. */
export const bodiesOf = ({ body }: HttpClientConfig): readonly (Buffer | undefined)[] =>
  body === undefined ? [undefined] : messagesOf(body);

const hasHeader = (config: HttpClientConfig, name: string): boolean =>
  config.headers.some((header) => header.name.toLowerCase() === name);

const perConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'host']);

/** The request as a list of headers, for HTTP/2 and HTTP/3. `bodyLength` -1: there is no body. */
export const requestHeaders = (config: HttpClientConfig, target: Target, bodyLength: number): readonly Header[] => {
  const own = config.headers.map(({ name, value }): Header => [name.toLowerCase(), value]);
  const headers: Header[] = [
    [':method', config.method],
    [':scheme', config.tls === undefined ? 'http' : 'https'],
    [':path', config.path],
    [':authority', authorityOf(config, target)],
    ...own.filter(([name]) => !perConnection.has(name)),
  ];
  if (bodyLength >= 0 && !own.some(([name]) => name === 'content-length'))
    headers.push(['content-length', String(bodyLength)]);
  return headers;
};

/** The request as bytes, built once and sent repeatedly. `body` belongs to the configured method only. */
export const createRequest = (
  config: HttpClientConfig,
  target: Target,
  override: { method?: string; path?: string; body?: Buffer | undefined } = {},
): Buffer => {
  const method = override.method ?? config.method;
  const body = method === config.method ? override.body : undefined;
  const lines = [`${method} ${override.path ?? config.path} HTTP/1.1`];
  if (!hasHeader(config, 'host')) lines.push(`Host: ${authorityOf(config, target)}`);
  for (const { name, value } of config.headers) lines.push(`${name}: ${value}`);
  if (!config.keepAlive.enabled && !hasHeader(config, 'connection')) lines.push('Connection: close');
  const needsLength = body !== undefined || ['POST', 'PUT', 'PATCH'].includes(method);
  if (needsLength && !hasHeader(config, 'content-length')) lines.push(`Content-Length: ${body?.length ?? 0}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
};

/** The redirected request; undefined when it leaves the target, because other hosts have not been checked. */
export const redirectOf = (
  config: HttpClientConfig,
  target: Target,
  answer: { status: number; location: string; from: string; body: Buffer | undefined },
): { request: Buffer; path: string } | undefined => {
  const scheme = config.tls === undefined ? 'http' : 'https';
  const base = new URL(answer.from, `${scheme}://${authorityOf(config, target)}`);
  if (!URL.canParse(answer.location, base)) return undefined;
  const next = new URL(answer.location, base);
  if (next.origin !== base.origin) return undefined;
  const path = next.pathname + next.search;
  const keepsMethod = answer.status === 307 || answer.status === 308 || config.method === 'HEAD';
  const method = keepsMethod ? config.method : 'GET';
  return { path, request: createRequest(config, target, { path, method, body: answer.body }) };
};
