import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import type { Issue } from './errors.ts';

const options = { allErrors: true, strict: false, useDefaults: true } as const;
const maxIssues = 100;

const withFormats = (ajv: Ajv) => {
  (addFormats as unknown as (ajv: Ajv) => void)(ajv);
  return ajv;
};

const ajvOf = {
  /** Values are taken literally. */
  strict: withFormats(new Ajv(options)),
  /** Values come as text and may be turned into numbers, booleans and lists. */
  coercing: withFormats(new Ajv({ ...options, coerceTypes: 'array' })),
  /** Stops at the first problem: a large hostile value can have millions, and each costs memory. */
  first: withFormats(new Ajv({ ...options, allErrors: false })),
};

/** All problems of a value under a schema, with JSON pointers. Fills in defaults. */
export type SchemaCheck = (value: unknown, prefix?: string) => Issue[];

/** Compiled at its first use: compiling every schema would take most of the start. */
export const createSchemaCheck = (schema: TSchema, mode: keyof typeof ajvOf = 'strict'): SchemaCheck => {
  let validate: ValidateFunction | undefined;
  return (value, prefix = '') => {
    validate ??= ajvOf[mode].compile(schema);
    return validate(value) ? [] : distinct((validate.errors ?? []).map((error) => issueOf(error, prefix)));
  };
};

/** A type guard for values of a schema. */
export const createGuard = <T>(schema: TSchema) => {
  const issuesOf = createSchemaCheck(schema, 'first');
  return (value: unknown): value is T => issuesOf(value).length === 0;
};

const distinct = (issues: readonly Issue[]) => {
  const byPathAndCode = new Map(issues.toReversed().map((issue) => [`${issue.path} ${issue.code}`, issue]));
  return [...byPathAndCode.values()].toReversed().slice(0, maxIssues);
};

const escapeName = (name: unknown) => String(name).replaceAll('~', '~0').replaceAll('/', '~1');

const issueOf = ({ keyword, instancePath, params, message = 'is invalid' }: ErrorObject, prefix: string): Issue => {
  const path = `${prefix}${instancePath}`;
  switch (keyword) {
    case 'required':
      return { path: `${path}/${escapeName(params['missingProperty'])}`, code: 'REQUIRED', message: 'is required' };
    case 'additionalProperties':
      return {
        path: `${path}/${escapeName(params['additionalProperty'])}`,
        code: 'UNKNOWN_MEMBER',
        message: 'is not known here',
      };
    case 'enum':
      return { path, code: 'ENUM', message: `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}` };
    default:
      return { path, code: keyword.replace(/([A-Z])/g, '_$1').toUpperCase(), message };
  }
};
