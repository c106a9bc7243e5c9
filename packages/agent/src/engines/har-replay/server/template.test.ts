import type { HarWriting } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { headerText, render } from './template.ts';

describe('a template', () => {
  it('contains the recorded value until a value is set', () => {
    const template = ['/x?t=', { slot: 0, or: 'recorded%20text', as: 'url' as const }, '&u'];
    expect(render(template, [undefined])).toBe('/x?t=recorded%20text&u');
    expect(render(template, ['a b&c'])).toBe('/x?t=a%20b%26c&u');
  });

  it.each<[HarWriting, string, string]>([
    ['plain', 'a "b"', 'a "b"'],
    ['url', 'a/b ü', 'a%2Fb%20%C3%BC'],
    ['address', '/a?b=c d\r\nX: 1%20', '/a?b=c%20d%0D%0AX:%201%20'],
    ['json', 'a"b\n', 'a\\"b\\n'],
    ['url', '\ud800', '%EF%BF%BD'],
  ])('encodes values by context: %s', (as, value, written) => {
    expect(render([{ slot: 0, or: '', as }], [value])).toBe(written);
  });

  it('removes line breaks from header values', () => {
    expect(headerText('a\r\nX-Evil: 1\u0000\tb')).toBe('aX-Evil: 1\tb');
    expect(headerText('☃')).toBe(Buffer.from('☃').toString('latin1'));
  });
});
