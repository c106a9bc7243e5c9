import { labels } from '../../texts/labels.ts';

/** As much of JSON Schema as the contract uses. */
export interface Schema {
  type?: string | readonly string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  format?: string;
  readOnly?: boolean;
  writeOnly?: boolean;
  /** The kind of record that an id names. */
  'x-reference'?: string;
  'x-categories'?: readonly string[];
  /** Accepted, but nothing honours it yet. */
  'x-ignored'?: boolean;
}

export interface ObjectSchema extends Schema {
  properties: Record<string, Schema>;
}

/** Members of an update that the page fills in itself. */
const ours = new Set(['id', 'ID', 'updatedAt']);

/** The members a person may write, in the order wished for. */
export const writableOf = (schema: ObjectSchema, order?: readonly string[]): ObjectSchema => {
  const names =
    order ?? Object.keys(schema.properties).filter((name) => !schema.properties[name]?.readOnly && !ours.has(name));
  return {
    ...schema,
    properties: Object.fromEntries(
      names.flatMap((name) => {
        const member = schema.properties[name];
        return member === undefined ? [] : [[name, member]];
      }),
    ),
  };
};

/** What stays when "or null" is left out, which an update allows for members that can be cleared. */
export const withoutNull = (schema: Schema): Schema => {
  const rest = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  const [only] = rest;
  if (only === undefined || rest.length > 1) return schema;
  const description = schema.description ?? only.description;
  return { ...only, ...(description !== undefined && { description }) };
};

export const typeOf = (schema: Schema): string => {
  const [first] = [schema.type].flat().filter((type) => type !== 'null');
  if (typeof first === 'string') return first;
  return schema.anyOf ? typeOf(schema.anyOf.find(({ type }) => type !== 'null') ?? {}) : 'any';
};

/** The choices of an enumeration. Numbers are named by the description where it does: "1 client, 2 server". */
export const choicesOf = ({ enum: values = [], description = '' }: Schema): { value: string; label: string }[] =>
  values
    .filter((value) => value !== '' && value !== null)
    .map(String)
    .map((value) => {
      const named = /^\d+$/.test(value) ? new RegExp(`(?:^|, )${value} ([^,;]+)`).exec(description)?.[1] : undefined;
      return { value, label: named ?? value };
    });

/** The label of a member. `path` is the JSON pointer of its field: some members mean something else inside some parents. */
export const labelOf = (name: string, path = ''): string => {
  const parent = path
    .split('/')
    .slice(0, -1)
    .findLast((part) => part !== '' && !/^\d+$/.test(part));
  return labels.get(`${parent}.${name}`) ?? labels.get(name) ?? name;
};

/** The kind of record in `{ id }`, or in an id itself. */
export const referenceOf = (schema: Schema): string | undefined =>
  schema['x-reference'] ?? (typeOf(schema) === 'object' ? schema.properties?.['id']?.['x-reference'] : undefined);

/** The first message at a place or inside it. */
export const issueWithin = (issues: Readonly<Record<string, string>>, path: string): string | undefined =>
  Object.entries(issues).find(([place]) => place === path || place.startsWith(`${path}/`))?.[1];
