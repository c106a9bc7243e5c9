import type { HttpClientConfig, Target } from '@rushhour/protocol';
import { payloadBytes } from '../../net/load/payload.ts';

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** Value of the Host header or of `:authority`. */
export const authorityOf = (config: HttpClientConfig, target: Target): string => {
  if (config.host !== undefined) return config.host;
  const isDefault = target.port === (config.tls === undefined ? 80 : 443);
  return isDefault ? bracketed(target.host) : `${bracketed(target.host)}:${target.port}`;
};

const bodyOf = (config: HttpClientConfig): Buffer | undefined =>
  config.body === undefined ? undefined : payloadBytes(config.body);

const hasHeader = (config: HttpClientConfig, name: string): boolean =>
  config.headers.some((header) => header.name.toLowerCase() === name);

/** The request as bytes, built once and sent repeatedly. */
export const createRequest = (
  config: HttpClientConfig,
  target: Target,
  override: { method?: string; path?: string } = {},
): Buffer => {
  const method = override.method ?? config.method;
  const body = method === config.method ? bodyOf(config) : undefined;
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
  answer: { status: number; location: string; from: string },
): { request: Buffer; path: string } | undefined => {
  const scheme = config.tls === undefined ? 'http' : 'https';
  const base = new URL(answer.from, `${scheme}://${authorityOf(config, target)}`);
  if (!URL.canParse(answer.location, base)) return undefined;
  const next = new URL(answer.location, base);
  if (next.origin !== base.origin) return undefined;
  const path = next.pathname + next.search;
  const keepsMethod = answer.status === 307 || answer.status === 308 || config.method === 'HEAD';
  return { path, request: createRequest(config, target, { path, method: keepsMethod ? config.method : 'GET' }) };
};
