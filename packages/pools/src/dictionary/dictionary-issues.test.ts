import { describe, expect, test } from 'vitest';
import type { DictionaryDraft } from './dictionary-draft.ts';
import { issuesOfDictionary } from './dictionary-issues.ts';

const codesOf = (draft: DictionaryDraft): string[] =>
  issuesOfDictionary(draft).map(({ path, code }) => `${path} ${code}`);

describe('issues of a dictionary', () => {
  test.each<DictionaryDraft>([
    { type: 'list', values: ['a'] },
    { type: 'list', values: [''], columns: ['login'], config: { login: { trim: true } } },
    {
      type: 'table',
      selection: 'weighted',
      columns: ['a', 'w'],
      rows: [['x', '1.5']],
      config: { $selection: { weightColumn: 'w' }, w: { hidden: true } },
    },
    {
      type: 'range',
      config: {
        value: { kind: 'integer', start: '1', end: '9', step: '1', format: '%05d' },
        $combine: { mode: 'pitchfork' },
      },
    },
    {
      type: 'random',
      selection: 'unique',
      config: { value: { kind: 'uuid' }, name: { kind: 'string', length: '4', encode: 'url' } },
    },
    { type: 'pattern', selection: 'shuffle', config: { value: { pattern: 'user-[a-z]{4}-#{3}' } } },
    {
      type: 'file',
      config: {
        $source: { fileID: 12, delimiter: ',', quote: '"', header: true, encoding: 'utf-8', skipEmpty: true },
        login: { encode: 'url' },
      },
    },
    { type: 'protocol.bgp', config: { whatever: { asn: 65000 } } },
  ])('a sound one has none: %o', (draft) => {
    expect(issuesOfDictionary(draft)).toEqual([]);
  });

  test('are all reported at once', () => {
    expect(
      codesOf({
        type: 'table',
        selection: 'best',
        columns: ['a', 'a', '', '$x'],
        rows: [['1', '2', '3', '4'], ['1'], ['1', '2', '3', 'x'.repeat(8193)]],
        values: ['stray'],
        config: {
          $selection: {
            onEnd: 'maybe',
            scope: 'galaxy',
            offset: -1,
            shard: 'yes',
            weights: [1],
            weightColumn: 'a',
            colour: 1,
          },
          $combine: { mode: 'sniper' },
          $other: {},
          a: { encode: 'rot13', maxLength: 'x', size: 1 },
          'b/c': {},
        },
      }),
    ).toEqual([
      '/selection SELECTION_UNKNOWN',
      '/config/$selection/onEnd CONFIG_INVALID',
      '/config/$selection/scope CONFIG_INVALID',
      '/config/$selection/shard CONFIG_INVALID',
      '/config/$selection/offset CONFIG_INVALID',
      '/config/$selection/weightColumn WEIGHTS_AMBIGUOUS',
      '/config/$selection/colour CONFIG_UNKNOWN_MEMBER',
      '/config/$combine/mode CONFIG_INVALID',
      '/config/a/encode CONFIG_INVALID',
      '/config/a/maxLength CONFIG_INVALID',
      '/config/a/size CONFIG_UNKNOWN_MEMBER',
      '/columns/1 COLUMN_DUPLICATE',
      '/columns/2 COLUMN_INVALID',
      '/columns/3 COLUMN_INVALID',
      '/values VALUES_UNEXPECTED',
      '/rows/1 ROW_RAGGED',
      '/rows/2/3 CELL_TOO_LONG',
      '/config/$other CONFIG_UNKNOWN_OPTION',
      '/config/b~1c CONFIG_UNKNOWN_COLUMN',
      '/config/$selection/weights WEIGHTS_COUNT',
    ]);
  });

  const table = {
    type: 'table',
    columns: ['a', 'w'],
    rows: [
      ['x', '-1'],
      ['y', '2'],
      ['z', 'many'],
    ],
  };

  test.each<[DictionaryDraft, string[]]>([
    [{ type: 'magic' }, ['/type TYPE_UNKNOWN']],
    [{ type: 'list' }, ['/values VALUES_MISSING']],
    [{ type: 'list', values: ['a'], columns: ['a', 'b'] }, ['/columns COLUMNS_TOO_MANY']],
    [{ type: 'list', values: ['a'], rows: [['a']] }, ['/rows ROWS_UNEXPECTED']],
    [{ type: 'table' }, ['/columns COLUMNS_MISSING', '/rows ROWS_MISSING']],
    [{ type: 'table', columns: ['a'], rows: new Array<string[]>(100_001).fill(['x']) }, ['/rows ROWS_TOO_MANY']],
    [{ type: 'list', values: new Array<string>(100_001).fill('x') }, ['/values ROWS_TOO_MANY']],
    [
      {
        type: 'table',
        columns: Array.from({ length: 101 }, (_, i) => `c${i}`),
        rows: [new Array<string>(101).fill('')],
      },
      ['/columns COLUMNS_TOO_MANY'],
    ],
    [{ type: 'list', values: ['é'.repeat(4097)] }, ['/values/0 CELL_TOO_LONG']],
    [{ type: 'list', values: ['a'], config: { value: [] } }, ['/config/value CONFIG_NOT_OBJECT']],
    [
      { type: 'list', values: ['a'], config: { constructor: { trim: true } } },
      ['/config/constructor CONFIG_UNKNOWN_COLUMN'],
    ],
    [{ type: 'list', selection: 'weighted', values: ['a'] }, ['/config/$selection/weights WEIGHTS_MISSING']],
    [
      { type: 'list', selection: 'weighted', values: ['a'], config: { $selection: { weights: [0] } } },
      ['/config/$selection/weights WEIGHTS_ZERO'],
    ],
    [
      { type: 'list', selection: 'weighted', values: ['a'], config: { $selection: { weights: [-1] } } },
      ['/config/$selection/weights WEIGHT_INVALID'],
    ],
    [
      { type: 'list', selection: 'weighted', values: ['a'], config: { $selection: { weights: [1, 2] } } },
      ['/config/$selection/weights WEIGHTS_COUNT'],
    ],
    [
      { type: 'list', values: ['a'], config: { $selection: { offset: 1 } } },
      ['/config/$selection/offset OFFSET_BEYOND_END'],
    ],
    [
      { ...table, config: { $selection: { weightColumn: 'w' } } },
      ['/rows/0/1 WEIGHT_INVALID', '/rows/2/1 WEIGHT_INVALID'],
    ],
    [
      { ...table, config: { $selection: { weightColumn: 'v' } } },
      ['/config/$selection/weightColumn WEIGHT_COLUMN_UNKNOWN'],
    ],
    [{ type: 'range' }, ['/config CONFIG_MISSING']],
    [{ type: 'range', config: { value: { start: '5', end: '1' } } }, ['/config/value/end RANGE_REVERSED']],
    [{ type: 'range', config: { value: { start: '5', end: '9', step: '0' } } }, ['/config/value/step RANGE_STEP']],
    [
      { type: 'range', config: { value: { start: 'a' } } },
      ['/config/value/start RANGE_BOUND', '/config/value/end RANGE_BOUND'],
    ],
    [
      { type: 'range', config: { value: { kind: 'ipv4', start: '::1', end: '10.0.0.1' } } },
      ['/config/value/start RANGE_BOUND'],
    ],
    [
      { type: 'range', config: { value: { kind: 'roman', start: 'I', end: 'V' } } },
      ['/config/value/kind CONFIG_INVALID'],
    ],
    [
      { type: 'range', config: { value: { start: '1', end: '2', format: 'no directive' } } },
      ['/config/value/format FORMAT_INVALID'],
    ],
    [
      {
        type: 'range',
        config: { value: { kind: 'mac', start: '02:00:00:00:00:00', end: '02:00:00:00:00:01', format: '%d' } },
      },
      ['/config/value/format FORMAT_INVALID'],
    ],
    [
      {
        type: 'range',
        config: { value: { kind: 'date', start: 'soon', end: '2024-13-01', step: '1y', format: '%Q' } },
      },
      [
        '/config/value/start RANGE_BOUND',
        '/config/value/end RANGE_BOUND',
        '/config/value/step RANGE_BOUND',
        '/config/value/format FORMAT_INVALID',
      ],
    ],
    [
      {
        type: 'range',
        selection: 'weighted',
        config: { value: { start: '1', end: '2' }, $selection: { weights: [1] } },
      },
      ['/selection SELECTION_UNFIT', '/config/$selection/weights WEIGHTS_COUNT'],
    ],
    [{ type: 'random', config: { value: {} } }, ['/config/value/kind KIND_MISSING']],
    [
      { type: 'random', config: { value: { kind: 'integer', min: '9', max: '1' } } },
      ['/config/value/max RANGE_REVERSED'],
    ],
    [
      { type: 'random', config: { value: { kind: 'string', length: '9000', charset: '[z-a]' } } },
      ['/config/value/length CONFIG_INVALID', '/config/value/charset CHARSET_INVALID'],
    ],
    [{ type: 'pattern', config: { value: { pattern: '[a' } } }, ['/config/value/pattern PATTERN_INVALID']],
    [{ type: 'pattern', config: { value: {} } }, ['/config/value/pattern PATTERN_INVALID']],
    [{ type: 'file' }, ['/config/$source/fileID FILE_MISSING']],
    [
      { type: 'file', config: { $source: { fileID: 0, delimiter: 'ab', encoding: 'ebcdic' } } },
      [
        '/config/$source/fileID CONFIG_INVALID',
        '/config/$source/delimiter CONFIG_INVALID',
        '/config/$source/encoding CONFIG_INVALID',
      ],
    ],
    [{ type: 'file', columns: ['a'], config: { $source: { fileID: 1 }, b: {} } }, ['/config/b CONFIG_UNKNOWN_COLUMN']],
  ])('%o is answered with %j', (draft, expected) => {
    expect(codesOf(draft)).toEqual(expected);
  });

  test('stop being listed after a thousand', () => {
    const draft = { type: 'table', columns: ['a'], rows: new Array<string[]>(5000).fill([]) };
    const issues = issuesOfDictionary(draft);
    expect(issues).toHaveLength(1001);
    expect(issues.at(-1)?.code).toBe('TOO_MANY_ISSUES');
  });
});
