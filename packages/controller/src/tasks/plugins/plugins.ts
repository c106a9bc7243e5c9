import { type api, findPlugin, metricsOf, type PluginSpec, plugins, toJsonSchema } from '@rushhour/contract';
import type { EngineAbility } from '@rushhour/protocol';
import type { TSchema } from 'typebox';
import { notFound, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { createSchemaCheck } from '../../schema-check.ts';
import { engineAbilities } from '../../store/agents/agents.ts';
import type { Store } from '../../store/store.ts';

type Form = Record<string, unknown>;

/** The members users fill in first. */
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

/** Form hints for the values of a plugin: the order of members, and which of them are records or secrets. */
const uiSchemaOf = ({ schema }: PluginSpec): Form => {
  const order = first.filter((name) => name in schema.properties);
  return { 'ui:order': [...order, ...last], ...formOf(schema) };
};

/** The engines of each relevant agent. */
type Abilities = readonly (readonly EngineAbility[])[];

const reasonFor = ({ engines }: PluginSpec, abilities: Abilities): string => {
  if (abilities.length === 0) return 'no agent is enrolled';
  const lacking = abilities.flat().find(({ engine, reason }) => engines.includes(engine) && reason !== '');
  return lacking?.reason ?? `no agent has the engine ${engines.join(' or ')}`;
};

const isRunnable = ({ engines }: PluginSpec, abilities: Abilities): boolean =>
  // Work of the controller itself needs no engine.
  engines.length === 0 || abilities.flat().some(({ engine, available }) => available && engines.includes(engine));

const rowOf = (plugin: PluginSpec, abilities: Abilities) => {
  const { id, name, title, description, kind, hazard, version, canPause, canChangeLoad, engines, schema } = plugin;
  const available = isRunnable(plugin, abilities);
  return {
    ...{ id, name, title, description, kind, hazard, version, canPause, canChangeLoad },
    members: Object.keys(schema.properties),
    engines: [...engines],
    available,
    reason: available ? '' : reasonFor(plugin, abilities),
  };
};

const defaultsOf = ({ schema }: PluginSpec): Record<string, unknown> => {
  const values: Record<string, unknown> = {};
  createSchemaCheck(schema)(values);
  return values;
};

const detailsOf = (plugin: PluginSpec) => ({
  schema: toJsonSchema(plugin.schema),
  uiSchema: uiSchemaOf(plugin),
  defaults: defaultsOf(plugin),
  examples: plugin.examples.map((example) => ({ ...example })),
  metrics: metricsOf(plugin),
  subplugins: { ...plugin.subplugins },
  requires: [...plugin.requires],
});

type Handled = 'plugins' | 'plugin';

export const pluginHandlers = ({ store }: { store: Store }): Pick<Handlers<typeof api.tasks>, Handled> => {
  const abilitiesOf = async (agentID: number | undefined): Promise<Abilities> => {
    return orNotFound(engineAbilities(store.read, agentID), 'agent', agentID as number);
  };

  return {
    plugins: async ({ query: { kind, agentID } }) => {
      const abilities = await abilitiesOf(agentID);
      const chosen = plugins.filter((plugin) => kind === undefined || plugin.kind === kind);
      const data = chosen.map((plugin) => rowOf(plugin, abilities));
      const count = data.length;
      return { cursor: { count, currentPage: 1, totalPages: 1, totalRows: count }, data };
    },
    plugin: async ({ params, query }) => {
      const plugin = findPlugin(params.id);
      if (plugin === undefined) throw notFound('plugin', params.id);
      return { data: { ...rowOf(plugin, await abilitiesOf(query.agentID)), ...detailsOf(plugin) } };
    },
  };
};
