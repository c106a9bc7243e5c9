import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { issuesOfLength, issuesOfMappings } from './mapping-issues.ts';
import type { MappedParameter, StepOutline, StepRegion } from './step-region.ts';

const sessions: Record<number, StepOutline[]> = {
  0: [
    { side: 'client', length: 100, atMs: 0 },
    { side: 'server', length: 50, atMs: 10 },
    { side: 'client', length: 20, atMs: 20 },
  ],
  2: [{ side: 'client', length: 10, atMs: 5 }],
};
const stepsOf = (index: number) => sessions[index];

const parameter = (members: Partial<MappedParameter> = {}): MappedParameter => ({
  name: 'p',
  source: 'fixed',
  extractSessionIdx: 0,
  extractStepIdx: 0,
  extractOffset: 0,
  extractLength: 0,
  stepsMappings: [],
  ...members,
});
const at = (stepIdx: number, offset: number, length: number, members: Partial<StepRegion> = {}): StepRegion => ({
  sessionIdx: 0,
  stepIdx,
  side: stepIdx === 1 ? 'server' : 'client',
  offset,
  length,
  ...members,
});
const extract = (stepIdx: number, offset: number, length: number, uses: StepRegion[]) =>
  parameter({
    source: 'extract',
    extractStepIdx: stepIdx,
    extractOffset: offset,
    extractLength: length,
    stepsMappings: uses,
  });
const codes = (...parameters: MappedParameter[]) =>
  issuesOfMappings(parameters, stepsOf).map(({ path, code }) => `${path} ${code}`);
const mapped = (...stepsMappings: StepRegion[]) => codes(parameter({ stepsMappings }));

describe('mappings of parameters', () => {
  test.each<[string, StepRegion[], string[]]>([
    ['to the last byte', [at(0, 90, 10)], []],
    ['an insertion at the end', [at(0, 100, 0)], []],
    ['one byte too far', [at(0, 91, 10)], ['0 MAPPING_OUT_OF_RANGE']],
    ['no such step', [at(3, 0, 1)], ['0 MAPPING_OUT_OF_RANGE']],
    ['no such session', [at(0, 0, 1, { sessionIdx: 1 })], ['0 MAPPING_OUT_OF_RANGE']],
    ['the other side', [at(1, 0, 1, { side: 'client' })], ['0/side MAPPING_SIDE']],
    ['neighbours', [at(0, 0, 5), at(0, 5, 5)], []],
    ['overlapping by a byte', [at(0, 0, 6), at(0, 5, 5)], ['1 MAPPING_OVERLAP']],
    [
      'one inside another, and one more',
      [at(0, 0, 50), at(0, 5, 5), at(0, 40, 20)],
      ['1 MAPPING_OVERLAP', '2 MAPPING_OVERLAP'],
    ],
    ['the same offset in two steps', [at(0, 0, 5), at(2, 0, 5)], []],
    ['insertions at both edges', [at(0, 5, 0), at(0, 5, 5), at(0, 10, 0)], []],
    ['two insertions at one offset', [at(0, 5, 0), at(0, 5, 0)], ['1 MAPPING_OVERLAP']],
    ['an insertion inside', [at(0, 0, 10), at(0, 5, 0)], ['1 MAPPING_OVERLAP']],
  ])('%s', (_, mappings, expected) => {
    expect(mapped(...mappings)).toEqual(expected.map((text) => `/parameters/0/stepsMappings/${text}`));
  });

  test('are all reported at once, over all parameters', () => {
    const found = codes(
      parameter({ stepsMappings: [at(0, 0, 10), at(9, 0, 1)] }),
      parameter({ stepsMappings: [at(0, 9, 1), at(1, 0, 1, { side: 'client' })] }),
    );
    expect(found).toEqual([
      '/parameters/0/stepsMappings/1 MAPPING_OUT_OF_RANGE',
      '/parameters/1/stepsMappings/1/side MAPPING_SIDE',
      '/parameters/1/stepsMappings/0 MAPPING_OVERLAP',
    ]);
  });

  test('never pass where two of them share a byte', () => {
    const mapping = fc.tuple(fc.nat(99), fc.nat(30));
    fc.assert(
      fc.property(fc.array(mapping, { maxLength: 8 }), (drawn) => {
        const mappings = drawn.map(([offset, length]) => at(0, offset, Math.min(length, 100 - offset)));
        const bytes = mappings.flatMap(({ offset, length }) => Array.from({ length }, (_, i) => offset + i));
        if (new Set(bytes).size < bytes.length) expect(mapped(...mappings)).not.toEqual([]);
      }),
    );
  });

  test('do not come before the step a value is extracted from', () => {
    expect(codes(extract(1, 0, 4, [at(2, 0, 4)]))).toEqual([]);
    expect(codes(extract(1, 0, 4, [at(0, 0, 4), at(1, 9, 4)]))).toEqual([
      '/parameters/0/stepsMappings/0 EXTRACT_TOO_LATE',
      '/parameters/0/stepsMappings/1 EXTRACT_TOO_LATE',
    ]);
    const other = at(0, 0, 4, { sessionIdx: 2 });
    expect(codes(extract(0, 0, 4, [other]))).toEqual([]);
    expect(codes(extract(1, 0, 4, [other]))).toEqual(['/parameters/0/stepsMappings/0 EXTRACT_TOO_LATE']);
  });

  test('are extracted from bytes that are there, and whole', () => {
    expect(codes(extract(1, 47, 4, []))).toEqual(['/parameters/0 EXTRACT_OUT_OF_RANGE']);
    expect(codes(extract(1, 0, 0, []))).toEqual(['/parameters/0/extractLength EXTRACT_OUT_OF_RANGE']);
    const server = parameter({ stepsMappings: [at(1, 4, 4)] });
    expect(codes(extract(1, 4, 4, []), server)).toEqual([]);
    expect(codes(extract(1, 6, 4, []), server)).toEqual(['/parameters/0 EXTRACT_OVERLAP']);
  });
});

describe('lengths of values', () => {
  const severities = (length: number, type: string, min: number, max?: number) =>
    issuesOfLength({ path: '', length, rule: 'fixed', type, values: { min, max } }).map(({ severity }) => severity);

  test('matter only where the length is fixed', () => {
    expect(issuesOfLength({ path: '', length: 1, rule: 'free', type: 'hex', values: { min: 9, max: 9 } })).toEqual([]);
    expect(severities(4, 'string', 1, 4)).toEqual([]);
    expect(severities(4, 'string', 1, 5)).toEqual(['warning']);
    expect(severities(4, 'string', 1)).toEqual(['warning']);
    expect(severities(4, 'string', 5, 9)).toEqual(['error']);
    expect(severities(4, 'hex', 2, 2)).toEqual(['error']);
    expect(severities(4, 'hex', 2, 4)).toEqual(['warning']);
    expect(severities(0, 'string', 0, 0)).toEqual(['error']);
  });
});
