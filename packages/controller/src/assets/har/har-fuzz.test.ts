import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileHar } from './compile-har.ts';
import { HarError } from './har-warnings.ts';
import { harOf, paramsOf } from './testing/har-fixture.ts';

const valid = JSON.parse(
  harOf(
    {
      url: 'https://a.test/x?token=1',
      headers: { Cookie: 'a=b', Accept: '*/*' },
      post: { mimeType: 'application/json', text: '{}' },
      answerHeaders: [['Set-Cookie', 'a=b']],
      text: 'x',
    },
    { url: 'https://a.test/y', atMs: 900, text: Buffer.of(1, 2) },
  ),
) as object;

/** Paths to every member of a document. */
const pathsOf = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
  typeof value !== 'object' || value === null
    ? [path]
    : [path, ...Object.entries(value).flatMap(([name, part]) => pathsOf(part, [...path, name]))];

const replaced = (value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown => {
  if (name === undefined) return by;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[name] = replaced(copy[name], rest, by);
  return copy;
};

describe('a recording with anything in it', () => {
  it('is compiled or refused with a reason, and what is compiled can be sent', () => {
    let compiled = 0;
    const anything = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom(-1, 1e308, ''),
    );
    fc.assert(
      fc.property(fc.constantFrom(...pathsOf(valid)), anything, (path, by) => {
        try {
          const { script } = compileHar(JSON.stringify(replaced(valid, path, by)), paramsOf());
          compiled++;
          for (const { path: asked, headers } of script.entries) {
            expect(asked.join('')).toMatch(/^\/[\x21-\x7e]*$/);
            for (const { name, value } of headers) {
              expect(`${name}: ${value.join('')}`).toMatch(/^[!-9;-~]+: [\t\x20-\x7e\x80-\xff]*$/);
            }
          }
        } catch (error) {
          if (!(error instanceof HarError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
    expect(compiled).toBeGreaterThan(100);
  });
});
