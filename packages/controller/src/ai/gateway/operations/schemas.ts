import { api, plugins, type Route, secretValues, TaskDraft, toJsonSchema } from '@rushhour/contract';
import type { TObject, TSchema } from 'typebox';
import { isSecretName } from '../redact.ts';

type Json = Record<string, unknown>;

const records: Record<string, Route> = {
  network: api.networks.routes.create,
  application: api.applications.routes.create,
  certificate: api.certificates.routes.create,
  tunnel: api.tunnels.routes.create,
  mac: api.macs.routes.create,
  dictionary: api.dictionaries.routes.create,
  template: api.taskTemplates.routes.create,
  project: api.projects.routes.create,
};

const pluginPrefix = 'plugin.';
const memberPrefix = 'task.values.';

const membersOf = (schema: TSchema) => (schema as { properties?: Record<string, TSchema> }).properties ?? {};

/** Schemas of the members of `values` that are objects, from the first plugin that takes them. */
const valueSchemas = () => {
  const found = new Map<string, { schema: TSchema; plugin: (typeof plugins)[number] }>();
  for (const plugin of plugins) {
    for (const [name, schema] of Object.entries(membersOf(plugin.schema))) {
      if (!found.has(name)) found.set(name, { schema, plugin });
    }
  }
  return found;
};

export const schemaNames = () => [
  'task',
  ...Object.keys(records),
  ...plugins.map(({ name }) => pluginPrefix + name),
  ...[...valueSchemas()].filter(([, { schema }]) => 'properties' in schema).map(([name]) => memberPrefix + name),
];

/** The values of an entry depend on the plugin and are not repeated here. */
const withoutValues = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withoutValues);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ((schema as { title?: string }).title === 'EntryValues')
    return { type: 'object', description: 'See the schema plugin.<name> of the plugin' };
  return Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, withoutValues(part)]));
};

/** Members shown as marks only; keys cannot set them. */
const secretPointers = (schema: unknown, pointer = ''): string[] => {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, items } = schema as { properties?: Json; items?: unknown };
  return [
    ...Object.entries(properties).flatMap(([name, member]) =>
      isSecretName(name) ? [`${pointer}/${name}`] : secretPointers(member, `${pointer}/${name}`),
    ),
    ...(items === undefined ? [] : secretPointers(items, `${pointer}/*`)),
  ];
};

const taskExamples = () =>
  plugins
    .filter(({ examples, hazard }) => examples.length > 0 && hazard <= 1)
    .slice(0, 2)
    .map(({ id, examples }) => ({ comment: 'an example', configuration: [{ plugin: { id }, values: examples[0] }] }));

const shown = (name: string, schema: TSchema, examples: readonly unknown[], more: readonly string[] = []) => {
  const text = toJsonSchema(schema as TObject);
  return { name, schema: text, secretPointers: [...secretPointers(text), ...more], examples: [...examples] };
};

export const findSchema = (name: string) => {
  if (name === 'task') {
    const inValues = secretValues.map((secret) => `/configuration/*/values/${secret}`);
    return shown(name, withoutValues(TaskDraft) as TSchema, taskExamples(), inValues);
  }
  const body = Object.hasOwn(records, name) ? records[name]?.body : undefined;
  if (body !== undefined) return shown(name, body, []);
  const plugin = plugins.find((candidate) => name === pluginPrefix + candidate.name);
  if (plugin) return shown(name, plugin.schema, plugin.examples.slice(0, 3));
  const member = name.startsWith(memberPrefix) ? valueSchemas().get(name.slice(memberPrefix.length)) : undefined;
  if (member === undefined || !('properties' in member.schema)) return undefined;
  const examples = member.plugin.examples.map((example) => example[name.slice(memberPrefix.length)]);
  return shown(name, member.schema, examples.filter((example) => example !== undefined).slice(0, 3));
};
