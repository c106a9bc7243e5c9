import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FuzzRules, fuzzCase } from './fuzz-case.ts';
import { mutators } from './mutators.ts';

const rules: FuzzRules = { seed: 7, mutators: [], words: ['word'], position: 'replace', isMultiple: false };
const parts = [
  { name: 'path', bytes: Buffer.from('/shop?id=17') },
  { name: 'body', bytes: Buffer.from('{"n": 3}') },
];

it('a case follows from seed and number alone', () => {
  const first = fuzzCase(parts, rules, 123);
  for (let n = 0; n < 50; n += 1) fuzzCase(parts, rules, n);
  expect(fuzzCase(parts, rules, 123)).toEqual(first);
  expect(fuzzCase(parts, { ...rules, seed: 8 }, 123)).not.toEqual(first);
});

it('cases differ, use every way and every part', () => {
  const cases = Array.from({ length: 600 }, (_, n) => fuzzCase(parts, rules, n));
  const changes = new Set(cases.flatMap((one) => one.changes));
  expect(changes.size).toBe(Object.keys(mutators).length * parts.length);
  expect(
    new Set(cases.map(({ changed }) => [...changed].map(([name, bytes]) => `${name}${bytes.toString('hex')}`).join()))
      .size,
  ).toBeGreaterThan(400);
});

it('weights decide how often a way is taken', () => {
  const weighted = [
    { name: 'truncate', weight: 9 },
    { name: 'null-byte', weight: 1 },
  ];
  const cases = Array.from({ length: 400 }, (_, n) => fuzzCase(parts, { ...rules, mutators: weighted }, n));
  const cut = cases.filter(({ changes }) => changes[0]?.startsWith('truncate')).length;
  expect(cut).toBeGreaterThan(300);
  expect(cut).toBeLessThan(400);
});

it.each(['prefix', 'postfix', 'infix'] as const)('%s keeps what was there', (position) => {
  const { changed } = fuzzCase(
    [{ name: 'path', bytes: Buffer.from('/ab') }],
    { ...rules, position, mutators: [{ name: 'long-string', weight: 1 }] },
    1,
  );
  expect(changed.get('path')?.length).toBeGreaterThan(200);
});

it('no way makes more than 64 KiB, whatever it is given', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(...Object.keys(mutators)),
      fc.nat(),
      (bytes, name, seed) => {
        const one = fuzzCase(
          [{ name: 'x', bytes: Buffer.from(bytes) }],
          { ...rules, seed, mutators: [{ name, weight: 1 }] },
          0,
        );
        expect(one.changed.get('x')?.length).toBeLessThanOrEqual(65_536 + 300);
      },
    ),
  );
});
