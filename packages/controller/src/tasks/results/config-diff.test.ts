import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { configDiff } from './compare-runs.ts';

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

/** Puts what the difference says into a copy; what the other side lacks is taken away. */
const applied = (base: unknown, differences: ReturnType<typeof configDiff>): unknown => {
  const holder = { root: structuredClone(base) };
  for (const { path, target } of differences) {
    const keys = ['root', ...path.split('/').slice(1)].map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop() as string;
    const parent = keys.reduce<Record<string, unknown>>((node, key) => node[key] as never, holder);
    parent[last] = target;
  }
  return holder.root;
};

describe('differences of configurations', () => {
  it('are none between equal ones, and lead from one to the other', () => {
    fc.assert(
      fc.property(json, json, (base, target) => {
        expect(configDiff(base, structuredClone(base))).toEqual([]);
        // Lists and objects of the same members: others would need to be taken away, not only set.
        fc.pre(JSON.stringify(shapeOf(base)) === JSON.stringify(shapeOf(target)));
        expect(applied(base, configDiff(base, target))).toEqual(target);
      }),
      { numRuns: 50 },
    );
  });

  it('name places by JSON pointer, and what is missing as null', () => {
    const base = { a: [{ 'x/y': 1, '~': 2 }, 5], b: { c: 1 }, d: 'same' };
    const target = { a: [{ 'x/y': 3, '~': 4 }], b: [1], d: 'same', e: true };
    expect(configDiff(base, target)).toEqual([
      { path: '/a/0/x~1y', base: 1, target: 3 },
      { path: '/a/0/~0', base: 2, target: 4 },
      { path: '/a/1', base: 5, target: null },
      { path: '/b', base: { c: 1 }, target: [1] },
      { path: '/e', base: null, target: true },
    ]);
  });

  it('are at most a thousand', () => {
    const long = (value: number) => Array.from({ length: 5000 }, () => value);
    expect(configDiff(long(1), long(2))).toHaveLength(1000);
  });
});

const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shapeOf(part)]));
};
