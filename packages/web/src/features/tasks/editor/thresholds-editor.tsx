import { Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { type MetricDescription, Threshold } from '@rushhour/contract';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { GroupField } from '../../../components/schema-form/group-field.tsx';
import { CardList } from '../../../components/schema-form/rows-field.tsx';
import { choicesOf, type ObjectSchema, writableOf } from '../../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../../components/schema-form/schema-fields.tsx';
import type { Issues } from '../../../lib/issues.ts';
import { text } from '../../../lib/text.ts';

const { editor } = text;
const schema = Threshold as unknown as ObjectSchema;
const choices = (name: string) => choicesOf(schema.properties[name] ?? {}, name);
const rest = writableOf(schema, ['window', 'severity', 'onNoData', 'abortOnFail', 'delayAbortSec', 'scope']);

type Metric = Pick<MetricDescription, 'name' | 'unit'>;

interface ThresholdsEditorProps {
  thresholds: readonly Threshold[];
  onChange: (thresholds: readonly Threshold[]) => void;
  metrics: readonly Metric[];
  issues: Issues;
}

const emptyThreshold: Threshold = { name: '', metric: '', aggregation: 'p99', operator: '<', value: Number.NaN };

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
  metrics: readonly Metric[];
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

/** The known metrics, the current one, and the typed one if a family such as `http.status.*` contains it. */
const optionsOf = (metrics: readonly Metric[], current: string, typed: string): string[] => {
  const names = metrics.map(({ name }) => name).filter((name) => !name.includes('*'));
  const isOfFamily = metrics.some(({ name }) => name.endsWith('.*') && isMember(name, typed));
  return [...new Set([...names, ...(current === '' ? [] : [current]), ...(isOfFamily ? [typed] : [])])];
};

const isMember = (family: string, name: string) => name.startsWith(family.slice(0, -1)) && name.length >= family.length;

/** The unit that a value is entered in; durations are stored in microseconds and entered in milliseconds. */
const unitOf = (metrics: readonly Metric[], { metric, aggregation }: Threshold) => {
  const unit = metrics.find(({ name }) => name === metric)?.unit ?? '';
  if (aggregation === 'count') return { factor: 1, suffix: '' };
  const perSecond = aggregation === 'rate' ? '/s' : '';
  if (unit === 'µs') return { factor: 1000, suffix: ` ms${perSecond}` };
  const shown = unit === '1/s' ? '/s' : `${unit}${perSecond}`;
  return { factor: 1, suffix: shown === '' ? '' : ` ${shown}` };
};

const Condition = ({ threshold, onChange, metrics, issues, path }: ThresholdFieldsProps) => {
  const unit = unitOf(metrics, threshold);
  const [typed, setTyped] = useState('');
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
      <Select
        {...field('metric', 160)}
        data={optionsOf(metrics, threshold.metric, typed)}
        searchable
        onSearchChange={setTyped}
        limit={100}
        allowDeselect={false}
        nothingFoundMessage={text.form.noRecord}
        value={threshold.metric || null}
        onChange={(metric) => metric !== null && set({ metric })}
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
        {...field('value', 120)}
        value={Number.isFinite(threshold.value) ? threshold.value / unit.factor : ''}
        thousandSeparator=" "
        suffix={unit.suffix}
        onChange={(value) => set({ value: value === '' ? Number.NaN : Number(value) * unit.factor })}
      />
    </Group>
  );
};
