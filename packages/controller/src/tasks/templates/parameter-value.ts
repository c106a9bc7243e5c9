import type { TemplateParameter } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';

export type ParameterValue = string | number | boolean;

const fits: Record<TemplateParameter['type'], (value: ParameterValue) => boolean> = {
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
};

export const isNumeric = ({ type }: Pick<TemplateParameter, 'type'>) => type === 'integer' || type === 'number';

/** The issue of a value of this parameter. */
export const issuesOfValue = (parameter: TemplateParameter, value: ParameterValue, path: string): Issue[] => {
  const { type, min, max } = parameter;
  if (!fits[type](value))
    return [{ path, code: 'TYPE', message: `must be ${type === 'integer' ? 'an' : 'a'} ${type}` }];
  if (!isNumeric(parameter)) return [];
  if (min !== undefined && Number(value) < min) return [{ path, code: 'MINIMUM', message: `must be >= ${min}` }];
  if (max !== undefined && Number(value) > max) return [{ path, code: 'MAXIMUM', message: `must be <= ${max}` }];
  return [];
};

/** An accepted value of the parameter, for validating a template before its user fills it in. */
export const sampleOf = ({ type, default: value, min, max }: TemplateParameter): ParameterValue => {
  if (value !== undefined) return value;
  if (type === 'string') return 'x';
  if (type === 'boolean') return false;
  return min ?? max ?? 1;
};
