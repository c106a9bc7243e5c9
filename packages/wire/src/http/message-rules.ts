import type { Header } from './hpack.ts';

const requestPseudo = new Set([':method', ':scheme', ':path', ':authority', ':protocol']);
const responsePseudo = new Set([':status']);
const perConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

const fieldProblem = ([name, value]: Header): string | undefined => {
  if (name === '' || /[A-Z]/.test(name)) return `the name "${name}" is not in lower case`;
  if (perConnection.has(name)) return `${name} belongs to one connection`;
  if (name === 'te' && value !== 'trailers') return 'te is not trailers';
  return undefined;
};

/** Why a list of headers cannot be a message (RFC 9113, section 8.2 and 8.3); undefined if it can. */
export const messageProblem = (headers: readonly Header[], kind: 'request' | 'response' | 'trailers') => {
  const allowed = kind === 'request' ? requestPseudo : kind === 'response' ? responsePseudo : new Set<string>();
  const seen = new Set<string>();
  let isPseudo = true;
  for (const header of headers) {
    const [name] = header;
    if (name.startsWith(':')) {
      if (!isPseudo) return `${name} comes after other headers`;
      if (!allowed.has(name)) return `${name} is not allowed here`;
      if (seen.has(name)) return `${name} is there twice`;
      seen.add(name);
      continue;
    }
    isPseudo = false;
    const problem = fieldProblem(header);
    if (problem !== undefined) return problem;
  }
  if (kind === 'response') return seen.has(':status') ? undefined : 'there is no :status';
  if (kind === 'trailers') return undefined;
  return requestProblem(headers, seen);
};

const requestProblem = (headers: readonly Header[], seen: ReadonlySet<string>): string | undefined => {
  const method = headers.find(([name]) => name === ':method')?.[1];
  if (method === undefined) return 'there is no :method';
  if (method === 'CONNECT' && !seen.has(':protocol')) return undefined;
  if (!seen.has(':scheme')) return 'there is no :scheme';
  const path = headers.find(([name]) => name === ':path')?.[1];
  return path === undefined || path === '' ? 'there is no :path' : undefined;
};

/** The declared length of the body; -1 if there is none. */
export const contentLengthOf = (headers: readonly Header[]): number => {
  const value = headers.find(([name]) => name === 'content-length')?.[1];
  return value === undefined || !/^\d{1,15}$/.test(value) ? -1 : Number(value);
};

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const breaks = /[\0\r\n]/;
/** What other headers or fields say in HTTP/2 and HTTP/3. */
const implied = new Set([...perConnection, 'host', 'http2-settings']);

/** Why HTTP/2 and HTTP/3 cannot carry a header (RFC 9113, section 8.2.1), whatever its name in HTTP/1; undefined if they can. */
export const unsendable = (name: string, value: string): string | undefined => {
  if (!token.test(name.trim().toLowerCase())) return `the name ${JSON.stringify(name)} is not allowed`;
  return breaks.test(value) ? `the value of ${name.trim()} has a line break or a zero byte` : undefined;
};

/**
 * A header of HTTP/1 as HTTP/2 and HTTP/3 send it: the name in lower case, the value on one line. Undefined for those
 * of a single connection, and for names that are not allowed.
 */
export const sendable = (name: string, value: string): Header | undefined => {
  const lower = name.trim().toLowerCase();
  if (!token.test(lower) || implied.has(lower)) return undefined;
  const line = value.replaceAll(/[\0\r\n]+/g, ' ').trim();
  return lower === 'te' && line.toLowerCase() !== 'trailers' ? undefined : [lower, line];
};
