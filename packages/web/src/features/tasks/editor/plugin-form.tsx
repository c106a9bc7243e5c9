import { Skeleton, Text } from '@mantine/core';
import { Dense } from '../../../components/schema-form/dense.ts';
import { Help } from '../../../components/schema-form/help.tsx';
import type { ObjectSchema } from '../../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../../components/schema-form/schema-fields.tsx';
import type { Issues } from '../../../lib/issues.ts';
import { usePlugin } from './use-plugins.ts';

/** Rates, shown before the duration. */
const loads = [
  'requestsPerSecond',
  'packetsPerSecond',
  'sessionsPerSecond',
  'ppsPerConnection',
  'rpsUnlimited',
  'ppsUnlimited',
];

interface PluginFormProps {
  pluginId: number;
  values: Value;
  onChange: (values: Value) => void;
  issues: Issues;
  /** JSON pointer of the values. */
  path: string;
}

/** The values of an entry, generated from the schema of the plugin. */
export const PluginForm = ({ pluginId, values, onChange, issues, path }: PluginFormProps) => {
  const plugin = usePlugin(pluginId);
  if (plugin === undefined) return <Skeleton height={200} />;
  const schema = plugin.schema as unknown as ObjectSchema;
  const names = orderOf(Object.keys(schema.properties), plugin.uiSchema['ui:order'] as string[] | undefined);
  const ordered = {
    ...schema,
    properties: Object.fromEntries(names.map((name) => [name, schema.properties[name] ?? {}])),
  };
  return (
    <Dense value={true}>
      <Text size="xs" c="dimmed" mb={6} lineClamp={1} title={plugin.description}>
        <Help text={plugin.description} />
      </Text>
      <SchemaFields schema={ordered} {...{ value: values, onChange, issues, path }} />
    </Dense>
  );
};

/** Members in the given order; `*` stands for all others. */
const orderOf = (names: readonly string[], order: readonly string[] = ['*']): string[] => {
  const ordered = order.flatMap((name) => (name === 'duration' ? [...loads, name] : [name]));
  const rest = names.filter((name) => !ordered.includes(name));
  return ordered.flatMap((name) => (name === '*' ? rest : names.includes(name) ? [name] : []));
};
