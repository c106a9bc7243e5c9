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

export const typeOf = (schema: Schema): string => {
  const [first] = [schema.type].flat().filter((type) => type !== 'null');
  if (typeof first === 'string') return first;
  return schema.anyOf ? typeOf(schema.anyOf.find(({ type }) => type !== 'null') ?? {}) : 'any';
};

/** `clientPortRange` → "Client port range". */
export const labelOf = (name: string): string => {
  const words = name
    .replace(/_/g, ' ')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2');
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
};
