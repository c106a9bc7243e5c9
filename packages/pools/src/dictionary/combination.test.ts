import { describe, expect, test } from 'vitest';
import { createCombinedDraw } from './combination.ts';

const partsOf = (mode: string, $selection: object = { onEnd: 'stop' }) => [
  { dictionary: { type: 'list', values: ['a', 'b'], config: { $combine: { mode }, $selection } } },
  { dictionary: { type: 'list', values: ['1', '2', '3'] } },
];

function texts(mode: string, $selection?: object): string[] {
  const draw = createCombinedDraw(partsOf(mode, $selection), { seed: 1 });
  const found: string[] = [];
  for (let iteration = 0; iteration < 20; iteration++) {
    const rows = draw.rows({ iteration });
    if (rows !== undefined) found.push(rows.map((row) => row.join('')).join(' '));
  }
  return found;
}

describe('combined dictionaries', () => {
  test('batteringram uses one value for every member', () => {
    expect(texts('batteringram')).toEqual(['a a', 'b b', '1 1', '2 2', '3 3']);
  });

  test('pitchfork goes through them in step, up to the shortest', () => {
    expect(texts('pitchfork')).toEqual(['a 1', 'b 2']);
  });

  test('clusterbomb makes every combination', () => {
    expect(texts('clusterbomb')).toEqual(['a 1', 'a 2', 'a 3', 'b 1', 'b 2', 'b 3']);
  });

  test('the selection of the first holds for the combinations', () => {
    expect(texts('clusterbomb', { onEnd: 'wrap' })).toHaveLength(20);
    const [first, second] = partsOf('clusterbomb');
    const shuffled = createCombinedDraw(
      [
        { dictionary: { ...first?.dictionary, type: 'list', selection: 'shuffle' } },
        second ?? { dictionary: { type: 'list' } },
      ],
      { seed: 1 },
    );
    const rows = [0, 1, 2, 3, 4, 5].map((iteration) => shuffled.rows({ iteration })?.join());
    expect(new Set(rows).size).toBe(6);
  });

  test('offset, limit and encoding are each dictionary’s own', () => {
    const draw = createCombinedDraw(
      [
        {
          dictionary: {
            type: 'list',
            values: ['a', 'b', 'c'],
            config: { $selection: { offset: 1 }, $combine: { mode: 'clusterbomb' } },
          },
        },
        {
          dictionary: {
            type: 'list',
            values: ['x', 'y'],
            config: { $selection: { limit: 1 }, value: { encode: 'hex' } },
          },
        },
      ],
      { seed: 1 },
    );
    expect(draw.size).toBe(2n);
    expect([0, 1].map((iteration) => draw.rows({ iteration }))).toEqual([
      [['b'], ['78']],
      [['c'], ['78']],
    ]);
  });

  test('clusterbombs of large dictionaries are counted without being generated', () => {
    const range = {
      type: 'range',
      config: { value: { start: '1', end: '1000000' }, $combine: { mode: 'clusterbomb' } },
    };
    const draw = createCombinedDraw([{ dictionary: range }, { dictionary: range }, { dictionary: range }], { seed: 1 });
    expect(draw.size).toBe(10n ** 18n);
    expect(draw.rows({ iteration: 1_000_001 })).toEqual([['1'], ['2'], ['2']]);
  });

  test('of no dictionary do not exist', () => {
    expect(() => createCombinedDraw([], { seed: 1 })).toThrow(RangeError);
  });
});
