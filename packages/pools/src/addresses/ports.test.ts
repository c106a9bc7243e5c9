import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findPorts, parsePorts } from './ports.ts';

describe('port lists', () => {
  test('are the ports of their items, ascending and once each', () => {
    const item = fc.tuple(fc.integer({ min: 1, max: 65_535 }), fc.nat({ max: 40 }));
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 6 }), (items) => {
        const ranges = items.map(([first, length]) => ({ first, last: Math.min(65_535, first + length) }));
        const ports = parsePorts(
          ranges.map(({ first, last }) => (first === last ? first : `${first}-${last}`)).join(', '),
        );
        const expected = new Set<number>();
        for (const { first, last } of ranges) for (let port = first; port <= last; port++) expected.add(port);
        const sorted = [...expected].sort((a, b) => a - b);
        expect(Array.from({ length: ports.size }, (_, i) => ports.at(i))).toEqual(sorted);
        expect(parsePorts(ports.text).text).toBe(ports.text);
        expect(sorted.every((port) => ports.has(port))).toBe(true);
        expect(ports.has(0)).toBe(false);
      }),
    );
  });

  test('are written merged', () => {
    expect(parsePorts('8000-8100,80,8050-8200,81').text).toBe('80-81,8000-8200');
  });

  test.each(['', '0', '65536', '80,', '80-79', '80-', 'http', '80;81', '-80', '1-2-3'])(
    '"%s" is no port list',
    (text) => {
      expect(findPorts(text)).toBeUndefined();
      expect(() => parsePorts(text)).toThrow(RangeError);
    },
  );

  test('end after the last port', () => {
    expect(() => parsePorts('80').at(1)).toThrow(RangeError);
  });
});
