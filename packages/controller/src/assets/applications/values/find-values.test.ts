import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allEncodings, createFinder, type Pattern } from './find-values.ts';

const find = (step: string | Buffer, pattern: string, members: Partial<Pattern> = {}) =>
  createFinder({ pattern, type: 'text', encodings: allEncodings, ...members })(Buffer.from(step), 1000);

const cut = (step: string | Buffer, match: { offset: number; length: number } | undefined) =>
  Buffer.from(step)
    .subarray(match?.offset, (match?.offset ?? 0) + (match?.length ?? 0))
    .toString('latin1');

describe('occurrences of a value', () => {
  test.each([
    ['plain', 'user=anna;', 'anna', 'anna'],
    ['url', 'mail=anna%40app.test&', 'anna@app.test', 'anna%40app.test'],
    ['url', 'name=anna+b&', 'anna b', 'anna+b'],
    ['url', 'n=%61nna', 'anna', '%61nna'],
    ['base64', 'Authorization: Basic YW5uYTpzZWNyZXQ=\r\n', 'anna:secret', 'YW5uYTpzZWNyZXQ='],
    ['base64', 'Authorization: Basic YW5uYTpzZWNyZXQ=\r\n', 'anna', 'YW5uYT'],
    ['base64', '/path/YW5uYTpzZWNyZXQ', 'secret', 'pzZWNyZXQ'],
    ['hex', 'id=616E6e61;', 'anna', '616E6e61'],
    ['hex', 'id=f616e6e61;', 'anna', '616e6e61'],
    [
      'utf16le',
      Buffer.from('xänna', 'utf16le').toString('latin1'),
      'änna',
      Buffer.from('änna', 'utf16le').toString('latin1'),
    ],
  ])('are found in %s', (encoding, step, pattern, expected) => {
    const bytes = Buffer.from(step, 'latin1');
    const match = find(bytes, pattern).find((found) => found.encoding === encoding);
    expect(match).toBeDefined();
    expect(cut(bytes, match)).toBe(expected);
  });

  test('report when a range shares bits with its neighbours', () => {
    expect(find('YW5uYTpzZWNyZXQ=', 'anna:secret')).toMatchObject([{ exact: true }]);
    expect(find('YW5uYTpzZWNyZXQ=', 'anna')).toMatchObject([{ exact: false }]);
    expect(find('YWJjZGVm', 'abc')).toMatchObject([{ exact: true, length: 4 }]);
  });

  test('are reported once, with the simplest encoding', () => {
    expect(find('anna anna', 'anna').map(({ encoding, offset }) => `${encoding} ${offset}`)).toEqual([
      'plain 0',
      'plain 5',
    ]);
    expect(find('anna', 'anna', { encodings: ['url'] })).toMatchObject([{ encoding: 'url', offset: 0, length: 4 }]);
  });

  test('may be patterns or bytes', () => {
    expect(find('a=12&b=345', '\\d+', { type: 'regex', encodings: ['plain'] })).toHaveLength(2);
    expect(find('id=313233', '12', { type: 'regex' })).toMatchObject([{ encoding: 'hex', offset: 3, length: 4 }]);
    expect(find(Buffer.of(1, 0xff, 0xfe, 2), 'ff:FE', { type: 'hex' })).toMatchObject([{ offset: 1, length: 2 }]);
    expect(() => find('', 'xyz', { type: 'hex' })).toThrow(SyntaxError);
    expect(() => find('', '(', { type: 'regex' })).toThrow(SyntaxError);
    expect(createFinder({ pattern: 'a', type: 'text', encodings: ['plain'] })(Buffer.from('aaaa'), 3)).toHaveLength(3);
  });

  test('are found wherever a value was coded into a text', () => {
    const words = fc.string({ unit: fc.constantFrom(...'abcxyz0189'), minLength: 4, maxLength: 20 });
    const coded: Record<string, (value: string) => string> = {
      plain: (value) => value,
      url: (value) => Buffer.from(value).toString('hex').replace(/../g, '%$&'),
      base64: (value) => Buffer.from(value).toString('base64'),
      hex: (value) => Buffer.from(value).toString('hex'),
      utf16le: (value) => Buffer.from(value, 'utf16le').toString('latin1'),
    };
    fc.assert(
      fc.property(words, words, words, fc.constantFrom(...allEncodings), (value, before, after, encoding) => {
        const form = coded[encoding]?.(value) ?? '';
        const step = Buffer.from(`${before} ${form} ${after}`, 'latin1');
        const offset = before.length + 1;
        const ranges = find(step, value).map((match) => [match.offset, match.length]);
        expect(ranges).toContainEqual([offset, form.length]);
      }),
    );
  });

  test('inside a longer base64 text are found at any offset', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 9 }), fc.string({ maxLength: 9 }), (before, after) => {
        const step = `x=${Buffer.from(`${before}needle-1${after}`).toString('base64')}`;
        const match = find(step, 'needle-1').find(({ encoding }) => encoding === 'base64');
        expect(match).toBeDefined();
      }),
    );
  });
});
