import { describe, expect, test } from 'vitest';
import { parameterOf } from '../parameter.ts';
import { type MovedSession, remapParameters } from './remap.ts';

const steps = (text: string) => [...text].map((sha256) => ({ sha256, length: 10 }));
const at = (sessionIdx: number, stepIdx: number) => ({
  sessionIdx,
  stepIdx,
  side: 'client' as const,
  offset: 3,
  length: 2,
});
const remap = (sessions: Record<number, MovedSession>, ...parameters: Parameters<typeof parameterOf>[0][]) =>
  remapParameters(parameters.map(parameterOf), (index) => sessions[index] ?? { to: undefined, before: [], after: [] });

describe('places in a trimmed capture', () => {
  test.each<[string, string, number, number | undefined]>([
    ['abcd', 'abcd', 2, 2],
    ['abcd', 'cd', 2, 0],
    ['abcd', 'ab', 2, undefined],
    ['abab', 'ab', 0, 0],
    ['abab', 'bab', 2, 1],
    ['abcd', 'aXcd', 1, undefined],
    ['abcd', 'aXcd', 2, 2],
  ])('steps %s become %s: step %i is then %s', (before, after, stepIdx, expected) => {
    const session = { to: 4, before: steps(before), after: steps(after) };
    const { parameters, orphans } = remap({ 0: session }, { name: 'p', stepsMappings: [at(0, stepIdx)] });
    const found = parameters[0]?.stepsMappings[0];
    expect(found).toEqual(expected === undefined ? undefined : at(4, expected));
    expect(orphans.map(({ path }) => path)).toEqual(expected === undefined ? ['/parameters/0/stepsMappings/0'] : []);
  });

  test('of a removed session are reported, and a parameter that has nothing to extract from goes', () => {
    const kept = { to: 0, before: steps('ab'), after: steps('ab') };
    const { parameters, orphans } = remap(
      { 1: kept },
      { name: 'both', stepsMappings: [at(0, 0), at(1, 1)] },
      { name: 'lost', source: 'extract', extractSessionIdx: 0, extractLength: 2, stepsMappings: [at(1, 1)] },
      { name: 'moved', source: 'extract', extractSessionIdx: 1, extractLength: 2, stepsMappings: [at(1, 1)] },
    );
    expect(parameters.map(({ name }) => name)).toEqual(['both', 'moved']);
    expect(parameters[0]?.stepsMappings).toEqual([at(0, 1)]);
    expect(parameters[1]).toMatchObject({ extractSessionIdx: 0, extractStepIdx: 0 });
    expect(orphans).toEqual([
      { parameter: 'both', path: '/parameters/0/stepsMappings/0', reason: 'session 0 is removed' },
      { parameter: 'lost', path: '/parameters/1', reason: 'session 0 is removed' },
    ]);
  });

  test('whose step has no known bytes are not guessed', () => {
    const session = { to: 0, before: steps('ab'), after: [{ sha256: '', length: 10 }] };
    expect(remap({ 0: session }, { name: 'p', stepsMappings: [at(0, 0)] }).orphans).toHaveLength(1);
  });
});
