import { createNames, type JourneyDraft, requestStep, type StepDraft } from './journey-draft.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly example?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly $ref?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
  readonly schema?: Schema;
}

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { example?: unknown; schema?: Schema }>> };
  readonly responses?: Readonly<Record<string, unknown>>;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info?: { readonly title?: string };
  readonly servers?: readonly { readonly url?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation | undefined>>>>;
}

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'];
const maxDepth = 6;

/** An operation of a document that can become a step. */
export interface OpenApiOperation {
  /** `GET /items` */
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export const operationsOf = ({ paths }: OpenApiDocument): OpenApiOperation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((name) => {
      const operation = item[name];
      const method = name.toUpperCase();
      return operation === undefined ? [] : [{ key: `${method} ${path}`, method, path, operation }];
    }),
  );

const resolved = (document: OpenApiDocument, schema: Schema): Schema => {
  const parts = schema.$ref?.startsWith('#/') ? schema.$ref.slice(2).split('/') : undefined;
  if (parts === undefined) return schema;
  const found = parts.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
  return (found as Schema | undefined) ?? {};
};

/** A value that fits a schema: its example, default or first choice, or the smallest. */
const exampleOf = (document: OpenApiDocument, given: Schema = {}, depth = 0): unknown => {
  const schema = resolved(document, given);
  const known = schema.example ?? schema.default ?? schema.enum?.[0];
  if (known !== undefined || depth > maxDepth) return known ?? null;
  if (schema.properties !== undefined) {
    const members = Object.entries(schema.properties);
    return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(document, member, depth + 1)]));
  }
  const [type] = [schema.type].flat();
  if (type === 'array') return schema.items === undefined ? [] : [exampleOf(document, schema.items, depth + 1)];
  return { integer: 1, number: 1, boolean: true, string: 'text' }[String(type)] ?? null;
};

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

const statusOf = ({ responses = {} }: Operation): string | undefined =>
  Object.keys(responses).find((status) => /^2\d\d$/.test(status));

/** A journey of the chosen operations; parameters become variables with an example value. */
export const journeyFromOpenApi = (document: OpenApiDocument, chosen: readonly string[]): JourneyDraft => {
  const variables = new Map<string, string>();
  const nameOf = createNames();
  const base = URL.parse(document.servers?.[0]?.url ?? '/', 'http://localhost')?.pathname.replace(/\/$/, '') ?? '';
  const placeholder = (parameter: Parameter): string => {
    const name = parameter.name.replace(/[^A-Za-z0-9_]/g, '_').replace(/^([^A-Za-z])/, 'p$1');
    const example = textOf(parameter.example ?? exampleOf(document, parameter.schema) ?? 1);
    // A parameter that only its path names may have an example elsewhere.
    if (parameter.example !== undefined || parameter.schema !== undefined || !variables.has(name)) {
      variables.set(name, example);
    }
    return `{{${name}}}`;
  };
  const stepOf = ({ method, path, operation }: OpenApiOperation): StepDraft => {
    const parameters = operation.parameters ?? [];
    const filled = path.replace(/\{([^{}]+)\}/g, (_, name: string) =>
      placeholder(parameters.find((one) => one.name === name) ?? { name, in: 'path' }),
    );
    const query = parameters
      .filter((parameter) => parameter.in === 'query' && parameter.required)
      .map((parameter) => `${encodeURIComponent(parameter.name)}=${placeholder(parameter)}`);
    const json = operation.requestBody?.content?.['application/json'];
    const status = statusOf(operation);
    return {
      ...requestStep({
        name: nameOf(operation.operationId ?? `${method} ${path}`),
        method,
        path: `${base}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`,
        ...(json && {
          headers: [{ name: 'Content-Type', value: 'application/json' }],
          body: JSON.stringify(json.example ?? exampleOf(document, json.schema)),
        }),
      }),
      ...(status !== undefined && { checks: [{ kind: 'status', value: status }] }),
    };
  };
  const steps = operationsOf(document)
    .filter(({ key }) => chosen.includes(key))
    .map(stepOf);
  return {
    name: (document.info?.title ?? 'API').slice(0, 64),
    ...(variables.size > 0 && { variables: [...variables].map(([name, value]) => ({ name, value })) }),
    steps,
  };
};
