import { describe, expect, it } from 'vitest';
import { findInJson, findJsonPath } from './json-path.ts';

const document = {
  token: 'abc',
  user: { id: 7, 'full name': "O'Neil", tags: ['a', 'b'] },
  items: [{ sku: 1 }, { sku: 2, csrf: { deep: 'x' } }],
  none: null,
};

describe('a JSON path', () => {
  it.each([
    ['$.token', 'abc'],
    ['token', 'abc'],
    ['$.user.id', '7'],
    ["$.user['full name']", "O'Neil"],
    ['$["user"]["tags"][1]', 'b'],
    ['$.user.tags[-1]', 'b'],
    ['$.items[*].sku', '1'],
    ['$.items.*.csrf.deep', 'x'],
    ['$..deep', 'x'],
    ['$..csrf', '{"deep":"x"}'],
    ['$.none', undefined],
    ['$.user.missing', undefined],
    ['$.token[0]', undefined],
    ['$.constructor', undefined],
  ])('%s leads to %s', (path, value) => {
    expect(findInJson(document, findJsonPath(path) ?? [])).toBe(value);
  });

  it.each(['$', '', '$.', '$.a[', "$['a", '$.a[b]', '$..'])('is not "%s"', (text) => {
    expect(findJsonPath(text)).toBeUndefined();
  });

  it('searches documents of any depth', () => {
    const nested = JSON.parse(`${'{"a":'.repeat(20_000)}{"found":1}${'}'.repeat(20_000)}`);
    expect(findInJson(nested, findJsonPath('$..found') ?? [])).toBe('1');
  });
});
