import type { Readable } from 'node:stream';
import type { Route } from '@rushhour/contract';
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { ApiError, type Issue, invalid } from '../errors.ts';
import { createSchemaCheck } from '../schema-check.ts';
import { assertPlain } from './json-body.ts';

/** Bodies beyond this are checked only up to their first problem. */
const largeBytes = 128 * 1024;

/** Finds all problems of one part of a request. Valid values are changed in place: coerced, defaults filled in. */
type PartCheck = (value: unknown) => Issue[];

/** Parts that arrive as text and are converted to numbers, booleans and lists. */
const textCheck = (schema: TSchema, where?: Issue['in']): PartCheck => {
  const check = createSchemaCheck(schema, 'coercing');
  return (value) => {
    const issues = flawOf(value) ?? check(value);
    return issues.length === 0 ? issues : issues.map((issue) => ({ ...issue, in: where }));
  };
};

const flawOf = (value: unknown): Issue[] | undefined => {
  try {
    assertPlain(value);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.data['issues'] as Issue[];
  }
};

/** JSON: no conversion. Read-only members that a client may send back are dropped. */
const bodyCheck = (schema: TSchema, mode: 'strict' | 'first'): PartCheck => {
  const check = createSchemaCheck(schema, mode);
  const readOnly = readOnlyOf(schema);
  return (value) => {
    const issues = check(value);
    if (issues.length === 0) for (const name of readOnly) delete (value as Record<string, unknown>)[name];
    return issues;
  };
};

const readOnlyOf = (schema: TSchema) =>
  Object.entries((schema as { properties?: Record<string, { readOnly?: boolean }> }).properties ?? {})
    .filter(([, member]) => member.readOnly === true)
    .map(([name]) => name);

/** Checks all parts of a request and reports the problems of all of them together. */
export const validatorFor = (route: Route) => {
  const params = route.params && textCheck(route.params, 'path');
  const query = textCheck({ ...route.query, additionalProperties: false } as TSchema, 'query');
  const smallBody = route.body && bodyCheck(route.body, 'strict');
  const largeBody = route.body && bodyCheck(route.body, 'first');
  const fields = route.upload && textCheck(route.upload);
  return (request: FastifyRequest, upload?: { fields: unknown; filename: string; stream: Readable }) => {
    const issues: Issue[] = [];
    const isLeftOut = upload !== undefined || (route.bodyOptional === true && request.body === undefined);
    const body = request.bodyBytes > largeBytes ? largeBody : smallBody;
    const parts = {
      params: collect(issues, params, request.params),
      query: collect(issues, query, request.query),
      body: isLeftOut ? undefined : collect(issues, body, request.body ?? null),
      ...(upload && { upload: { ...upload, fields: collect(issues, fields, upload.fields) } }),
      ...(route.chunk && {
        chunk: { stream: request.body ?? undefined, contentRange: request.headers['content-range'] },
      }),
    };
    if (issues.length > 0) throw invalid(issues);
    return parts;
  };
};

const collect = (issues: Issue[], check: PartCheck | undefined, value: unknown) => {
  if (check === undefined) return undefined;
  issues.push(...check(value));
  return value;
};

export type Parts = ReturnType<ReturnType<typeof validatorFor>>;
