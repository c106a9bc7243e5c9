import { RE2JS } from 're2js';
import type { FuzzPart } from '../../../security/fuzzing/fuzz-case.ts';
import type { BaselineSession } from '../../../security/fuzzing/recorded-session.ts';
import type { RenderedRequest } from '../../../security/signatures/expressions/render.ts';

/** A spot of the messages that cases may change; everything where none is named. */
export interface Spot {
  readonly part: string;
  readonly keys: readonly string[];
  readonly keysRegex?: string | undefined;
  readonly sessionIdx?: number | undefined;
  readonly stepIdx?: number | undefined;
  readonly offset?: number | undefined;
  readonly length?: number | undefined;
}

/** Bytes of one message that cases change. */
export interface SessionPart extends FuzzPart {
  readonly step: number;
  /** `path`, `query id`, `header User-Agent`, `body`, `method`, `bytes` or `name`. */
  readonly member: string;
  /** Where the bytes begin in the member. */
  readonly offset: number;
}

type HttpBaseline = Extract<RenderedRequest, { kind: 'http' }>;
type Region = Pick<SessionPart, 'member' | 'offset' | 'bytes'> & { readonly part: string; readonly key: string };

const latin = (text: string) => Buffer.from(text, 'latin1');

const isNamed = ({ keys, keysRegex }: Spot) => keys.length > 0 || (keysRegex ?? '') !== '';
const isWanted = (spot: Spot, key: string): boolean => {
  if (!isNamed(spot)) return true;
  if (spot.keys.some((name) => name.toLowerCase() === key.toLowerCase())) return true;
  return spot.keysRegex ? RE2JS.compile(spot.keysRegex).matcher(key).find() : false;
};

const queryRegions = (query: string): Region[] =>
  query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [key = ''] = pair.split('=', 1);
      return { part: 'query', key, member: `query ${key}`, offset: 0, bytes: latin(pair.slice(pair.indexOf('=') + 1)) };
    });

/** Members of requests as a whole. */
const regionsOf = (request: RenderedRequest): Region[] => {
  const whole = (member: string, bytes: Buffer): Region => ({ part: member, key: '', member, offset: 0, bytes });
  if (request.kind === 'raw') return [{ ...whole('bytes', request.data), part: 'bytes' }];
  if (request.kind === 'dns') return [whole('name', latin(request.qname))];
  const [path, query] = splitTarget(request);
  return [
    whole('path', latin(path)),
    ...queryRegions(query ?? ''),
    ...request.headers.map(({ name, value }) => ({
      ...whole(`header ${name}`, latin(value)),
      part: 'header',
      key: name,
    })),
    ...(request.body.length > 0 ? [whole('body', request.body)] : []),
    whole('method', latin(request.method)),
  ];
};

const jsonMember = /"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)/dg;
const formField = /(?:^|&)([^=&]+)=([^&]*)/dg;
const cookiePair = /(?:^|;\s*)([^=;\s]+)=([^;]*)/dg;

/** Named values within a member: cookies, fields of a form, members of JSON. */
const innerRegions = (part: string, { member, bytes }: Region, pattern: RegExp): Region[] =>
  [...bytes.toString('latin1').matchAll(pattern)].flatMap((match) => {
    const [from = 0, end = 0] = match.indices?.[2] ?? [];
    return [{ part, key: match[1] ?? '', member, offset: from, bytes: bytes.subarray(from, end) }];
  });

const cookieRegions = (all: readonly Region[], spot: Spot): Region[] =>
  all
    .filter(({ part, key }) => part === 'header' && /^cookie$/i.test(key))
    .flatMap((header) => (isNamed(spot) ? innerRegions('cookie', header, cookiePair) : [header]))
    .filter(({ part, key }) => part === 'header' || isWanted(spot, key));

const bodyRegions = (all: readonly Region[], spot: Spot): Region[] => {
  const body = all.filter(({ part }) => part === 'body');
  if (!isNamed(spot)) return body;
  const isJson = body.some(({ bytes }) => /^\s*[[{]/.test(bytes.toString('latin1', 0, 64)));
  return body
    .flatMap((region) => innerRegions('body', region, isJson ? jsonMember : formField))
    .filter(({ key }) => isWanted(spot, key));
};

const chosenRegions = (request: RenderedRequest, spot: Spot): Region[] => {
  const all = regionsOf(request);
  if (request.kind !== 'http' || spot.part === 'request' || spot.part === 'bytes') return all;
  if (spot.part === 'cookie') return cookieRegions(all, spot);
  if (spot.part === 'body') return bodyRegions(all, spot);
  return all.filter(({ part, key }) => part === spot.part && (key === '' || isWanted(spot, key)));
};

/** Undefined where the range begins after the end. */
const ranged = (region: Region, { offset = 0, length }: Spot): Region | undefined => {
  if (offset > 0 && offset >= region.bytes.length) return undefined;
  const end = length === undefined ? region.bytes.length : offset + length;
  return { ...region, offset: region.offset + offset, bytes: region.bytes.subarray(offset, end) };
};

interface Numbers {
  readonly session: BaselineSession;
  readonly step: number;
  /** Whether names say which session and which step. */
  readonly isOneSession: boolean;
}

const partOf = (
  { member, offset, bytes, key, part }: Region,
  { session, step, isOneSession }: Numbers,
): SessionPart => {
  const isInner = offset > 0 || (key !== '' && part !== 'query' && part !== 'header');
  const name = `${member}${isInner ? ` at ${offset}` : ''}`;
  const at = session.requests.length > 1 ? `step ${step} ` : '';
  const inSession = isOneSession ? '' : `session ${session.index} `;
  return { step, member, offset, bytes, name: `${inSession}${at}${name}` };
};

/** What cases may change of a session; each part once. */
export const partsOf = (session: BaselineSession, spots: readonly Spot[], isOneSession: boolean): SessionPart[] => {
  const chosen = session.requests.flatMap((request, step) => {
    const own = spots.filter(
      ({ sessionIdx = session.index, stepIdx = step }) => sessionIdx === session.index && stepIdx === step,
    );
    const regions =
      spots.length === 0
        ? regionsOf(request).filter(({ part }) => part !== 'method')
        : own.flatMap((spot) => chosenRegions(request, spot).flatMap((region) => ranged(region, spot) ?? []));
    return regions.map((region) => partOf(region, { session, step, isOneSession }));
  });
  return [...new Map(chosen.map((part) => [part.name, part])).values()];
};

/** Text of a request line before the query, and after it. */
export const splitTarget = ({ path }: HttpBaseline): readonly [path: string, query: string | undefined] => {
  const at = path.indexOf('?');
  return at < 0 ? [path, undefined] : [path.slice(0, at), path.slice(at + 1)];
};
