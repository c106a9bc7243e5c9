import { describe, expect, it } from 'vitest';
import { stepOf, valueAt, withValues } from './json-pointer.ts';

describe('a JSON pointer', () => {
  it('finds members of objects and arrays, escaped names too', () => {
    const document = { a: [{ 'b/c': { '~d': 1 } }] };
    expect(valueAt(document, `/a/0${stepOf('b/c')}${stepOf('~d')}`)).toBe(1);
    expect(valueAt(document, '/a/1/x')).toBeUndefined();
    expect(valueAt(document, '')).toBe(document);
  });

  it('does not see what objects inherit', () => {
    expect(valueAt({ a: {} }, '/a/constructor')).toBeUndefined();
    expect(valueAt({ a: {} }, '/a/__proto__')).toBeUndefined();
  });

  it('says where a copy differs and leaves the original alone', () => {
    const document = { a: [1, 2], b: { c: 'secret', d: 4 } };
    expect(
      withValues(document, [
        ['/a/1', 5],
        ['/b/c', undefined],
      ]),
    ).toEqual({ a: [1, 5], b: { d: 4 } });
    expect(document).toEqual({ a: [1, 2], b: { c: 'secret', d: 4 } });
  });

  it('takes items out of lists by the places they had', () => {
    const emptied = withValues({ a: [[1, 2], [3], 4] }, [
      ['/a/0/0', undefined],
      ['/a/1/0', undefined],
      ['/a/2', undefined],
    ]);
    expect(emptied).toEqual({ a: [[2], []] });
  });

  it('refuses to put something where nothing was', () => {
    expect(() => withValues({ a: {} }, [['/a/b', 1]])).toThrow('/a/b');
  });
});
