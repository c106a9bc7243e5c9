import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DraftError } from '../values/issue.ts';
import type { DictionaryDraft } from './dictionary-draft.ts';
import { createDraw, type Draw } from './draw.ts';
import { selections } from './selection-rule.ts';

const letters = (count: number): string[] => Array.from({ length: count }, (_, i) => `v${i}`);
const list = (count: number, selection: string, $selection: object = {}): DictionaryDraft => ({
  type: 'list',
  selection,
  values: letters(count),
  config: { $selection },
});
const drawn = (draw: Draw, count: number, users = 1): (string | undefined)[] =>
  Array.from({ length: count }, (_, n) => draw.value({ user: n % users, iteration: Math.floor(n / users) }));

describe('drawing from a dictionary', () => {
  test('is the same in two processes, for every selection', () => {
    fc.assert(
      fc.property(fc.constantFrom(...selections), fc.integer(), fc.nat({ max: 3 }), (selection, seed, agentIndex) => {
        const dictionary = list(
          20,
          selection,
          selection === 'weighted' ? { weights: letters(20).map((_, i) => i) } : {},
        );
        const options = { seed, users: 4, agentIndex, agentCount: 4 };
        const [here, there] = [createDraw(dictionary, options), createDraw(structuredClone(dictionary), options)];
        const backwards = Array.from({ length: 40 }, (_, n) => 39 - n).map((n) =>
          there.value({ user: n % 4, iteration: Math.floor(n / 4) }),
        );
        expect(drawn(here, 40, 4)).toEqual(backwards.toReversed());
      }),
    );
  });

  test('sequential goes through the rows over all users, and wraps', () => {
    const draw = createDraw(list(3, 'sequential'), { seed: 1, users: 2 });
    expect(drawn(draw, 7, 2)).toEqual(['v0', 'v1', 'v2', 'v0', 'v1', 'v2', 'v0']);
  });

  test('the end is wrap, stop or last', () => {
    const ending = (onEnd: string): unknown[] => drawn(createDraw(list(2, 'sequential', { onEnd }), { seed: 1 }), 4);
    expect(ending('wrap')).toEqual(['v0', 'v1', 'v0', 'v1']);
    expect(ending('stop')).toEqual(['v0', 'v1', undefined, undefined]);
    expect(ending('last')).toEqual(['v0', 'v1', 'v1', 'v1']);
  });

  test('shuffle yields each row once per pass, in another order each pass', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer(), (count, seed) => {
        const draw = createDraw(list(count, 'shuffle'), { seed });
        const values = drawn(draw, count * 3);
        for (let pass = 0; pass < 3; pass++) {
          expect(new Set(values.slice(pass * count, (pass + 1) * count))).toEqual(new Set(letters(count)));
        }
      }),
    );
    const long = drawn(createDraw(list(30, 'shuffle'), { seed: 1 }), 60);
    expect(long.slice(0, 30)).not.toEqual(long.slice(30));
    expect(long.slice(0, 30)).not.toEqual(letters(30));
  });

  test('unique never yields a row twice, over all agents and users, and yields them all', () => {
    const sizes = { rows: fc.integer({ min: 1, max: 80 }), agents: fc.integer({ min: 1, max: 5 }) };
    fc.assert(
      fc.property(
        sizes.rows,
        sizes.agents,
        fc.integer({ min: 1, max: 4 }),
        fc.integer(),
        (rows, agentCount, users, seed) => {
          const values = Array.from({ length: agentCount }, (_, agentIndex) =>
            drawn(createDraw(list(rows, 'unique'), { seed, users, agentIndex, agentCount }), rows + users, users),
          ).flat();
          const found = values.filter((value) => value !== undefined);
          expect(new Set(found).size).toBe(found.length);
          expect(found.toSorted()).toEqual(letters(rows).toSorted());
        },
      ),
    );
  });

  test('unique random values do not repeat either', () => {
    const dictionary = {
      type: 'random',
      selection: 'unique',
      config: { value: { kind: 'integer', min: '1', max: '500' } },
    };
    const values = [0, 1, 2].flatMap((agentIndex) =>
      drawn(createDraw(dictionary, { seed: 3, agentIndex, agentCount: 3 }), 200),
    );
    const found = values.filter((value) => value !== undefined);
    expect(found).toHaveLength(500);
    expect(new Set(found).size).toBe(500);
    expect(values.slice(0, 5)).not.toEqual(['1', '4', '7', '10', '13']);
  });

  test('weighted follows the weights, given or in a column', () => {
    const weights = [5, 0, 1, 4];
    const table = {
      type: 'table',
      selection: 'weighted',
      columns: ['name', 'w'],
      rows: weights.map((weight, i) => [`v${i}`, String(weight)]),
      config: { $selection: { weightColumn: 'w' }, w: { hidden: true } },
    };
    for (const dictionary of [list(4, 'weighted', { weights }), table]) {
      const values = drawn(createDraw(dictionary, { seed: 9 }), 10_000);
      const share = (name: string): number => values.filter((value) => value === name).length / 10_000;
      expect(share('v0')).toBeCloseTo(0.5, 1);
      expect(share('v1')).toBe(0);
      expect(share('v2')).toBeCloseTo(0.1, 1);
      expect(share('v3')).toBeCloseTo(0.4, 1);
    }
  });

  test('pinned keeps a row per user', () => {
    const draw = createDraw(list(1000, 'pinned'), { seed: 1 });
    const rowsOf = (user: number): Set<unknown> =>
      new Set([0, 1, 2, 3].map((iteration) => draw.value({ user, iteration })));
    expect(rowsOf(5).size).toBe(1);
    expect(new Set(Array.from({ length: 20 }, (_, user) => draw.value({ user }))).size).toBeGreaterThan(15);
  });

  test('random draws every row eventually, not in sequence', () => {
    const values = drawn(createDraw(list(5, 'random'), { seed: 1 }), 200);
    expect(new Set(values)).toEqual(new Set(letters(5)));
    expect(values.slice(0, 5)).not.toEqual(letters(5));
  });

  test('the seed of the dictionary wins over the seed of the task', () => {
    const own = list(1000, 'random', { seed: 7 });
    expect(drawn(createDraw(own, { seed: 1 }), 9)).toEqual(drawn(createDraw(own, { seed: 2 }), 9));
    const plain = list(1000, 'random');
    expect(drawn(createDraw(plain, { seed: 1 }), 9)).not.toEqual(drawn(createDraw(plain, { seed: 2 }), 9));
    expect(drawn(createDraw({ ...plain, id: 1 }, { seed: 1 }), 9)).not.toEqual(
      drawn(createDraw({ ...plain, id: 2 }, { seed: 1 }), 9),
    );
  });

  test('offset and limit choose a window', () => {
    expect(drawn(createDraw(list(10, 'sequential', { offset: 3, limit: 2 }), { seed: 1 }), 3)).toEqual([
      'v3',
      'v4',
      'v3',
    ]);
    expect(createDraw(list(10, 'sequential', { offset: 8, limit: 5 }), { seed: 1 }).size).toBe(2n);
    expect(createDraw(list(2, 'sequential', { offset: 2 }), { seed: 1 }).value({})).toBeUndefined();
  });

  test('weights keep to their rows under an offset', () => {
    const draw = createDraw(list(3, 'weighted', { weights: [9, 0, 1], offset: 1 }), { seed: 1 });
    expect(new Set(drawn(draw, 50))).toEqual(new Set(['v2']));
  });

  test('agents that shard see disjoint rows, others all', () => {
    const seen = (shard: boolean, agentIndex: number): unknown[] =>
      drawn(createDraw(list(5, 'sequential', { shard }), { seed: 1, agentIndex, agentCount: 2 }), 3);
    expect(seen(true, 0)).toEqual(['v0', 'v2', 'v4']);
    expect(seen(true, 1)).toEqual(['v1', 'v3', 'v1']);
    expect(seen(false, 1)).toEqual(['v0', 'v1', 'v2']);
    const spare = createDraw(list(1, 'sequential', { shard: true }), { seed: 1, agentIndex: 1, agentCount: 2 });
    expect(spare.value({})).toBeUndefined();
  });

  test.each([
    ['task', [1, 1, 1, 1]],
    ['user', [1, 2, 1, 1]],
    ['session', [1, 2, 2, 1]],
    ['request', [1, 2, 2, 2]],
  ] as const)('scope %s determines how long a row lasts', (scope, expected) => {
    const positions = [{}, { user: 1 }, { iteration: 1 }, { request: 1 }];
    for (const selection of ['sequential', 'random', 'shuffle']) {
      const draw = createDraw(list(100_000, selection, { scope }), { seed: 4, users: 2, requests: 2 });
      const first = draw.value({});
      expect(positions.map((position) => (draw.value(position) === first ? 1 : 2))).toEqual(expected);
    }
  });

  test('scope task is one row for all agents, scope agent one for each', () => {
    const values = (scope: string, selection: string): Set<unknown> =>
      new Set(
        [0, 1, 2].map((agentIndex) =>
          createDraw(list(100_000, selection, { scope, shard: true }), { seed: 4, agentIndex, agentCount: 3 }).value({
            iteration: 7,
          }),
        ),
      );
    expect(values('task', 'random').size).toBe(1);
    expect(values('task', 'unique').size).toBe(1);
    expect(values('agent', 'random').size).toBe(3);
    expect(values('agent', 'sequential').size).toBe(3);
  });

  test('the cells of a row stay together, hidden columns aside', () => {
    const dictionary = {
      type: 'table',
      selection: 'shuffle',
      columns: ['login', 'password', 'w'],
      rows: letters(50).map((name, i) => [name, `pw-${name}`, String(i)]),
      config: { w: { hidden: true } },
    };
    const draw = createDraw(dictionary, { seed: 1 });
    expect(draw.columns).toEqual(['login', 'password']);
    for (let iteration = 0; iteration < 60; iteration++) {
      const [login, password, ...more] = draw.row({ iteration }) ?? [];
      expect(password).toBe(`pw-${login}`);
      expect(more).toEqual([]);
      expect(draw.value({ iteration }, 'password')).toBe(password);
    }
    expect(() => draw.value({}, 'w')).toThrow(RangeError);
  });

  test('a file dictionary uses the given rows', () => {
    const dictionary = { type: 'file', selection: 'sequential', config: { $source: { fileID: 12, header: true } } };
    const rows = { count: 2_000_000, columns: ['id', 'name'], row: (index: number) => [String(index), `n${index}`] };
    const draw = createDraw(dictionary, { seed: 1, rows });
    expect(draw.size).toBe(2_000_000n);
    expect(draw.row({ iteration: 1_999_999 })).toEqual(['1999999', 'n1999999']);
    expect(() => createDraw(dictionary, { seed: 1 })).toThrow(RangeError);
  });

  test('an unannounced user is an error, not a repeated row', () => {
    expect(() => createDraw(list(3, 'unique'), { seed: 1 }).value({ user: 1 })).toThrow(RangeError);
    expect(() => createDraw(list(3, 'unique', { scope: 'request' }), { seed: 1 }).value({ request: 1 })).toThrow(
      RangeError,
    );
    expect(() => createDraw(list(3, 'unique'), { seed: 1, agentIndex: 2, agentCount: 2 })).toThrow(RangeError);
  });

  test('an invalid dictionary and the parameters of a protocol are refused', () => {
    expect(() => createDraw({ type: 'lists' }, { seed: 1 })).toThrow(DraftError);
    expect(() => createDraw({ type: 'protocol.bgp' }, { seed: 1 })).toThrow(RangeError);
  });
});
