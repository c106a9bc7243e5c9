import { memberDescriptions } from '@rushhour/contract';

/** The parts of a JSON schema that a reader sees. */
export interface Shown {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shown[];
  readonly properties?: Readonly<Record<string, Shown>>;
  readonly required?: readonly string[];
  readonly items?: Shown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly writeOnly?: boolean;
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (value: unknown) => `\`${JSON.stringify(value)}\``;
const grouped = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 6 });

/** A table with these columns. */
export const tableOf = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, columns.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

const boundsOf = ({ minimum, exclusiveMinimum, maximum }: Shown) => {
  const from = minimum ?? exclusiveMinimum;
  const above = exclusiveMinimum === undefined ? '' : 'above ';
  if (from === undefined) return maximum === undefined ? '' : ` up to ${grouped(maximum)}`;
  return maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER
    ? ` from ${above}${grouped(from)}`
    : ` from ${above}${grouped(from)} to ${grouped(maximum)}`;
};

/** What may be given, in words: `integer from 1 to 100`, `"a", "b"`, `list of objects`. */
export const typeOf = (schema: Shown): string => {
  const choices =
    schema.enum ?? (schema.anyOf?.every((one) => one.const !== undefined) && schema.anyOf.map((one) => one.const));
  if (choices) return choices.map(code).join(', ');
  if (schema.const !== undefined) return code(schema.const);
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.type === 'array')
    return `list of ${schema.items ? typeOf(schema.items).replace(/^object$/, 'objects') : 'values'}`;
  const name = Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'any value');
  return `${name}${boundsOf(schema)}`;
};

const inner = (schema: Shown): { readonly schema: Shown; readonly suffix: string } | undefined => {
  if (schema.properties) return { schema, suffix: '' };
  if (schema.items?.properties) return { schema: schema.items, suffix: '[]' };
  const object = schema.anyOf?.find((one) => one.properties ?? one.items?.properties);
  return object && inner(object);
};

/** A row for each member, members of members behind a dot. */
export const memberRows = (schema: Shown, before = ''): string[][] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = `${before}${name}`;
    const below = inner(member);
    const isNeeded = schema.required?.includes(name) && member.default === undefined;
    const fallback = isNeeded ? 'required' : member.default === undefined ? '' : code(member.default);
    const secret = member.writeOnly ? ' Secret: it is stored encrypted and reads back masked.' : '';
    const row = [
      `\`${path}\``,
      typeOf(member),
      fallback,
      `${member.description ?? memberDescriptions[name] ?? ''}${secret}`,
    ];
    return [row, ...(below ? memberRows(below.schema, `${path}${below.suffix}.`) : [])];
  });

export const membersTable = (schema: Shown) => tableOf(['Member', 'Value', 'Default', 'Meaning'], memberRows(schema));
