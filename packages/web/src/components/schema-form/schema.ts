import { text } from '../../lib/text.ts';
import { choiceLabelOf } from '../../texts/choices.ts';

/** The part of JSON Schema that the API uses. */
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
  /** Values to pick from; others may be typed. */
  examples?: readonly unknown[];
  /** One text has several values, joined by this. */
  'x-separator'?: string;
  readOnly?: boolean;
  writeOnly?: boolean;
  /** The kind of record that an id names. */
  'x-reference'?: string;
  'x-categories'?: readonly string[];
  /** Accepted but ignored. */
  'x-ignored'?: boolean;
  /** Values of other members with which this one matters. */
  'x-for'?: Readonly<Record<string, readonly unknown[]>>;
}

export interface ObjectSchema extends Schema {
  properties: Record<string, Schema>;
}

/** Members of an update that the page sets itself. */
const ownMembers = new Set(['id', 'ID', 'updatedAt']);

/** The writable members, in the given order. */
export const writableOf = (schema: ObjectSchema, order?: readonly string[]): ObjectSchema => {
  const names =
    order ??
    Object.keys(schema.properties).filter((name) => !schema.properties[name]?.readOnly && !ownMembers.has(name));
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

/** The schema without "or null", which updates allow for members that can be cleared. */
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

/** The choices of an enumeration; `member` is the member that has them. */
export const choicesOf = ({ enum: values = [] }: Schema, member: string): { value: string; label: string }[] =>
  values
    .filter((value) => value !== '' && value !== null)
    .map((value) => ({ value: String(value), label: choiceLabelOf(value, member) }));

/** Descriptions of the API say "x unless said" for a default; forms say "Default: x". */
export const withDefaults = (description: string): string =>
  description.replace(/(^|; )(\S+) unless said/g, (_, before: string, value: string) =>
    [...(before === '' ? [] : ['. ']), text.form.default(value)].join(''),
  );

/** Categories of files that a reference takes; empty: all. */
export const categoriesOf = (schema: Schema): readonly string[] =>
  schema['x-categories'] ?? schema.properties?.['id']?.['x-categories'] ?? [];

/** The kind of record in `{ id }`, or in an id itself. */
export const referenceOf = (schema: Schema): string | undefined =>
  schema['x-reference'] ?? (typeOf(schema) === 'object' ? schema.properties?.['id']?.['x-reference'] : undefined);

/** The first message at a JSON pointer or below it. */
export const issueWithin = (issues: Readonly<Record<string, string>>, path: string): string | undefined =>
  Object.entries(issues).find(([at]) => at === path || at.startsWith(`${path}/`))?.[1];
