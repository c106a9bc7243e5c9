import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { type Issue, invalid } from '../errors.ts';

const shared = { allErrors: true, strict: false, useDefaults: true, verbose: true } as const;

const withFormats = (ajv: Ajv) => {
  (addFormats as unknown as (ajv: Ajv) => void)(ajv);
  return ajv;
};

/** Bodies are taken literally; path and query are text and may be turned into numbers and booleans. */
const strict = withFormats(new Ajv(shared));
const coercing = withFormats(new Ajv({ ...shared, coerceTypes: 'array' }));

/**
 * A function that returns the accepted value or throws a 400 with every problem.
 * Compiled at its first use: compiling all routes would take most of the start.
 */
const check = (compile: () => ValidateFunction, readOnly: readonly string[] = []) => {
  const unread = readOnly.length > 0;
  let validate: ValidateFunction | undefined;
  return (value: unknown) => {
    validate ??= compile();
    if (!validate(value)) throw invalid(issuesOf(validate.errors ?? []));
    if (unread && typeof value === 'object' && value !== null) {
      for (const name of readOnly) delete (value as Record<string, unknown>)[name];
    }
    return value;
  };
};

export const validatorOf = {
  params: (schema: TSchema) => check(() => coercing.compile(schema)),
  query: (schema: TSchema) => check(() => coercing.compile({ ...schema, additionalProperties: false })),
  body: (schema: TSchema) => check(() => strict.compile(schema), readOnlyOf(schema)),
};

const readOnlyOf = (schema: TSchema) =>
  Object.entries((schema as { properties?: Record<string, { readOnly?: boolean }> }).properties ?? {})
    .filter(([, member]) => member.readOnly === true)
    .map(([name]) => name);

const issuesOf = (errors: readonly ErrorObject[]): Issue[] => {
  const issues = errors.map(issueOf);
  const seen = new Set<string>();
  return issues.filter(({ path, code }) => !seen.has(`${path} ${code}`) && seen.add(`${path} ${code}`)).slice(0, 100);
};

const escapeName = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

const issueOf = (error: ErrorObject): Issue => {
  const at = error.instancePath;
  const { params } = error as { params: Record<string, unknown> };
  const code = error.keyword.replace(/([A-Z])/g, '_$1').toUpperCase();
  if (error.keyword === 'required') {
    return { path: `${at}/${escapeName(String(params['missingProperty']))}`, code: 'REQUIRED', message: 'is required' };
  }
  if (error.keyword === 'additionalProperties') {
    return {
      path: `${at}/${escapeName(String(params['additionalProperty']))}`,
      code: 'UNKNOWN_MEMBER',
      message: 'is not known here',
    };
  }
  if (error.keyword === 'enum') {
    const allowed = (params['allowedValues'] as unknown[]).join(', ');
    return { path: at, code, message: `must be one of ${allowed}` };
  }
  return { path: at, code, message: error.message ?? 'is invalid' };
};
