import type { Route } from '@rushhour/contract';
import fc from 'fast-check';
import { garbage, oddHeader, oddId, valid, violated } from './arbitrary.ts';

export interface Attempt {
  kind: 'valid' | 'violation' | 'garbage' | 'headers' | 'path';
  method: string;
  target: string;
  headers: string[];
  body: Buffer | undefined;
  /** The schema of the operation always refuses this. */
  expectsRefusal: boolean;
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '');
const jsonType = 'Content-Type: application/json';

/** Requests of every kind for one operation. */
export const attempts = (route: Route): fc.Arbitrary<Attempt> => {
  const params = valid((route.params ?? { type: 'object' }) as never) as fc.Arbitrary<Record<string, unknown>>;
  const query = valid((route.query ?? { type: 'object' }) as never) as fc.Arbitrary<Record<string, unknown>>;
  const body = route.body ? valid(route.body as never).map(json) : fc.constant(undefined);
  const fine = fc.record({ params, query, body }).map(
    ({ params, query, body }): Attempt => ({
      kind: 'valid',
      method: route.method,
      target: targetOf(route.path, params, query),
      headers: body ? [jsonType] : [],
      body,
      expectsRefusal: false,
    }),
  );

  const odd: { arbitrary: fc.Arbitrary<Attempt>; weight: number }[] = [
    {
      weight: 3,
      arbitrary: fc
        .tuple(fine, oddHeader)
        .map(([attempt, header]): Attempt => ({ ...attempt, kind: 'headers', headers: [...attempt.headers, header] })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fine,
          fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'BREW'),
        )
        .map(([attempt, method]): Attempt => ({ ...attempt, kind: 'path', method })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fine,
          fc.constantFrom(
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
          ),
        )
        .map(
          ([attempt, suffix]): Attempt => ({ ...attempt, kind: 'path', target: attempt.target.split('?')[0] + suffix }),
        ),
    },
  ];
  if (route.params) {
    odd.push({
      weight: 3,
      arbitrary: fc
        .tuple(fine, oddId)
        .map(
          ([attempt, id]): Attempt => ({ ...attempt, kind: 'path', target: `/v1${route.path.replace(/:\w+/g, id)}` }),
        ),
    });
  }
  if (route.body) {
    const refusal = fc
      .tuple(fine, violated(route.body as never))
      .map(([attempt, bad]): Attempt => ({ ...attempt, kind: 'violation', body: json(bad) }));
    const unknown = fine.map(
      (attempt): Attempt => ({ ...attempt, kind: 'violation', body: json({ noSuchMember: 1 }), expectsRefusal: true }),
    );
    const trash = fc
      .tuple(fine, garbage)
      .map(([attempt, bytes]): Attempt => ({ ...attempt, kind: 'garbage', body: bytes }));
    odd.push({ weight: 5, arbitrary: refusal }, { weight: 1, arbitrary: unknown }, { weight: 5, arbitrary: trash });
  }
  if (route.query) {
    const refusal = fc.tuple(fine, violated(route.query as never)).map(
      ([attempt, bad]): Attempt => ({
        ...attempt,
        kind: 'violation',
        target: attempt.target.split('?')[0] + searchOf((bad ?? {}) as Record<string, unknown>),
      }),
    );
    odd.push({ weight: 4, arbitrary: refusal });
  }
  return fc.oneof({ weight: 8, arbitrary: fine }, ...odd);
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
