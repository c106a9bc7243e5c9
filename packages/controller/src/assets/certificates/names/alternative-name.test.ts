import { describe, expect, test } from 'vitest';
import { alternativeNameText, parseAlternativeNames } from './alternative-name.ts';

describe('an alternative name', () => {
  test.each([
    ['www.example.test', 'DNS:www.example.test'],
    ['*.example.test', 'DNS:*.example.test'],
    ['_service.example.test', 'DNS:_service.example.test'],
    ['bücher.example', 'DNS:xn--bcher-kva.example'],
    ['*.bücher.example', 'DNS:*.xn--bcher-kva.example'],
    ['localhost', 'DNS:localhost'],
    ['10.0.0.1', 'IP:10.0.0.1'],
    ['2001:db8::1', 'IP:2001:db8::1'],
    ['IP:::1', 'IP:::1'],
    ['dns:10.example', 'DNS:10.example'],
    ['user@example.test', 'email:user@example.test'],
    ['EMAIL:user@example.test', 'email:user@example.test'],
    ['https://example.test/path', 'URI:https://example.test/path'],
    ['URI:urn:example:a', 'URI:urn:example:a'],
  ])('%s reads as %s', (text, shown) => {
    const [name] = parseAlternativeNames([text]);
    expect(name && alternativeNameText(name)).toBe(shown);
    expect(parseAlternativeNames([shown]).map(alternativeNameText)).toEqual([shown]);
  });

  test.each([
    '',
    'two words',
    'a..b',
    '-a.test',
    'a.*.test',
    `${'x'.repeat(64)}.test`,
    'a\u0000b.test',
    'IP:300.1.1.1',
    'IP:example.test',
    'fe80::1%eth0',
    'email:nobody',
    'URI:nothing',
    '@',
  ])('%j is refused with its place', (text) => {
    expect(() => parseAlternativeNames(['good.test', text])).toThrow(
      expect.objectContaining({ code: 'BAD_SAN', path: '/generate/san/1' }),
    );
  });

  test('there may be ten thousand of them and no more', () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `n${i}.test`);
    expect(parseAlternativeNames(names)).toHaveLength(10_000);
    expect(() => parseAlternativeNames([...names, 'one.test'])).toThrow(expect.objectContaining({ code: 'BAD_SAN' }));
  });
});
