import { type AiOperation, api, describedMembers, type Route } from '@rushhour/contract';
import type { TSchema } from 'typebox';
import type { Parts } from './pipeline.ts';

/** An operation of the gateway as MCP clients see it. */
export interface Tool {
  readonly operation: string;
  readonly key: string;
  readonly route: Route;
  readonly ai: AiOperation;
  readonly description: string;
  readonly input: Record<string, unknown>;
}

type Properties = Record<string, TSchema>;
const propertiesOf = (schema: TSchema | undefined) =>
  ((schema as { properties?: Properties } | undefined)?.properties ?? {}) as Properties;
const requiredOf = (schema: TSchema | undefined) => (schema as { required?: string[] } | undefined)?.required ?? [];

/** Every member says what it means, also within members. */
const described = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(described);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, described(part)]));
  const { properties } = parts as { properties?: Record<string, Record<string, unknown>> };
  return typeof properties === 'object' ? { ...parts, properties: describedMembers(properties) } : parts;
};

const inputOf = ({ params, query, body }: Route) => ({
  ...(described({
    type: 'object',
    properties: { ...propertiesOf(params), ...propertiesOf(query), ...propertiesOf(body) },
  }) as object),
  required: [...requiredOf(params), ...requiredOf(query), ...requiredOf(body)],
  additionalProperties: false,
});

const notes: Record<AiOperation['risk'], string> = {
  R0: '',
  R1: '',
  RS: ' Makes traffic stop.',
  R2: ' Makes traffic.',
  R3: ' Hazardous: a person must approve.',
  byPlan: ' May need a confirmation: follow `nextStep` of the answer.',
};

/** Sorted by name, so that lists are the same every time. */
export const tools: readonly Tool[] = (Object.entries(api.aiGateway.routes) as [string, Route][])
  .flatMap(([key, route]) => {
    const { ai } = route;
    if (ai === undefined) return [];
    const description = `${route.summary}.${notes[ai.risk]}`;
    return [{ operation: `aiGateway.${key}`, key, route, ai, description, input: inputOf(route) }];
  })
  .sort((a, b) => (a.ai.tool < b.ai.tool ? -1 : 1));

const textOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(textOf);
  return typeof value === 'object' && value !== null ? value : String(value);
};

/** Encoded as in a URL, so that the same values are accepted. */
const asText = (given: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, textOf(value)]));

/** The arguments of a tool as parts of a request. Unknown arguments go to the body, or to the query. */
export const partsOfArguments = ({ params, query, body }: Route, given: Record<string, unknown>): Required<Parts> => {
  const inParams = propertiesOf(params);
  const inQuery = propertiesOf(query);
  const pick = (isWanted: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(given).filter(([name]) => isWanted(name)));
  const isParam = (name: string) => Object.hasOwn(inParams, name);
  const rest = (name: string) => !isParam(name) && !(body !== undefined && Object.hasOwn(inQuery, name));
  return {
    params: asText(pick(isParam)),
    query: asText(body === undefined ? pick(rest) : pick((name) => Object.hasOwn(inQuery, name))),
    body: body === undefined ? undefined : pick(rest),
  };
};
