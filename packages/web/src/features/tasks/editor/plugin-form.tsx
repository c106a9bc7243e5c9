import { Box, Skeleton, Text } from '@mantine/core';
import { Dense } from '../../../components/schema-form/dense.ts';
import { GroupField } from '../../../components/schema-form/group-field.tsx';
import { Help } from '../../../components/schema-form/help.tsx';
import type { ObjectSchema } from '../../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../../components/schema-form/schema-fields.tsx';
import type { Issues } from '../../../lib/issues.ts';
import { text } from '../../../lib/text.ts';
import { usePlugin } from './use-plugins.ts';

/** Members behind "More settings": most tests keep their defaults. */
const advanced = [
  'ipLayer',
  'clientPortRange',
  'rotationMode',
  'cpuCores',
  'l2PolicyVersion',
  'reopenSessionTime',
  'requestInterval',
  'initialTps',
  'tpsRampStep',
  'totalSessions',
];

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
  const part = (isIncluded: (name: string) => boolean): ObjectSchema => ({
    ...schema,
    properties: Object.fromEntries(names.filter(isIncluded).map((name) => [name, schema.properties[name] ?? {}])),
  });
  const hidden = names.filter((name) => advanced.includes(name));
  const isOpen = hidden.some((name) => values[name] !== undefined || issues[`${path}/${name}`] !== undefined);
  const fields = { value: values, onChange, issues, path };
  return (
    <Dense value={true}>
      <Text size="sm" c="dimmed" mb="sm">
        <Help text={plugin.description} />
      </Text>
      <SchemaFields {...fields} schema={part((name) => !advanced.includes(name))} />
      {hidden.length > 0 && (
        <Box mt="sm">
          <GroupField
            name={text.editor.more}
            schema={{ default: {} }}
            isRequired={false}
            value={isOpen ? {} : undefined}
            onChange={() => {}}
            issues={{}}
            path={`${path}/more`}
            form={values}
          >
            <SchemaFields {...fields} schema={part((name) => advanced.includes(name))} />
          </GroupField>
        </Box>
      )}
    </Dense>
  );
};

/** Members in the given order; `*` stands for all others. */
const orderOf = (names: readonly string[], order: readonly string[] = ['*']): string[] => {
  const ordered = order.flatMap((name) => (name === 'duration' ? [...loads, name] : [name]));
  const rest = names.filter((name) => !ordered.includes(name));
  return ordered.flatMap((name) => (name === '*' ? rest : names.includes(name) ? [name] : []));
};
