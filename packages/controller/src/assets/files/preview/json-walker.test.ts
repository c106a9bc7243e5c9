import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonError, type JsonScalar, JsonWalker } from './json-walker.ts';

/** Puts the document together again from what is visited. */
const rebuild = (text: string, chunkBytes: number) => {
  const root: { value?: unknown } = {};
  const assign = (path: readonly (string | number)[], value: unknown) => {
    // biome-ignore lint/suspicious/noExplicitAny: walks whatever was built so far
    let target: any = root;
    for (const step of ['value', ...path].slice(0, -1)) target = target[step];
    Object.defineProperty(target, ['value', ...path].at(-1) as string, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  };
  const walker = new JsonWalker({
    open: (path, kind) => assign(path, kind === 'array' ? [] : {}),
    value: (path, value: JsonScalar) => assign(path, value),
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) walker.write(bytes.subarray(at, at + chunkBytes));
  walker.end();
  return root.value;
};

test('every document is visited whole, wherever its chunks are torn', () => {
  fc.assert(
    fc.property(
      fc.json({ depthSize: 'medium' }),
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      (text, chunk, isLoose) => {
        const given = isLoose ? JSON.stringify(JSON.parse(text), null, 1) : text;
        expect(JSON.stringify(rebuild(given, chunk))).toBe(JSON.stringify(JSON.parse(given)));
      },
    ),
  );
});

test.each([
  '',
  '{',
  '[1',
  '"x',
  '{"a"}',
  '{"a":}',
  '{a:1}',
  '[1,]',
  '{"a":1,}',
  '[1 2]',
  '[}',
  '1 2',
  'tru',
  '[+]',
  '[1]]',
  ',',
  '-',
])('%j is not JSON', (text) => {
  expect(() => rebuild(text, 3)).toThrow(JsonError);
});

test('long texts are cut and deep nesting is refused', () => {
  expect((rebuild(`{"a":"${'x'.repeat(9000)}","b":1}`, 100) as { a: string }).a).toHaveLength(4096);
  const cutInEscape = rebuild(`["${'\\u00e9'.repeat(2000)}"]`, 100) as string[];
  expect(cutInEscape[0]?.length).toBeLessThanOrEqual(4096);
  expect(() => rebuild('['.repeat(201), 100)).toThrow('nested too deeply');
});

test('random bytes end in a JsonError or in an end, never in another failure', () => {
  const marks = fc.constantFrom(...'{}[]:,"\\ 1-etrufalsn\n'.split(''));
  fc.assert(
    fc.property(fc.array(marks, { maxLength: 60 }), (letters) => {
      let isJson = true;
      try {
        rebuild(letters.join(''), 5);
      } catch (error) {
        expect(error).toBeInstanceOf(JsonError);
        isJson = false;
      }
      if (isJson) return;
      expect(() => JSON.parse(letters.join(''))).toThrow();
    }),
    { numRuns: 2000 },
  );
});
