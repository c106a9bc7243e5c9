import { describe, expect, test } from 'vitest';
import { createDraw } from './draw.ts';

const finished = (value: string, rule: object): string | undefined =>
  createDraw({ type: 'list', values: [value], config: { value: rule } }, { seed: 1 }).value({});

describe('cells before they are used', () => {
  test.each([
    [' a ', {}, ' a '],
    [' a ', { trim: true }, 'a'],
    ['abcdef', { maxLength: 3 }, 'abc'],
    ['  abcdef', { trim: true, maxLength: '3' }, 'abc'],
    ['🙂🙂🙂', { maxLength: 2 }, '🙂🙂'],
    ['a b&c/é', { encode: 'url' }, 'a%20b%26c%2F%C3%A9'],
    ['é', { encode: 'base64' }, 'w6k='],
    ['é', { encode: 'hex' }, 'c3a9'],
    [`<a href="x">'&'</a>`, { encode: 'html' }, '&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;'],
    ['say "hi"\n\\', { encode: 'json' }, 'say \\"hi\\"\\n\\\\'],
    ['abcdef', { maxLength: 2, encode: 'hex' }, '6162'],
    ['\ud800', { encode: 'url' }, '%EF%BF%BD'],
  ])('%j with %o becomes %j', (value, rule, expected) => {
    expect(finished(value, rule)).toBe(expected);
  });
});
