import type { PluginSpec } from '@rushhour/contract';
import type { TSchema } from 'typebox';

type Form = Record<string, unknown>;

/** What people fill in first. */
const first = ['isServer', 'sources', 'targets', 'duration'];
const last = ['*'];

interface Drawn {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly writeOnly?: boolean;
  readonly 'x-reference'?: string;
  readonly 'x-categories'?: readonly string[];
  readonly 'x-ignored'?: boolean;
}

const widgetOf = (schema: Drawn): Form => {
  if (schema['x-ignored']) return { 'ui:disabled': true };
  if (schema.writeOnly) return { 'ui:widget': 'password' };
  const kind = schema['x-reference'];
  if (kind === undefined) return {};
  const categories = schema['x-categories'];
  return { 'ui:widget': 'reference', 'ui:options': { kind, ...(categories && { categories }) } };
};

const formOf = (schema: TSchema): Form => {
  const drawn = schema as Drawn;
  const members = Object.entries(drawn.properties ?? {})
    .map(([name, member]) => [name, formOf(member)] as const)
    .filter(([, form]) => Object.keys(form).length > 0);
  const items = drawn.items && formOf(drawn.items);
  return {
    ...widgetOf(drawn),
    ...Object.fromEntries(members),
    ...(items && Object.keys(items).length > 0 && { items }),
  };
};

/** How a form for the values of a plugin is drawn: the order of its members, and which of them are records or secrets. */
export const uiSchemaOf = ({ schema }: PluginSpec): Form => {
  const order = first.filter((name) => name in schema.properties);
  return { 'ui:order': [...order, ...last], ...formOf(schema) };
};
