import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findAddress } from '../addresses/address.ts';
import { isLocalMac, isMulticastMac, parseMac } from '../macs/mac.ts';
import { createDraw, type Draw } from './draw.ts';

const rangeOf = (value: object): Draw => createDraw({ type: 'range', config: { value } }, { seed: 1 });
const all = (draw: Draw): (string | undefined)[] =>
  Array.from({ length: Number(draw.size) }, (_, iteration) => draw.value({ iteration }));
const randomOf = (value: object): string[] => {
  const draw = createDraw({ type: 'random', config: { value } }, { seed: 1 });
  return Array.from({ length: 300 }, (_, iteration) => draw.value({ iteration }) ?? '');
};

describe('ranges', () => {
  test.each([
    [{ kind: 'integer', start: '1', end: '3', format: '%05d' }, ['00001', '00002', '00003']],
    [{ start: 1, end: 10, step: 4 }, ['1', '5', '9']],
    [{ kind: 'integer', start: '2', end: '-2', step: '-2', format: 'x%+' }, undefined],
    [{ kind: 'integer', start: '2', end: '-2', step: '-2' }, ['2', '0', '-2']],
    [{ kind: 'integer', start: '9', end: '11', format: 'id-%x%%' }, ['id-9%', 'id-a%', 'id-b%']],
    [{ kind: 'ipv4', start: '10.0.0.254', end: '10.0.1.1' }, ['10.0.0.254', '10.0.0.255', '10.0.1.0', '10.0.1.1']],
    [
      { kind: 'ipv6', start: '2001:db8::fffe', end: '2001:db8::1:2', step: '2' },
      ['2001:db8::fffe', '2001:db8::1:0', '2001:db8::1:2'],
    ],
    [{ kind: 'mac', start: '02:00:00:00:00:ff', end: '02-00-00-00-01-00' }, ['02:00:00:00:00:ff', '02:00:00:00:01:00']],
    [{ kind: 'char', start: 'x', end: 'z', format: '<%s>' }, ['<x>', '<y>', '<z>']],
    [{ kind: 'date', start: '2024-02-28', end: '2024-03-01' }, ['2024-02-28', '2024-02-29', '2024-03-01']],
    [
      { kind: 'date', start: '2024-02-28', end: '2024-03-15', step: '1w', format: '%d.%m.%Y' },
      ['28.02.2024', '06.03.2024', '13.03.2024'],
    ],
    [
      { kind: 'date', start: '2024-01-01T23:59:59Z', end: '2024-01-02T00:00:00Z' },
      ['2024-01-01T23:59:59.000Z', '2024-01-02T00:00:00.000Z'],
    ],
    [
      { kind: 'date', start: '2024-01-01T00:00:00Z', end: '2024-01-01T01:00:00Z', step: '30m', format: '%H:%M' },
      ['00:00', '00:30', '01:00'],
    ],
  ])('%o', (config, expected) => {
    if (expected === undefined) expect(() => rangeOf(config)).toThrow();
    else expect(all(rangeOf(config))).toEqual(expected);
  });

  test('of any size are reached by number', () => {
    const draw = createDraw(
      { type: 'range', selection: 'random', config: { value: { kind: 'ipv6', start: '::', end: 'ffff::' } } },
      { seed: 1 },
    );
    expect(draw.size).toBe((0xffffn << 112n) + 1n);
    expect(findAddress(draw.value({}) ?? '')?.version).toBe(6);
  });

  test('with several columns go side by side, the shorter one starting over', () => {
    const draw = createDraw(
      { type: 'range', config: { id: { start: '1', end: '3' }, tag: { kind: 'char', start: 'a', end: 'b' } } },
      { seed: 1 },
    );
    expect([0, 1, 2, 3].map((iteration) => draw.row({ iteration })?.join(''))).toEqual(['1a', '2b', '3a', '1a']);
  });
});

describe('random columns', () => {
  test.each([
    [{ kind: 'integer', min: '-5', max: '5' }, /^-?[0-5]$/, 11],
    [{ kind: 'integer', min: '0', max: '9', format: '%03d' }, /^00\d$/, 10],
    [{ kind: 'string', length: '8', charset: 'lower' }, /^[a-z]{8}$/, 300],
    [{ kind: 'string', length: '2', charset: 'xyz' }, /^[xyz]{2}$/, 9],
    [{ kind: 'string', length: '3', charset: '[a-c_]' }, /^[a-c_]{3}$/, 58],
    [{ kind: 'string' }, /^[A-Za-z0-9]{16}$/, 300],
    [{ kind: 'hex', length: '4' }, /^[0-9a-f]{4}$/, 290],
    [{ kind: 'uuid' }, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, 300],
    [{ kind: 'ipv4', min: '10.0.0.0', max: '10.0.0.3' }, /^10\.0\.0\.[0-3]$/, 4],
    [{ kind: 'ipv6', min: '2001:db8::', max: '2001:db8::f' }, /^2001:db8::[0-9a-f]?$/, 16],
    [{ kind: 'float', min: '1', max: '2', format: '%.1f' }, /^[12]\.\d$/, 11],
    [{ kind: 'float' }, /^(0\.\d+|\d\.\d+e-\d+)$/, 300],
    [{ kind: 'mac', min: '02:00:00:00:00:00', max: '02:00:00:00:00:01' }, /^02:00:00:00:00:0[01]$/, 2],
  ])('%o', (config, shape, distinct) => {
    const values = randomOf(config);
    for (const value of values) expect(value).toMatch(shape);
    expect(new Set(values).size).toBeGreaterThanOrEqual(Math.min(distinct, 290));
  });

  test('addresses and MACs are unicast unless bounds are given', () => {
    for (const ip of randomOf({ kind: 'ipv4' })) {
      const first = Number(ip.split('.')[0]);
      expect(first >= 1 && first <= 223).toBe(true);
    }
    for (const ip of randomOf({ kind: 'ipv6' })) expect(ip).toMatch(/^[23]/);
    for (const mac of randomOf({ kind: 'mac' }).map(parseMac))
      expect(isLocalMac(mac) && !isMulticastMac(mac)).toBe(true);
  });

  test('bytes are one character each, and encoded as bytes', () => {
    for (const value of randomOf({ kind: 'bytes', length: '4' })) {
      expect(value).toHaveLength(4);
      expect([...value].every((character) => character.charCodeAt(0) <= 255)).toBe(true);
    }
    for (const value of randomOf({ kind: 'bytes', length: '4', encode: 'hex' })) expect(value).toMatch(/^[0-9a-f]{8}$/);
    const raw = randomOf({ kind: 'bytes', length: '4' });
    const base64 = randomOf({ kind: 'bytes', length: '4', encode: 'base64' });
    expect(base64.map((value) => Buffer.from(value, 'base64').toString('latin1'))).toEqual(raw);
  });

  test('are independent of each other in one row', () => {
    const draw = createDraw(
      { type: 'random', config: { a: { kind: 'integer', min: 0, max: 3 }, b: { kind: 'integer', min: 0, max: 3 } } },
      { seed: 1 },
    );
    const pairs = new Set(Array.from({ length: 300 }, (_, iteration) => draw.row({ iteration })?.join()));
    expect(pairs.size).toBe(16);
  });

  test('may be as long as a cell', () => {
    const draw = createDraw({ type: 'random', config: { value: { kind: 'string', length: 8192 } } }, { seed: 1 });
    expect(draw.value({})).toMatch(/^[A-Za-z0-9]{8192}$/);
  });
});

describe('patterns', () => {
  const patternOf = (pattern: string, selection = 'sequential'): Draw =>
    createDraw({ type: 'pattern', selection, config: { value: { pattern } } }, { seed: 1 });

  test('enumerate their texts in order', () => {
    const draw = patternOf('u-[a-c]#');
    expect(draw.size).toBe(30n);
    expect(all(draw).slice(8, 12)).toEqual(['u-a8', 'u-a9', 'u-b0', 'u-b1']);
  });

  test('repeat, escape and take classes', () => {
    expect(patternOf('user-[a-z]{4}-#{3}').size).toBe(26n ** 4n * 1000n);
    expect(patternOf('user-[a-z]{4}-#{3}', 'random').value({})).toMatch(/^user-[a-z]{4}-\d{3}$/);
    expect(all(patternOf('\\#\\[x{2}'))).toEqual(['#[xx']);
    expect(all(patternOf('[\\]\\-a]'))).toEqual([']', '-', 'a']);
    expect(all(patternOf('[é-ê]'))).toEqual(['é', 'ê']);
  });

  test('yield as many different texts as they count', () => {
    const element = fc.constantFrom('#', '[ab]', 'x', '[0-2]{2}', '#{1}', '-');
    fc.assert(
      fc.property(fc.array(element, { minLength: 1, maxLength: 3 }), (elements) => {
        const draw = patternOf(elements.join(''));
        expect(new Set(all(draw)).size).toBe(Number(draw.size));
      }),
    );
  });

  test.each(['', '[a-z', 'a{2', '{3}', '[]', '[z-a]', 'a]', 'x{9999}', '\\'])('"%s" is refused', (pattern) => {
    expect(() => patternOf(pattern)).toThrow('pattern');
  });
});
