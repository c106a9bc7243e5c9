import type { HttpRequest } from '@rushhour/protocol';
import type { BaselineSession } from '../../../security/fuzzing/recorded-session.ts';
import type { RenderedRequest } from '../../../security/signatures/expressions/render.ts';
import { type CveExchange, exchangeOf } from './cve-exchange.ts';
import { type SessionPart, splitTarget } from './fuzz-parts.ts';

type HttpBaseline = Extract<RenderedRequest, { kind: 'http' }>;
type Change = Pick<SessionPart, 'member' | 'offset'> & { readonly length: number; readonly bytes: Buffer };

/** What may not stand in a line would end it: it travels escaped. */
const line = (bytes: Buffer) => bytes.toString('latin1').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const target = (bytes: Buffer) => line(bytes).replaceAll(' ', '%20');

/** The new bytes of a member; undefined where nothing of it changes. The last place is changed first. */
const changedMember = (changes: readonly Change[], member: string, bytes: Buffer): Buffer | undefined => {
  const own = changes.filter((change) => change.member === member).toSorted((a, b) => b.offset - a.offset);
  if (own.length === 0) return undefined;
  return own.reduce(
    (whole, { offset, length, bytes: put }) =>
      Buffer.concat([whole.subarray(0, offset), put, whole.subarray(offset + length)]),
    bytes,
  );
};

/** The exchange of a case: every message of the session, some of them changed. */
export const exchangeWith = (
  session: BaselineSession,
  parts: readonly SessionPart[],
  changed: ReadonlyMap<string, Buffer>,
): CveExchange => {
  const changesOf = (step: number) =>
    parts.flatMap(({ name, step: own, member, offset, bytes }): Change[] => {
      const put = own === step ? changed.get(name) : undefined;
      return put === undefined ? [] : [{ member, offset, length: bytes.length, bytes: put }];
    });
  const requests = session.requests.map((request, step) => requestWith(request, changesOf(step)));
  return exchangeOf({ requests, responses: session.responses }, session.responses.length === 0 ? 'empty' : 'canned');
};

const requestWith = (request: RenderedRequest, changes: readonly Change[]): RenderedRequest => {
  if (changes.length === 0) return request;
  if (request.kind === 'raw')
    return { ...request, data: nonEmpty(changedMember(changes, 'bytes', request.data) ?? request.data) };
  if (request.kind === 'dns') {
    const name = changedMember(changes, 'name', Buffer.from(request.qname, 'latin1'));
    return { ...request, qname: nameOf(name) ?? request.qname };
  }
  return { ...request, ...httpWith(request, changes) };
};

const nonEmpty = (bytes: Buffer) => (bytes.length === 0 ? Buffer.from('\n') : bytes);
/** Labels of names hold at most 63 letters, names 253. */
const nameOf = (bytes: Buffer | undefined) =>
  bytes
    ?.toString('latin1')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/([^.]{60})(?=[^.])/g, '$1.')
    .replace(/\.{2,}/g, '.')
    .replace(/^\.|\.$/g, '')
    .slice(0, 250) || undefined;

const httpWith = (
  request: HttpBaseline,
  changes: readonly Change[],
): Pick<HttpRequest, 'method' | 'path' | 'headers'> & { body: Buffer } => {
  const [plain, query] = splitTarget(request);
  const part = (member: string, text: string) => changedMember(changes, member, Buffer.from(text, 'latin1'));
  const queries = (query ?? '').split('&').map((pair) => {
    const name = pair.split('=', 1)[0] ?? '';
    const other = part(`query ${name}`, pair.slice(pair.indexOf('=') + 1));
    return other === undefined ? pair : `${name}=${target(other)}`;
  });
  const path = part('path', plain);
  const method = part('method', request.method);
  const start = path === undefined ? plain : target(path) || '/';
  return {
    method: (method && line(method).slice(0, 64)) || request.method,
    path: query === undefined ? start : `${start}?${queries.join('&')}`,
    headers: request.headers.map(({ name, value }) => {
      const other = part(`header ${name}`, value);
      return { name, value: other === undefined ? value : line(other) };
    }),
    body: changedMember(changes, 'body', request.body) ?? request.body,
  };
};
