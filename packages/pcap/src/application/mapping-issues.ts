import { isPaddable } from './fit-value.ts';
import type { LengthRule } from './length-rule.ts';
import type { MappedParameter, MappingIssue, MappingIssueCode, StepOutline, StepRegion } from './step-region.ts';

interface Mapping extends StepRegion {
  readonly path: string;
}

/** Steps of a session of the application; undefined where it has no such session. */
export type StepsOf = (sessionIdx: number) => readonly StepOutline[] | undefined;

/** Every problem of the mappings of parameters in their steps, at once. */
export function issuesOfMappings(parameters: readonly MappedParameter[], stepsOf: StepsOf): MappingIssue[] {
  const mappings = parameters.map((parameter, p) =>
    parameter.stepsMappings.map((mapping, m) => ({ ...mapping, path: `/parameters/${p}/stepsMappings/${m}` })),
  );
  const all = mappings.flat();
  const valid = all.filter((mapping) => rangeProblem(mapping, stepsOf) === undefined);
  return [
    ...all.flatMap((mapping) => rangeIssues(mapping, stepsOf)),
    ...overlapIssues(valid),
    ...parameters.flatMap((parameter, p) =>
      parameter.source === 'extract'
        ? extractIssues(parameter, { path: `/parameters/${p}`, uses: mappings[p] ?? [], valid, stepsOf })
        : [],
    ),
  ];
}

function issue(path: string, code: MappingIssueCode, message: string): MappingIssue {
  return { path, code, message, severity: 'error' };
}

function rangeProblem(
  mapping: { sessionIdx: number; stepIdx: number; offset: number; length: number },
  stepsOf: StepsOf,
): string | undefined {
  const steps = stepsOf(mapping.sessionIdx);
  if (steps === undefined) return `the application has no session ${mapping.sessionIdx}`;
  const step = steps[mapping.stepIdx];
  if (step === undefined)
    return `session ${mapping.sessionIdx} has ${steps.length} steps, there is no ${mapping.stepIdx}`;
  if (mapping.offset + mapping.length <= step.length) return undefined;
  return `bytes ${mapping.offset} to ${mapping.offset + mapping.length} lie behind the step's ${step.length}`;
}

function rangeIssues(mapping: Mapping, stepsOf: StepsOf): MappingIssue[] {
  const problem = rangeProblem(mapping, stepsOf);
  if (problem !== undefined) return [issue(mapping.path, 'MAPPING_OUT_OF_RANGE', problem)];
  const side = stepsOf(mapping.sessionIdx)?.[mapping.stepIdx]?.side;
  if (side === mapping.side) return [];
  return [issue(`${mapping.path}/side`, 'MAPPING_SIDE', `the step is sent by the ${side}`)];
}

function overlapIssues(mappings: readonly Mapping[]): MappingIssue[] {
  const sorted = [...mappings].sort(
    (left, right) =>
      left.sessionIdx - right.sessionIdx ||
      left.stepIdx - right.stepIdx ||
      left.offset - right.offset ||
      left.length - right.length,
  );
  const issues: MappingIssue[] = [];
  let before: Mapping | undefined;
  for (const mapping of sorted) {
    if (before !== undefined && isSameStep(before, mapping) && doOverlap(before, mapping)) {
      issues.push(issue(mapping.path, 'MAPPING_OVERLAP', `overlaps ${before.path}`));
    }
    const reachesFurther =
      before === undefined ||
      !isSameStep(before, mapping) ||
      mapping.offset + mapping.length >= before.offset + before.length;
    if (reachesFurther) before = mapping;
  }
  return issues;
}

/** Two insertions at one offset have no order; one at the edge of another mapping does. */
function doOverlap(left: StepRegion, right: StepRegion): boolean {
  if (left.length === 0 && right.length === 0) return left.offset === right.offset;
  return left.offset < right.offset + right.length && right.offset < left.offset + left.length;
}

function isSameStep(
  left: { sessionIdx: number; stepIdx: number },
  right: { sessionIdx: number; stepIdx: number },
): boolean {
  return left.sessionIdx === right.sessionIdx && left.stepIdx === right.stepIdx;
}

function extractIssues(
  parameter: MappedParameter,
  { path, uses, valid, stepsOf }: { path: string; uses: Mapping[]; valid: Mapping[]; stepsOf: StepsOf },
): MappingIssue[] {
  const source = {
    sessionIdx: parameter.extractSessionIdx,
    stepIdx: parameter.extractStepIdx,
    offset: parameter.extractOffset,
    length: parameter.extractLength,
  };
  if (source.length === 0) {
    return [issue(`${path}/extractLength`, 'EXTRACT_OUT_OF_RANGE', 'there is nothing to extract')];
  }
  const problem = rangeProblem(source, stepsOf);
  if (problem !== undefined) return [issue(path, 'EXTRACT_OUT_OF_RANGE', problem)];
  const issues = uses
    .filter((use) => rangeProblem(use, stepsOf) === undefined && !isEarlier(source, use, stepsOf))
    .map((use) => issue(use.path, 'EXTRACT_TOO_LATE', 'the value is used before the step it is extracted from'));
  const end = source.offset + source.length;
  for (const mapping of valid) {
    if (!isSameStep(mapping, source)) continue;
    const mappingEnd = mapping.offset + mapping.length;
    const isInside = mapping.offset >= source.offset && mappingEnd <= end;
    if (isInside || mappingEnd <= source.offset || mapping.offset >= end) continue;
    issues.push(issue(path, 'EXTRACT_OVERLAP', `what is extracted covers only a part of ${mapping.path}`));
  }
  return issues;
}

/** In the order of capture time. */
function isEarlier(
  left: { sessionIdx: number; stepIdx: number },
  right: { sessionIdx: number; stepIdx: number },
  stepsOf: StepsOf,
): boolean {
  if (left.sessionIdx === right.sessionIdx) return left.stepIdx < right.stepIdx;
  const leftMs = stepsOf(left.sessionIdx)?.[left.stepIdx]?.atMs ?? 0;
  const rightMs = stepsOf(right.sessionIdx)?.[right.stepIdx]?.atMs ?? 0;
  return leftMs < rightMs || (leftMs === rightMs && left.sessionIdx < right.sessionIdx);
}

/** Bounds of the encoded length of values; `most` is undefined if unknown. */
export interface ValueLengths {
  readonly min: number;
  readonly max: number | undefined;
}

export interface CheckedMapping {
  /** JSON pointer of the mapping. */
  readonly path: string;
  readonly length: number;
  readonly rule: LengthRule;
  readonly type: string;
  readonly values: ValueLengths;
}

/** An error if every value breaks a fixed-length format, a warning if some may. */
export function issuesOfLength({ path, length, rule, type, values }: CheckedMapping): MappingIssue[] {
  if (rule !== 'fixed') return [];
  const { min, max } = values;
  const unsafe = (severity: 'error' | 'warning', message: string): MappingIssue[] => [
    { path, code: 'LENGTH_CHANGE_UNSAFE', message, severity },
  ];
  if (length === 0)
    return unsafe('error', 'nothing can be inserted here: the length of this step is part of its format');
  if (min > length || (max !== undefined && max < length && !isPaddable(type))) {
    return unsafe('error', `values are never ${length} bytes long, and the length of this step is part of its format`);
  }
  if (max === undefined || max > length || (min < length && !isPaddable(type))) {
    return unsafe('warning', `a value that cannot be made ${length} bytes long ends the iteration that draws it`);
  }
  return [];
}
