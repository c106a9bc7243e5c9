import { isPaddable } from './fit-value.ts';
import type { LengthRule } from './length-rule.ts';
import type { MappingIssue } from './step-region.ts';

/** How long the encoded values of a parameter can be; `most` is undefined where nobody can tell. */
export interface ValueLengths {
  readonly least: number;
  readonly most: number | undefined;
}

export interface CheckedPlace {
  /** JSON pointer of the mapping. */
  readonly path: string;
  readonly length: number;
  readonly rule: LengthRule;
  readonly type: string;
  readonly values: ValueLengths;
}

/** An error where a value certainly breaks a format that cannot be repaired, a warning where it may. */
export function issuesOfLength({ path, length, rule, type, values }: CheckedPlace): MappingIssue[] {
  if (rule !== 'fixed') return [];
  const { least, most } = values;
  const unsafe = (severity: 'error' | 'warning', message: string): MappingIssue[] => [
    { path, code: 'LENGTH_CHANGE_UNSAFE', message, severity },
  ];
  if (length === 0)
    return unsafe('error', 'nothing can be inserted here: the length of this step is part of its format');
  if (least > length || (most !== undefined && most < length && !isPaddable(type))) {
    return unsafe('error', `values are never ${length} bytes long, and the length of this step is part of its format`);
  }
  if (most === undefined || most > length || (least < length && !isPaddable(type))) {
    return unsafe('warning', `a value that cannot be made ${length} bytes long ends the iteration that draws it`);
  }
  return [];
}
