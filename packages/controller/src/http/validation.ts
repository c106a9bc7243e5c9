import type { TSchema } from 'typebox';
import { invalid } from '../errors.ts';
import { createSchemaCheck, type SchemaCheck } from '../schema-check.ts';

/** A function that returns the accepted value or throws a 400 with every problem. */
const validator =
  (check: SchemaCheck, readOnly: readonly string[] = []) =>
  (value: unknown) => {
    const issues = check(value);
    if (issues.length > 0) throw invalid(issues);
    if (readOnly.length > 0) for (const name of readOnly) delete (value as Record<string, unknown>)[name];
    return value;
  };

export const validatorOf = {
  params: (schema: TSchema) => validator(createSchemaCheck(schema, 'coercing')),
  query: (schema: TSchema) =>
    validator(createSchemaCheck({ ...schema, additionalProperties: false } as TSchema, 'coercing')),
  body: (schema: TSchema) => validator(createSchemaCheck(schema), readOnlyOf(schema)),
  largeBody: (schema: TSchema) => validator(createSchemaCheck(schema, 'first'), readOnlyOf(schema)),
};

/** Members of a record that a body may carry back and that nobody reads. */
const readOnlyOf = (schema: TSchema) =>
  Object.entries((schema as { properties?: Record<string, { readOnly?: boolean }> }).properties ?? {})
    .filter(([, member]) => member.readOnly === true)
    .map(([name]) => name);
