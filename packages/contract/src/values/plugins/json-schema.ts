import type { TObject } from 'typebox';

type Json = Record<string, unknown>;

/** A member that has a default need not be given, although the filled form always has it. */
const relaxed = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(relaxed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { required, ...rest } = schema as Json & { required?: unknown };
  const members = Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, relaxed(part)]));
  if (!Array.isArray(required)) return 'required' in schema ? { ...members, required: relaxed(required) } : members;
  const properties = (rest['properties'] ?? {}) as Record<string, object>;
  const needed = required.filter((name: string) => !('default' in (properties[name] ?? {})));
  return needed.length === 0 ? members : { ...members, required: needed };
};

/** The schema as its writers see it: JSON Schema 2020-12 of what may be sent. */
export const toJsonSchema = (schema: TObject): Json => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...(relaxed(schema) as Json),
});
