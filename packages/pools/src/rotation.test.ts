import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRotation, type RotationChoice } from './rotation.ts';

const pool = { addresses: 3n, ports: 2, seed: 1 };
const text = ({ address, port }: RotationChoice): string => `${address}:${port}`;

describe('rotation over addresses and ports', () => {
  test('round robin changes the address each time', () => {
    const rotation = createRotation('roundRobin', pool);
    expect([0, 1, 2, 3, 4, 5, 6].map((n) => text(rotation(0, n)))).toEqual([
      '0:0',
      '1:0',
      '2:0',
      '0:1',
      '1:1',
      '2:1',
      '0:0',
    ]);
  });

  test('sequential uses up the ports of an address first', () => {
    const rotation = createRotation('sequential', pool);
    expect([0, 1, 2, 3, 4, 5, 6].map((n) => text(rotation(0, n)))).toEqual([
      '0:0',
      '0:1',
      '1:0',
      '1:1',
      '2:0',
      '2:1',
      '0:0',
    ]);
  });

  test('sticky keeps the address of a user', () => {
    const rotation = createRotation('sticky', pool);
    expect([0, 1, 2, 3].map((n) => text(rotation(4, n)))).toEqual(['1:0', '1:1', '1:0', '1:1']);
  });

  test('round robin and sequential use every pair once before any repeats', () => {
    const modes = fc.constantFrom('roundRobin' as const, 'sequential' as const);
    fc.assert(
      fc.property(modes, fc.bigInt({ min: 1n, max: 9n }), fc.integer({ min: 1, max: 9 }), (mode, addresses, ports) => {
        const rotation = createRotation(mode, { addresses, ports, seed: 1 });
        const count = Number(addresses) * ports;
        const pairs = Array.from({ length: count }, (_, n) => text(rotation(0, n)));
        expect(new Set(pairs).size).toBe(count);
        expect(text(rotation(0, count))).toBe(pairs[0]);
      }),
    );
  });

  test('random stays inside the pool and is the same for the same seed', () => {
    const rotation = createRotation('random', { addresses: 2n ** 64n, ports: 100, seed: 5 });
    const again = createRotation('random', { addresses: 2n ** 64n, ports: 100, seed: 5 });
    const choices = Array.from({ length: 200 }, (_, n) => rotation(n % 7, n));
    expect(choices.every(({ address, port }) => address >= 0n && address < 2n ** 64n && port >= 0 && port < 100)).toBe(
      true,
    );
    expect(choices).toEqual(Array.from({ length: 200 }, (_, n) => again(n % 7, n)));
    expect(new Set(choices.map(text)).size).toBeGreaterThan(190);
  });

  test('over nothing does not exist', () => {
    expect(() => createRotation('random', { addresses: 0n, ports: 1, seed: 1 })).toThrow(RangeError);
  });
});
