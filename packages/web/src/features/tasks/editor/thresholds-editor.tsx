import { Autocomplete, Button, Card, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { Threshold } from '@rushhour/contract';
import { IconPlus } from '@tabler/icons-react';
import { GroupField } from '../../../components/schema-form/group-field.tsx';
import { ListButtons, moved } from '../../../components/schema-form/list-buttons.tsx';
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

const first: Threshold = { name: '', metric: '', aggregation: 'p99', operator: '<', value: 0 };

/** What results must hold for the verdict to be "passed". */
export const ThresholdsEditor = ({ thresholds, onChange, metrics, issues }: ThresholdsEditorProps) => (
  <Stack gap="sm">
    <Text size="sm" c="dimmed">
      {editor.thresholdsHelp}
    </Text>
    {thresholds.map((threshold, i) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: thresholds have no other identity than their place
      <Card key={i} withBorder padding="sm" role="group" aria-label={editor.threshold(i + 1)}>
        <Group justify="space-between" mb={4}>
          <Text size="xs" c="dimmed">
            {editor.threshold(i + 1)}
          </Text>
          <ListButtons
            label={editor.threshold(i + 1)}
            isFirst={i === 0}
            isLast={i === thresholds.length - 1}
            onMove={(by) => onChange(moved(thresholds, i, by))}
            onRemove={() => onChange(thresholds.filter((_, at) => at !== i))}
          />
        </Group>
        <ThresholdFields
          threshold={threshold}
          onChange={(next) => onChange(thresholds.map((one, at) => (at === i ? next : one)))}
          metrics={metrics}
          issues={issues}
          path={`/thresholds/${i}`}
        />
      </Card>
    ))}
    <Group>
      <Button
        variant="default"
        leftSection={<IconPlus size={16} />}
        onClick={() => onChange([...thresholds, { ...first, name: editor.threshold(thresholds.length + 1) }])}
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

const ThresholdFields = ({ threshold, onChange, metrics, issues, path }: ThresholdFieldsProps) => {
  const set = (members: Partial<Threshold>) => onChange({ ...threshold, ...members });
  const errorAt = (name: string) =>
    issues[`${path}/${name}`] === undefined ? {} : { error: issues[`${path}/${name}`] };
  return (
    <Stack gap="xs">
      <Group grow align="flex-start" preventGrowOverflow={false}>
        <TextInput
          label={editor.name}
          value={threshold.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          miw={140}
          {...errorAt('name')}
        />
        <Autocomplete
          label={editor.metric}
          data={[...metrics]}
          limit={50}
          value={threshold.metric}
          onChange={(metric) => set({ metric })}
          miw={160}
          {...errorAt('metric')}
        />
        <Select
          label={editor.aggregation}
          data={choices('aggregation')}
          value={threshold.aggregation}
          allowDeselect={false}
          onChange={(aggregation) => set({ aggregation: aggregation as Threshold['aggregation'] })}
          miw={90}
          {...errorAt('aggregation')}
        />
        <Select
          label={editor.operator}
          data={choices('operator')}
          value={threshold.operator}
          allowDeselect={false}
          onChange={(operator) => set({ operator: operator as Threshold['operator'] })}
          miw={80}
          {...errorAt('operator')}
        />
        <NumberInput
          label={editor.value}
          value={threshold.value}
          thousandSeparator=" "
          onChange={(value) => set({ value: Number(value) })}
          miw={100}
          {...errorAt('value')}
        />
      </Group>
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
