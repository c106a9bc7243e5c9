import { Autocomplete, Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { Threshold } from '@rushhour/contract';
import { IconPlus } from '@tabler/icons-react';
import { GroupField } from '../../../components/schema-form/group-field.tsx';
import { CardList } from '../../../components/schema-form/rows-field.tsx';
import { type ObjectSchema, writableOf } from '../../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../../components/schema-form/schema-fields.tsx';
import type { Issues } from '../../../lib/issues.ts';
import { text } from '../../../lib/text.ts';

const { editor } = text;
const schema = Threshold as unknown as ObjectSchema;
const choices = (name: string) => (schema.properties[name]?.enum ?? []).map(String);
const rest = writableOf(schema, ['window', 'severity', 'onNoData', 'abortOnFail', 'delayAbortSec', 'scope']);

interface ThresholdsEditorProps {
  thresholds: readonly Threshold[];
  onChange: (thresholds: readonly Threshold[]) => void;
  metrics: readonly string[];
  issues: Issues;
}

const emptyThreshold: Threshold = { name: '', metric: '', aggregation: 'p99', operator: '<', value: 0 };

/** The conditions that a run must meet to pass. */
export const ThresholdsEditor = ({ thresholds, onChange, metrics, issues }: ThresholdsEditorProps) => (
  <Stack gap="sm">
    <Text size="sm" c="dimmed">
      {editor.thresholdsHelp}
    </Text>
    <CardList items={thresholds} nameOf={(i) => editor.threshold(i + 1)} onChange={onChange}>
      {(threshold, i, set) => (
        <ThresholdFields
          threshold={threshold}
          onChange={set}
          metrics={metrics}
          issues={issues}
          path={`/thresholds/${i}`}
        />
      )}
    </CardList>
    <Group>
      <Button
        variant="default"
        leftSection={<IconPlus size={16} />}
        onClick={() => onChange([...thresholds, { ...emptyThreshold, name: editor.threshold(thresholds.length + 1) }])}
      >
        {editor.addThreshold}
      </Button>
    </Group>
  </Stack>
);

interface ThresholdFieldsProps {
  threshold: Threshold;
  onChange: (threshold: Threshold) => void;
  metrics: readonly string[];
  issues: Issues;
  path: string;
}

const ThresholdFields = (props: ThresholdFieldsProps) => {
  const { threshold, onChange, issues, path } = props;
  return (
    <Stack gap="xs">
      <Condition {...props} />
      <GroupField
        name={editor.more}
        schema={{ default: {} }}
        isRequired={false}
        value={undefined}
        onChange={() => {}}
        issues={{}}
        path={`${path}/more`}
        form={{}}
      >
        <SchemaFields
          schema={rest}
          value={threshold as unknown as Value}
          onChange={(next) => onChange(next as unknown as Threshold)}
          issues={issues}
          path={path}
        />
      </GroupField>
    </Stack>
  );
};

const Condition = ({ threshold, onChange, metrics, issues, path }: ThresholdFieldsProps) => {
  const set = (members: Partial<Threshold>) => onChange({ ...threshold, ...members });
  const field = (name: 'name' | 'metric' | 'aggregation' | 'operator' | 'value', miw: number) => ({
    label: editor[name],
    miw,
    ...(issues[`${path}/${name}`] !== undefined && { error: issues[`${path}/${name}`] }),
  });
  return (
    <Group grow align="flex-start" preventGrowOverflow={false}>
      <TextInput
        {...field('name', 140)}
        value={threshold.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <Autocomplete
        {...field('metric', 160)}
        data={[...metrics]}
        limit={50}
        value={threshold.metric}
        onChange={(metric) => set({ metric })}
      />
      {(['aggregation', 'operator'] as const).map((name) => (
        <Select
          key={name}
          {...field(name, 90)}
          data={choices(name)}
          value={threshold[name]}
          allowDeselect={false}
          onChange={(next) => set({ [name]: next })}
        />
      ))}
      <NumberInput
        {...field('value', 100)}
        value={threshold.value}
        thousandSeparator=" "
        onChange={(value) => set({ value: Number(value) })}
      />
    </Group>
  );
};
