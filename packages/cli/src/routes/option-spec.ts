import type { Route } from '@rushhour/contract';

/** Parts of a request that options go to. */
export const optionParts = ['params', 'query', 'body', 'upload'] as const;
export type OptionPart = (typeof optionParts)[number];

/** How the text of an option becomes a value. */
type ValueKind = 'text' | 'number' | 'flag' | 'list' | 'json';

/** One option of an operation: a member of its path, query, body or upload. */
export interface OptionSpec {
  readonly name: string;
  /** Where it belongs; a member of body and upload belongs to the one that is sent. */
  readonly parts: readonly OptionPart[];
  readonly kind: ValueKind;
  /** Kind of the items of a list. */
  readonly items?: ValueKind;
  /** The type for help: `integer 1..100`, `asc|desc`. */
  readonly type: string;
  readonly required?: true;
  readonly choices?: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly description?: string;
  readonly readOnly?: boolean;
  readonly title?: string;
}

/** The schema without `null`, which stands for a member that is cleared. */
const valueSchema = (schema: Schema): Schema => {
  const [only, ...more] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  return only !== undefined && more.length === 0 ? { ...schema, ...only, anyOf: [] } : schema;
};

const typesOf = ({ type, anyOf = [] }: Schema): string[] =>
  type === undefined ? anyOf.flatMap(typesOf) : [type].flat().filter((name) => name !== 'null');

const kindOf = (schema: Schema): ValueKind => {
  const types = new Set(typesOf(schema));
  if (types.size === 1 && types.has('string')) return 'text';
  if (types.size === 1 && types.has('boolean')) return 'flag';
  if (types.size === 1 && types.has('array')) return 'list';
  return types.size > 0 && [...types].every((name) => name === 'integer' || name === 'number') ? 'number' : 'json';
};

const rangeOf = ({ minimum, maximum }: Schema) => {
  const isOpen = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER;
  if (minimum === undefined && isOpen) return '';
  return ` ${minimum ?? ''}..${isOpen ? '' : maximum}`;
};

const shownMembers = 12;

const typeText = (schema: Schema): string => {
  if (schema.enum) return schema.enum.join('|');
  if (kindOf(schema) === 'list') return `list of ${schema.items ? typeText(valueSchema(schema.items)) : 'values'}`;
  const types = [...new Set(typesOf(schema))];
  if (types.length === 1 && types[0] === 'object') {
    const names = Object.keys(schema.properties ?? {});
    return names.length === 0
      ? 'object'
      : `{${names.slice(0, shownMembers).join(', ')}${names.length > shownMembers ? ', …' : ''}}`;
  }
  return `${types.join('|') || 'any'}${rangeOf(schema)}`;
};

const specOf = (name: string, part: OptionPart, given: Schema, required: boolean): OptionSpec => {
  const schema = valueSchema(given);
  const kind = kindOf(schema);
  return {
    name,
    parts: [part],
    kind,
    ...(kind === 'list' && { items: kindOf(valueSchema(schema.items ?? {})) }),
    type: typeText(schema),
    ...(required && { required }),
    ...(schema.enum && { choices: schema.enum }),
    ...(given.default !== undefined && { default: given.default }),
    ...(given.description && { description: given.description }),
  };
};

/** Bodies of one of several forms take the members of all. */
const formsOf = (schema: Schema | undefined): readonly Schema[] =>
  schema?.properties ? [schema] : (schema?.anyOf ?? []);

/** All options of a route: those of the path first. */
export const optionsOf = (route: Route): OptionSpec[] => {
  const found = new Map<string, OptionSpec>();
  for (const part of optionParts) {
    const forms = formsOf(route[part] as Schema | undefined);
    for (const form of forms) {
      for (const [name, member] of Object.entries(form.properties ?? {})) {
        if (member.readOnly) continue;
        const required = forms.length === 1 && (form.required?.includes(name) ?? false);
        const known = found.get(name);
        const spec = known ?? specOf(name, part, member, required);
        found.set(name, known && !known.parts.includes(part) ? { ...known, parts: [...known.parts, part] } : spec);
      }
    }
  }
  return [...found.values()];
};
