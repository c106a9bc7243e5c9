import { encodeParameter, type ParameterDraft, parameterValue } from '@rushhour/pools';
import { expect, test } from 'vitest';
import { lengthsOf } from './length-check.ts';

test.each<[ParameterDraft & { extractLength?: number }, number, number | undefined]>([
  [{ type: 'string', source: 'fixed', defaultValue: 'é' }, 2, 2],
  [{ type: 'hex', source: 'list', allowedValues: ['00', '0011'] }, 1, 2],
  [{ type: 'u16be', source: 'counter', start: '1' }, 2, 2],
  [{ type: 'integer', source: 'counter', start: '7', max: '120' }, 1, 3],
  [{ type: 'integer', source: 'counter', start: '7' }, 1, undefined],
  [{ type: 'string', source: 'random', prefix: 'u-', stepsMappings: [{ length: 8 }] }, 8, 8],
  [{ type: 'uuid', source: 'random' }, 36, 36],
  [{ type: 'string', source: 'extract', extractLength: 5 }, 5, 5],
  [{ type: 'string', source: 'system', defaultValue: 'nowUnix' }, 10, 10],
  [{ type: 'string', source: 'dictionary', defaultValue: 'dict/1/x' }, 0, undefined],
])('lengths of %o', (parameter, min, max) => {
  expect(lengthsOf(parameter)).toEqual({ min, max });
});

test('values stay within the computed lengths', () => {
  const parameters: ParameterDraft[] = [
    { type: 'integer', source: 'random', min: '5', max: '4000' },
    { type: 'integer', source: 'random', stepsMappings: [{ length: 3 }] },
    { type: 'ipv4', source: 'random' },
    { type: 'mac', source: 'random' },
    { type: 'hex', source: 'random', stepsMappings: [{ length: 3 }] },
    { type: 'string', source: 'random', prefix: 'long-prefix', stepsMappings: [{ length: 3 }] },
    { type: 'string', source: 'counter', start: '0098', max: '0120' },
  ];
  for (const parameter of parameters) {
    const { min, max = Number.POSITIVE_INFINITY } = lengthsOf(parameter);
    for (let iteration = 0; iteration < 200; iteration++) {
      const value = parameterValue(parameter, { seed: 3, user: 0, iteration }) ?? '';
      const { length } = encodeParameter(parameter.type, value);
      expect(length, `${parameter.type} ${value}`).toBeGreaterThanOrEqual(min);
      expect(length, `${parameter.type} ${value}`).toBeLessThanOrEqual(max);
    }
  }
});
