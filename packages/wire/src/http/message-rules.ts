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
