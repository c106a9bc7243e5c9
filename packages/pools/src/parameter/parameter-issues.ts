import { type Issue, IssueList } from '../issue.ts';
import { encodeParameter } from './parameter-bytes.ts';
import { findDictionaryReference, type ParameterDraft, parameterTypes, systemValues } from './parameter-draft.ts';
import { scaleOf } from './scale.ts';

/** Every problem of a parameter that can be seen without its capture; mappings and extracts need the steps. */
export function issuesOfParameter(parameter: ParameterDraft): Issue[] {
  const issues = new IssueList();
  if (!parameterTypes.some((type) => type === parameter.type)) {
    issues.error('/type', 'TYPE_UNKNOWN', `"${parameter.type}" is none of ${parameterTypes.join(', ')}`);
    return issues.issues;
  }
  const check = Object.hasOwn(checks, parameter.source) ? checks[parameter.source] : undefined;
  if (check === undefined) {
    issues.error('/source', 'SOURCE_UNKNOWN', `"${parameter.source}" is none of ${Object.keys(checks).join(', ')}`);
  }
  check?.(parameter, issues);
  return issues.issues;
}

const checks: Readonly<Record<string, (parameter: ParameterDraft, issues: IssueList) => void>> = {
  fixed: (parameter, issues) => checkEncodes(parameter, '/defaultValue', parameter.defaultValue ?? '', issues),
  list: checkAllowed,
  counter: (parameter, issues) => {
    checkBounds(parameter, issues);
    if (!/^-?\d{1,40}$/.test(parameter.step || '1')) {
      issues.error('/step', 'STEP_INVALID', `"${parameter.step}" is not a whole number`);
    }
  },
  random: (parameter, issues) => {
    if (parameter.type === 'enum') checkAllowed(parameter, issues);
    else checkBounds(parameter, issues);
  },
  dictionary: (parameter, issues) => {
    if (findDictionaryReference(parameter.defaultValue ?? '') !== undefined) return;
    issues.error('/defaultValue', 'DICTIONARY_REFERENCE', 'defaultValue is dict/<dictionaryId>/<column>');
  },
  extract: () => undefined,
  system: (parameter, issues) => {
    if (systemValues.some((value) => value === parameter.defaultValue)) return;
    issues.error('/defaultValue', 'SYSTEM_VALUE_UNKNOWN', `defaultValue is one of ${systemValues.join(', ')}`);
  },
};

function checkAllowed(parameter: ParameterDraft, issues: IssueList): void {
  const values = parameter.allowedValues ?? [];
  if (values.length === 0) issues.error('/allowedValues', 'VALUES_MISSING', 'there is no value to choose from');
  for (const [i, value] of values.entries()) checkEncodes(parameter, `/allowedValues/${i}`, value, issues);
}

function checkEncodes(parameter: ParameterDraft, path: string, value: string, issues: IssueList): void {
  try {
    encodeParameter(parameter.type, value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    issues.error(path, 'VALUE_UNFIT', error.message);
  }
}

function checkBounds(parameter: ParameterDraft, issues: IssueList): void {
  const scale = scaleOf(parameter.type, '');
  const found = (['start', 'min', 'max'] as const).map((name) => {
    const text = parameter[name];
    const value = text ? scale.find(text) : undefined;
    const isOutside = value !== undefined && (value < (scale.lowest ?? value) || value > (scale.highest ?? value));
    if (text && (value === undefined || isOutside)) {
      issues.error(`/${name}`, 'VALUE_UNFIT', `"${text}" does not fit type ${parameter.type}`);
    }
    return value;
  });
  const [, min, max] = found;
  if (min !== undefined && max !== undefined && min > max) issues.error('/max', 'RANGE_REVERSED', 'max is below min');
}
