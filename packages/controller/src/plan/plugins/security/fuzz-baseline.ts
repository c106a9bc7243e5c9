import type { HttpRequest } from '@rushhour/protocol';
import type { FuzzPart } from '../../../security/fuzzing/fuzz-case.ts';
import type { RenderedRequest } from '../../../security/signatures/expressions/render.ts';
import { type CveExchange, exchangeOf } from './cve-exchange.ts';

/** A spot of the request that cases may change; everything where none is named. */
export interface Spot {
  readonly part: string;
  readonly keys: readonly string[];
}

type HttpBaseline = Extract<RenderedRequest, { kind: 'http' }>;

const bytesOf = (text: string) => Buffer.from(text, 'latin1');
const isWanted = ({ keys }: Spot, name: string) =>
  keys.length === 0 || keys.some((key) => key.toLowerCase() === name.toLowerCase());

/** Parts of a baseline by name: `path`, `query id`, `header User-Agent`, `body`, `method`, or `bytes`. */
export const partsOf = (baseline: RenderedRequest, spots: readonly Spot[]): FuzzPart[] => {
  if (baseline.kind === 'raw') return [{ name: 'bytes', bytes: baseline.data }];
  if (baseline.kind === 'dns') return [{ name: 'name', bytes: bytesOf(baseline.qname) }];
  const all = httpParts(baseline);
  const chosen = spots.flatMap((spot) => all.filter(({ name }) => fits(spot, name)));
  return spots.length === 0 ? all.filter(({ name }) => name !== 'method') : [...new Set(chosen)];
};

const fits = (spot: Spot, name: string) => {
  const [part = '', ...rest] = name.split(' ');
  if (spot.part === 'request' || spot.part === 'bytes') return true;
  if (spot.part === 'cookie') return name.toLowerCase() === 'header cookie';
  return part === spot.part && (rest.length === 0 || isWanted(spot, rest.join(' ')));
};

const httpParts = ({ method, path, headers, body }: HttpBaseline): FuzzPart[] => {
  const [plain = '', query] = path.split('?', 2);
  const queries = (query ?? '').split('&').filter((pair) => pair !== '');
  return [
    { name: 'path', bytes: bytesOf(plain) },
    ...queries.map((pair) => ({
      name: `query ${pair.split('=', 1)[0]}`,
      bytes: bytesOf(pair.slice(pair.indexOf('=') + 1)),
    })),
    ...headers.map(({ name, value }) => ({ name: `header ${name}`, bytes: bytesOf(value) })),
    ...(body.length > 0 ? [{ name: 'body', bytes: body }] : []),
    { name: 'method', bytes: bytesOf(method) },
  ];
};

/** What may not stand in a line would end it: it travels escaped. */
const line = (bytes: Buffer) => bytes.toString('latin1').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const target = (bytes: Buffer) => line(bytes).replaceAll(' ', '%20');

/** The exchange of a case. */
export const exchangeWith = (baseline: RenderedRequest, changed: ReadonlyMap<string, Buffer>): CveExchange => {
  const one = (request: RenderedRequest) => exchangeOf({ requests: [request], responses: [] }, 'empty');
  if (baseline.kind === 'raw') return one({ ...baseline, data: nonEmpty(changed.get('bytes') ?? baseline.data) });
  if (baseline.kind === 'dns') return one({ ...baseline, qname: nameOf(changed.get('name')) ?? baseline.qname });
  return one({ ...baseline, ...httpWith(baseline, changed) });
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
  { method, path, headers, body }: HttpBaseline,
  changed: ReadonlyMap<string, Buffer>,
): Pick<HttpRequest, 'method' | 'path' | 'headers'> & { body: Buffer } => {
  const [plain = '', query] = path.split('?', 2);
  const part = (name: string) => changed.get(name);
  const queries = (query ?? '').split('&').map((pair) => {
    const name = pair.split('=', 1)[0] ?? '';
    const other = part(`query ${name}`);
    return other === undefined ? pair : `${name}=${target(other)}`;
  });
  const changedPath = part('path');
  const start = changedPath === undefined ? plain : target(changedPath) || '/';
  return {
    method: (part('method') === undefined ? method : line(part('method') as Buffer).slice(0, 64)) || method,
    path: query === undefined ? start : `${start}?${queries.join('&')}`,
    headers: headers.map(({ name, value }) => ({
      name,
      value: part(`header ${name}`) === undefined ? value : line(part(`header ${name}`) as Buffer),
    })),
    body: part('body') ?? body,
  };
};
