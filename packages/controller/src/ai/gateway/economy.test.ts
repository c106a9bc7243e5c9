import fc from 'fast-check';
import { expect, it } from 'vitest';
import { capped, partAt } from './economy.ts';

const cursor = { count: 1, currentPage: 1, totalPages: 1, totalRows: 1 };

it('what fits stays as it is; what does not is cut and says so', () => {
  const small = { cursor, data: { a: 1 } };
  expect(capped(small, 1000)).toBe(small);
  const list = capped({ cursor, data: Array.from({ length: 1000 }, (_, id) => ({ id })) }, 2000) as {
    data: unknown[];
    truncated?: boolean;
  };
  expect(list.truncated).toBe(true);
  expect(list.data.length).toBeGreaterThan(10);
  const one = capped({ cursor, data: { text: 'x'.repeat(5000), kept: 1 } }, 2000);
  expect(one.data).toMatchObject({ kept: 1, truncated: true });
});

it('nothing is larger than allowed', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (data) => {
      const grown = { cursor, data: [data, 'y'.repeat(3000), { deep: [data, 'z'.repeat(3000)] }] };
      expect(JSON.stringify(capped(grown, 1500)).length).toBeLessThanOrEqual(1500);
    }),
    { numRuns: 50 },
  );
});

it('a pointer names a part, or nothing', () => {
  const value = { a: [{ 'b/c': 1 }] };
  expect(partAt(value, '/a/0/b~1c')).toBe(1);
  expect(partAt(value, '')).toBe(value);
  expect(() => partAt(value, '/a/1')).toThrow(expect.objectContaining({ code: 'NO_SUCH_PATH' }));
  expect(() => partAt(value, '/a/length')).toThrow();
});
