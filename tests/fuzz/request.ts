import type { Route } from '@rushhour/contract';
import fc from 'fast-check';
import { garbage, oddHeader, oddId, valid, violated } from './arbitrary.ts';
import { contents, fileNames } from './contents.ts';

export interface Attempt {
  kind: 'valid' | 'violation' | 'garbage' | 'headers' | 'path' | 'form';
  method: string;
  target: string;
  headers: string[];
  body: Buffer | undefined;
  /** The schema of the operation always refuses this. */
  expectsRefusal: boolean;
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '');
const jsonType = 'Content-Type: application/json';

type Attempts = fc.Arbitrary<Attempt>;
type Weighted = { weight: number; arbitrary: Attempts };

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'BREW'];
const suffixes = [
  '?',
  '?count=10&count=20',
  '?a[b]=c',
  '?%00',
  '?count=%ff',
  '?__proto__=1',
  '?offset=-1&count=1e9',
  '/',
  '//',
  '/..',
  '?search=%00',
  `?search=${'z'.repeat(3000)}`,
];

const pathOf = ({ target }: Attempt) => target.split('?')[0];

/** Requests that the schemas of an operation accept. */
const validAttempts = (route: Route): Attempts =>
  fc
    .record({
      params: valid((route.params ?? { type: 'object' }) as never) as fc.Arbitrary<Record<string, unknown>>,
      query: valid((route.query ?? { type: 'object' }) as never) as fc.Arbitrary<Record<string, unknown>>,
      body: route.body ? valid(route.body as never).map(json) : fc.constant(undefined),
    })
    .map(({ params, query, body }) => ({
      kind: 'valid',
      method: route.method,
      target: targetOf(route.path, params, query),
      headers: body ? [jsonType] : [],
      body,
      expectsRefusal: false,
    }));

/** Valid requests with another header, method, path or query string. */
const oddAttempts = (route: Route, fine: Attempts): Weighted[] => {
  const change = <T>(values: fc.Arbitrary<T>, apply: (attempt: Attempt, value: T) => Partial<Attempt>): Attempts =>
    fc.tuple(fine, values).map(([attempt, value]) => ({ ...attempt, kind: 'path', ...apply(attempt, value) }));
  const headers = change(oddHeader, (attempt, header) => ({ kind: 'headers', headers: [...attempt.headers, header] }));
  const method = change(fc.constantFrom(...methods), (_, value) => ({ method: value }));
  const suffix = change(fc.constantFrom(...suffixes), (attempt, value) => ({ target: pathOf(attempt) + value }));
  const id = change(oddId, (_, value) => ({ target: `/v1${route.path.replace(/:\w+/g, value)}` }));
  return [
    { weight: 3, arbitrary: headers },
    { weight: 1, arbitrary: method },
    { weight: 2, arbitrary: suffix },
    ...(route.params ? [{ weight: 3, arbitrary: id }] : []),
  ];
};

/** Requests with a body that the schema refuses, or that is no JSON. */
const bodyAttempts = ({ body }: Route, fine: Attempts): Weighted[] => {
  if (!body) return [];
  const refusal = fc
    .tuple(fine, violated(body as never))
    .map(([attempt, bad]): Attempt => ({ ...attempt, kind: 'violation', body: json(bad) }));
  const unknown = fine.map(
    (attempt): Attempt => ({ ...attempt, kind: 'violation', body: json({ noSuchMember: 1 }), expectsRefusal: true }),
  );
  const trash = fc
    .tuple(fine, garbage)
    .map(([attempt, bytes]): Attempt => ({ ...attempt, kind: 'garbage', body: bytes }));
  return [
    { weight: 5, arbitrary: refusal },
    { weight: 1, arbitrary: unknown },
    { weight: 5, arbitrary: trash },
  ];
};

/** Requests with a query that the schema refuses. */
const queryAttempts = ({ query }: Route, fine: Attempts): Weighted[] => {
  if (!query) return [];
  const refusal = fc.tuple(fine, violated(query as never)).map(
    ([attempt, bad]): Attempt => ({
      ...attempt,
      kind: 'violation',
      target: pathOf(attempt) + searchOf((bad ?? {}) as Record<string, unknown>),
    }),
  );
  return [{ weight: 4, arbitrary: refusal }];
};

const boundary = 'fuzz-boundary';

const fieldPart = ([name, value]: [string, unknown]) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name.replace(/[\r\n"]/g, '')}"\r\n\r\n${
    typeof value === 'object' ? JSON.stringify(value) : String(value)
  }\r\n`;

/** A form with fields and a file; some of them end too early or repeat a part. */
const formOf = (fields: object, file: { name: string; content: Buffer }, damage: number): Buffer => {
  const name = file.name.replace(/[\r\n"]/g, '_');
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
  const parts = Buffer.concat([
    Buffer.from(Object.entries(fields).map(fieldPart).join('')),
    ...[Buffer.from(head), file.content, Buffer.from('\r\n')],
    ...(damage === 1 ? [Buffer.from(head), file.content, Buffer.from('\r\n')] : []),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  return damage === 2 ? parts.subarray(0, Math.floor(parts.length / 2)) : parts;
};

/** Uploads as forms: files of every format, whole and damaged. */
const formAttempts = ({ upload }: Route, fine: Attempts): Weighted[] => {
  if (!upload) return [];
  const schema = upload as never;
  const fields = fc.oneof({ weight: 4, arbitrary: valid(schema) }, { weight: 1, arbitrary: violated(schema) });
  const forms = fc
    .tuple(fine, fields, fc.record({ name: fileNames, content: contents }), fc.constantFrom(0, 0, 0, 0, 1, 2))
    .map(([attempt, given, file, damage]): Attempt => {
      const body = formOf(typeof given === 'object' && given !== null ? given : {}, file, damage);
      const headers = [`Content-Type: multipart/form-data; boundary=${boundary}`];
      return { ...attempt, kind: 'form', headers, body, expectsRefusal: false };
    });
  return [{ weight: 15, arbitrary: forms }];
};

/** Requests of every kind for one operation. */
export const attempts = (route: Route): Attempts => {
  const fine = validAttempts(route);
  return fc.oneof(
    { weight: 8, arbitrary: fine },
    ...oddAttempts(route, fine),
    ...bodyAttempts(route, fine),
    ...queryAttempts(route, fine),
    ...formAttempts(route, fine),
  );
};

const searchOf = (query: Record<string, unknown>) => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(String(one).toWellFormed())}`),
  );
  return pairs.length > 0 ? `?${pairs.join('&')}` : '';
};

const targetOf = (path: string, params: Record<string, unknown>, query: Record<string, unknown>) =>
  `/v1${path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name] ?? 1)))}${searchOf(query)}`;

/** The bytes of a request. Headers of the attempt replace default headers of the same name. */
export const bytesOf = ({ method, target, headers, body }: Attempt, credential: string): Buffer => {
  const own = headers.map((line) => line.split(':')[0]?.toLowerCase());
  const lines = [
    `${method} ${target.replace(/[^\x21-\x7e]/g, '_')} HTTP/1.1`,
    ...(own.includes('host') ? [] : ['Host: localhost']),
    ...(own.includes(credential.split(':')[0]?.toLowerCase()) ? [] : [credential]),
    ...(body !== undefined && !own.includes('transfer-encoding') ? [`Content-Length: ${body.length}`] : []),
    ...new Map(headers.map((line) => [line.split(':')[0]?.toLowerCase(), line])).values(),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)]);
};
