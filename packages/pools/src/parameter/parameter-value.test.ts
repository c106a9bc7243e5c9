import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLocalMac, isMulticastMac, parseMac } from '../macs/mac.ts';
import { type ParameterDraft, parameterTypes } from './parameter-draft.ts';
import { encodeParameter, issuesOfParameter } from './parameter-issues.ts';
import { parameterValue } from './parameter-value.ts';

const valuesOf = (parameter: ParameterDraft, count: number, users?: number): (string | undefined)[] =>
  Array.from({ length: count }, (_, iteration) => parameterValue(parameter, { seed: 1, user: 0, iteration, users }));

describe('parameter values', () => {
  test('fixed is the default value', () => {
    expect(valuesOf({ type: 'string', source: 'fixed', defaultValue: 'x', prefix: 'p' }, 1)).toEqual(['x']);
  });

  test('list goes round, over all users when their number is known', () => {
    const parameter = { type: 'enum', source: 'list', allowedValues: ['a', 'b', 'c'] };
    expect(valuesOf(parameter, 4)).toEqual(['a', 'b', 'c', 'a']);
    expect(parameterValue(parameter, { seed: 1, user: 1, iteration: 1, users: 4 })).toBe('c');
    expect(() => valuesOf({ type: 'enum', source: 'list' }, 1)).toThrow(RangeError);
  });

  test.each<[Partial<ParameterDraft>, string[]]>([
    [{ start: '5', step: '2' }, ['5', '7', '9', '11']],
    [{ start: '5', max: '6' }, ['5', '6', '5', '6']],
    [{ start: '5', min: '4', max: '6' }, ['5', '6', '4', '5']],
    [{ start: '1', step: '-1', min: '0', max: '2' }, ['1', '0', '2', '1']],
    [{ prefix: 'user', type: 'string', start: '0098' }, ['user0098', 'user0099', 'user0100', 'user0101']],
    [{ type: 'u8', start: '254' }, ['254', '255', '0', '1']],
    [{ type: 'ipv4', start: '10.0.0.255' }, ['10.0.0.255', '10.0.1.0', '10.0.1.1', '10.0.1.2']],
    [{ type: 'ipv6', start: 'fd00::fffe', step: '2' }, ['fd00::fffe', 'fd00::1:0', 'fd00::1:2', 'fd00::1:4']],
    [
      { type: 'mac', start: '02:00:00:00:00:ff' },
      ['02:00:00:00:00:ff', '02:00:00:00:01:00', '02:00:00:00:01:01', '02:00:00:00:01:02'],
    ],
    [{ type: 'hex', start: '00fe' }, ['00fe', '00ff', '0100', '0101']],
    [
      { type: 'timestamp', start: '2024-02-28T23:59:59Z', step: '1' },
      ['2024-02-28T23:59:59.000Z', '2024-02-29T00:00:00.000Z', '2024-02-29T00:00:01.000Z', '2024-02-29T00:00:02.000Z'],
    ],
    [{ type: 'timestamp', start: '1700000000', step: '60' }, ['1700000000', '1700000060', '1700000120', '1700000180']],
    [
      { type: 'uuid', start: '00000000-0000-4000-8000-0000000000ff' },
      [
        '00000000-0000-4000-8000-0000000000ff',
        '00000000-0000-4000-8000-000000000100',
        '00000000-0000-4000-8000-000000000101',
        '00000000-0000-4000-8000-000000000102',
      ],
    ],
  ])('counter %o', (members, expected) => {
    const parameter = { type: 'integer', source: 'counter', ...members };
    expect(issuesOfParameter(parameter)).toEqual([]);
    expect(valuesOf(parameter, 4)).toEqual(expected);
  });

  test('counters of many users do not repeat', () => {
    const parameter = { type: 'integer', source: 'counter', start: '1' };
    const values = [0, 1, 2].flatMap((user) =>
      [0, 1, 2].map((iteration) => parameterValue(parameter, { seed: 1, user, iteration, users: 3 })),
    );
    expect(values.toSorted()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });

  test.each<[ParameterDraft, RegExp]>([
    [{ type: 'integer', source: 'random', min: '10', max: '19' }, /^1\d$/],
    [{ type: 'integer', source: 'random', stepsMappings: [{ length: 3 }] }, /^\d{1,3}$/],
    [{ type: 'string', source: 'random', prefix: 'u-', stepsMappings: [{ length: 8 }] }, /^u-[A-Za-z0-9]{6}$/],
    [{ type: 'string', source: 'random', stepsMappings: [{ length: 0 }] }, /^[A-Za-z0-9]{8}$/],
    [{ type: 'hex', source: 'random', stepsMappings: [{ length: 3 }] }, /^[0-9a-f]{6}$/],
    [{ type: 'base64', source: 'random', stepsMappings: [{ length: 3 }] }, /^[A-Za-z0-9+/]{4}$/],
    [{ type: 'ipv4', source: 'random', min: '10.0.0.0', max: '10.0.0.9' }, /^10\.0\.0\.\d$/],
    [{ type: 'ipv6', source: 'random', min: 'fd00::', max: 'fd00::9' }, /^fd00::\d?$/],
    [{ type: 'uuid', source: 'random' }, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
    [{ type: 'u16be', source: 'random' }, /^\d{1,5}$/],
    [
      { type: 'timestamp', source: 'random', min: '2024-01-01T00:00:00Z', max: '2024-01-01T00:00:59Z' },
      /^2024-01-01T00:00:\d\d\.000Z$/,
    ],
    [{ type: 'enum', source: 'random', allowedValues: ['a', 'b'] }, /^[ab]$/],
  ])('random %o', (parameter, shape) => {
    expect(issuesOfParameter(parameter)).toEqual([]);
    const values = valuesOf(parameter, 100);
    for (const value of values) expect(value).toMatch(shape);
    expect(new Set(values).size).toBeGreaterThan(1);
    expect(valuesOf(parameter, 100)).toEqual(values);
  });

  test('random MACs are local and unicast', () => {
    for (const value of valuesOf({ type: 'mac', source: 'random' }, 100)) {
      const mac = parseMac(value ?? '');
      expect(isLocalMac(mac) && !isMulticastMac(mac)).toBe(true);
    }
  });

  test('random values differ by seed, parameter, user and iteration', () => {
    const parameter = { id: 1, type: 'u32be', source: 'random' };
    const at = { seed: 1, user: 1, iteration: 1 };
    const values = [
      parameterValue(parameter, at),
      parameterValue(parameter, { ...at, seed: 2 }),
      parameterValue({ ...parameter, id: 2 }, at),
      parameterValue(parameter, { ...at, user: 2 }),
      parameterValue(parameter, { ...at, iteration: 2 }),
    ];
    expect(new Set(values).size).toBe(5);
  });

  test('dictionary and system values come from the context', () => {
    const fromDictionary = { type: 'string', source: 'dictionary', defaultValue: 'dict/7/first/last name' };
    const dictionary = (id: number, column: string): string => `${id}:${column}`;
    expect(parameterValue(fromDictionary, { seed: 1, user: 0, iteration: 0, dictionary })).toBe('7:first/last name');
    const system = (defaultValue: string): string | undefined =>
      parameterValue(
        { type: 'string', source: 'system', defaultValue },
        { seed: 1, user: 4, iteration: 5, system: { clientPort: 99 } },
      );
    expect([system('userIndex'), system('iteration'), system('clientPort')]).toEqual(['4', '5', '99']);
    expect(() => system('serverIp')).toThrow(RangeError);
    expect(() => parameterValue(fromDictionary, { seed: 1, user: 0, iteration: 0 })).toThrow(RangeError);
    expect(() => valuesOf({ type: 'string', source: 'extract' }, 1)).toThrow(RangeError);
  });

  test('every type of random and counted value can be encoded', () => {
    const types = fc.constantFrom(...parameterTypes.filter((type) => type !== 'enum'));
    fc.assert(
      fc.property(types, fc.integer(), fc.nat(), (type, seed, iteration) => {
        const value = parameterValue({ type, source: 'random' }, { seed, user: 0, iteration });
        expect(encodeParameter(type, value ?? '').length).toBeGreaterThan(0);
      }),
    );
  });
});

describe('parameter bytes', () => {
  test.each([
    ['string', 'é', [0xc3, 0xa9]],
    ['integer', '-12', [0x2d, 0x31, 0x32]],
    ['hex', 'DE:ad be ef', [0xde, 0xad, 0xbe, 0xef]],
    ['base64', 'w6k=', [0xc3, 0xa9]],
    ['ipv4', '1.2.3.4', [...Buffer.from('1.2.3.4')]],
    ['u8', '255', [0xff]],
    ['u16be', '258', [1, 2]],
    ['u16le', '258', [2, 1]],
    ['u32be', '0x01020304', [1, 2, 3, 4]],
    ['u32le', '16909060', [4, 3, 2, 1]],
  ])('%s %s', (type, value, expected) => {
    expect([...encodeParameter(type, value)]).toEqual(expected);
  });

  test.each([
    ['integer', '1.5'],
    ['hex', 'abc'],
    ['hex', 'zz'],
    ['base64', 'a b*'],
    ['u8', '256'],
    ['u8', '-1'],
    ['u16be', '65536'],
    ['u32le', '4294967296'],
    ['u32le', ''],
  ])('%s does not take "%s"', (type, value) => {
    expect(() => encodeParameter(type, value)).toThrow(RangeError);
  });
});

describe('issues of a parameter', () => {
  test.each<[ParameterDraft, string[]]>([
    [{ type: 'float', source: 'fixed' }, ['/type TYPE_UNKNOWN']],
    [{ type: 'string', source: 'oracle' }, ['/source SOURCE_UNKNOWN']],
    [{ type: 'u8', source: 'fixed', defaultValue: '256' }, ['/defaultValue VALUE_UNFIT']],
    [{ type: 'u8', source: 'list', allowedValues: ['1', 'x'] }, ['/allowedValues/1 VALUE_UNFIT']],
    [{ type: 'enum', source: 'random' }, ['/allowedValues VALUES_MISSING']],
    [
      { type: 'integer', source: 'counter', start: 'x', step: 'y', min: '9', max: '1' },
      ['/start VALUE_UNFIT', '/max RANGE_REVERSED', '/step STEP_INVALID'],
    ],
    [{ type: 'u8', source: 'random', max: '300' }, ['/max VALUE_UNFIT']],
    [{ type: 'ipv4', source: 'random', min: '::1' }, ['/min VALUE_UNFIT']],
    [{ type: 'string', source: 'dictionary', defaultValue: '7/name' }, ['/defaultValue DICTIONARY_REFERENCE']],
    [{ type: 'string', source: 'system', defaultValue: 'weather' }, ['/defaultValue SYSTEM_VALUE_UNKNOWN']],
    [{ type: 'string', source: 'extract' }, []],
  ])('%o is answered with %j', (parameter, expected) => {
    expect(issuesOfParameter(parameter).map(({ path, code }) => `${path} ${code}`)).toEqual(expected);
  });
});
