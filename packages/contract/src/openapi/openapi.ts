import type { TSchema } from 'typebox';
import type { AiOperation } from '../ai-scopes.ts';
import { describedMembers } from '../descriptions/described-members.ts';
import { memberDescriptions } from '../descriptions/member-descriptions.ts';
import { ErrorBody } from '../envelopes.ts';
import { type Collection, permissionOf, type Route, statusesOf } from '../route.ts';
import { exampleOf } from './openapi-example.ts';
import { headerParametersOf, partialResponses, responseHeadersOf } from './openapi-headers.ts';

type Json = Record<string, unknown>;

const statusDescriptions: Record<number, string> = {
  400: 'Invalid request; data.issues names every problem',
  401: 'No valid session',
  403: 'Not allowed; data.permission names what is missing',
  404: 'Not found',
  408: 'The body took too long',
  409: 'Conflicts with the present state',
  410: 'Gone',
  413: 'Too large',
  415: 'Wrong content type',
  416: 'Range not satisfiable',
  429: 'Too many requests; see Retry-After',
  500: 'Internal error',
  503: 'Not available now; see Retry-After',
};

/** The OpenAPI 3.1 document of the whole contract. TypeBox schemas are JSON Schema, so nothing is translated. */
export const toOpenApi = (collections: Record<string, Collection>, version: string) => {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  for (const [name, { tag, routes }] of Object.entries(collections)) {
    for (const [operation, route] of Object.entries(routes)) {
      const path = `/v1${route.path.replace(/:(\w+)/g, '{$1}')}`;
      paths[path] ??= {};
      paths[path][route.method.toLowerCase()] = operationOf(route, tag, `${name}.${operation}`, components);
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Rushhour',
      version: '1.0',
      description: `Controller for network traffic testing, build ${version}. Sign in with \`POST /v1/auth/login\`: the session lives in cookies, and every call on this page uses it.`,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.values(collections).map(({ tag, title }) => ({ name: tag, description: title })),
    security: [{ CookieAuth: [] }, { TokenAuth: [] }],
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        CookieAuth: { type: 'apiKey', in: 'header', name: 'Cookie' },
        TokenAuth: {
          type: 'http',
          scheme: 'bearer',
          description: 'Access token of a user (rh_pat_…), with its scopes',
        },
        AIKeyAuth: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
    },
  };
};

const operationOf = (route: Route, tag: string, operationId: string, components: Json): Json => {
  const permission = permissionOf(route);
  return {
    operationId,
    tags: [tag],
    summary: route.summary,
    description: accessOf(route),
    ...(permission && { 'x-permission': permission }),
    ...(route.access === 'public' && { security: [] }),
    ...(route.ai && aiMembersOf(route.ai)),
    parameters: [
      ...parametersOf('path', route.params),
      ...parametersOf('query', route.query),
      ...headerParametersOf(route),
    ],
    ...requestBodyOf(route, components),
    responses: Object.fromEntries(statusesOf(route).map((status) => [status, responseOf(route, status, components)])),
  };
};

const accessOf = (route: Route): string => {
  const permission = permissionOf(route);
  if (permission) return `Needs the permission \`${permission}\`.`;
  return route.access === 'public' ? 'Needs no session.' : 'Needs a session, and no permission.';
};

const aiMembersOf = ({ scope, risk, tool }: AiOperation): Json => ({
  description: `${scope === 'any' ? 'Open to every AI key' : `Needs an AI key with the scope \`${scope}\``}. MCP tool \`${tool}\`.`,
  security: [{ AIKeyAuth: [] }],
  'x-scope': scope,
  'x-risk': risk,
});

const requestBodyOf = (route: Route, components: Json): Json => {
  if (route.chunk) return { requestBody: { required: true, content: { 'application/octet-stream': {} } } };
  if (!route.body && !route.upload) return {};
  const { properties, required = [] } = (route.upload ?? {}) as { properties?: Json; required?: string[] };
  const form = annotated({
    type: 'object',
    properties: { ...properties, file: { type: 'string', format: 'binary', description: 'Content of the file' } },
    required: [...required, 'file'],
  });
  return {
    requestBody: {
      required: route.bodyOptional !== true,
      content: {
        ...(route.body && bodyContent(route.body, components)),
        ...(route.upload && { 'multipart/form-data': { schema: form } }),
      },
    },
  };
};

const responseOf = (route: Route, status: number, components: Json): Json => {
  const partial = partialResponses[status];
  if (partial) return partial;
  if (status !== 200)
    return {
      description: statusDescriptions[status] ?? 'Error',
      ...responseHeadersOf(route, status),
      content: jsonContent(ErrorBody, components),
    };
  if (route.events)
    return {
      description: 'Events',
      content: { 'text/event-stream': { schema: toReferences(route.events, components) } },
    };
  if (route.download)
    return {
      description: 'The file',
      ...responseHeadersOf(route, status),
      content: Object.fromEntries(route.download.map((type) => [type, {}])),
    };
  return {
    description: 'OK',
    ...responseHeadersOf(route, status),
    ...(route.reply && { content: jsonContent(route.reply, components) }),
  };
};

const bodyContent = (schema: TSchema, components: Json) => ({
  'application/json': { schema: toReferences(schema, components), example: exampleOf(schema) },
});

const jsonContent = (schema: TSchema, components: Json) => ({
  'application/json': { schema: toReferences(schema, components) },
});

const parametersOf = (location: 'path' | 'query', schema: TSchema | undefined): Json[] => {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: location,
    required: location === 'path' || required.includes(name),
    schema: property,
    description: 'description' in property ? property.description : (memberDescriptions[name] ?? name),
  }));
};

/** What a reader needs beside the keywords themselves: the meaning of members, and nothing that contradicts the schema. */
const annotated = (schema: Json): Json => {
  const {
    properties,
    required,
    default: value,
    type,
  } = schema as {
    properties?: Record<string, Json>;
    required?: string[];
    default?: Json;
    type?: unknown;
  };
  const { default: _, ...rest } = schema;
  // Members of such a default have defaults of their own; the object alone would not be valid.
  const isPartial =
    properties !== undefined && value !== undefined && required?.some((name) => !(name in value)) === true;
  return {
    ...(isPartial ? rest : schema),
    ...(type === 'array' && !('items' in schema) && { items: {} }),
    ...(properties && { properties: describedMembers(properties) }),
  };
};

const isSchema = (schema: object): boolean => 'type' in schema || 'properties' in schema;

/** Replaces every titled schema by a reference to a component of that name. */
const toReferences = (schema: unknown, components: Json): unknown => {
  if (Array.isArray(schema)) return schema.map((part) => toReferences(part, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, part]) => [key, toReferences(part, components)]);
  const plain = Object.fromEntries(entries) as Json;
  const replaced = isSchema(schema) ? annotated(plain) : plain;
  const { title } = schema as { title?: unknown };
  if (typeof title !== 'string') return replaced;
  components[title] = replaced;
  return { $ref: `#/components/schemas/${title}` };
};
