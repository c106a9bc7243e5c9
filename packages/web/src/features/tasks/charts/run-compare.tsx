import { Badge, Button, Code, Group, Popover, Select, Stack, Text } from '@mantine/core';
import type { Task } from '@rushhour/contract';
import { IconArrowsDiff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type DataColumn, DataTable } from '../../../components/data-table.tsx';
import { Section } from '../../../components/page.tsx';
import { Problem } from '../../../components/problem.tsx';
import { RecordSelect } from '../../../components/schema-form/record-select.tsx';
import { client } from '../../../lib/client.ts';
import { fieldName } from '../../../lib/issues.ts';
import { text } from '../../../lib/text.ts';
import { absoluteTime } from '../../../lib/times.ts';
import { measured } from '../../../lib/units.ts';
import { usePageSearch } from '../../../lib/use-page-search.ts';
import { loadSeries, type RunSeries } from './run-series.ts';

const { compare: words } = text;
const { columns: headers } = words;

/** The run that the URL asks to compare with. */
export const useOtherRun = (latency: string): { runId: number; series: RunSeries | undefined } | undefined => {
  const { number } = usePageSearch();
  const [taskId, runId] = [number('withTask') ?? 0, number('with') ?? 0];
  const isGiven = taskId > 0 && runId > 0;
  const { data: series } = useQuery({
    queryKey: ['tasks', 'series', taskId, runId, latency],
    queryFn: () => loadSeries(taskId, runId, latency),
    enabled: isGiven,
  });
  return isGiven ? { runId, series } : undefined;
};

/** Selects the run to compare with, of this or any other task. */
export const ComparePicker = ({ task, runId }: { task: Task; runId: number }) => {
  const { number, set } = usePageSearch();
  const [isOpen, setOpen] = useState(false);
  const [taskId, setTaskId] = useState(number('withTask') ?? task.id);
  const select = (other: number | undefined) => {
    setOpen(false);
    set({ with: other, withTask: other === undefined ? undefined : taskId });
  };
  return (
    <Group gap="xs">
      {number('with') !== undefined && (
        <Button size="xs" variant="subtle" onClick={() => select(undefined)}>
          {words.stop}
        </Button>
      )}
      <Popover opened={isOpen} onChange={setOpen} trapFocus withinPortal>
        <Popover.Target>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconArrowsDiff size={14} />}
            onClick={() => setOpen(!isOpen)}
          >
            {words.with}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={words.with}>
          <Stack gap="xs">
            <RecordSelect
              name="tasks"
              label={words.task}
              value={taskId}
              onChange={(id) => id !== undefined && setTaskId(id)}
              openOnFocus={false}
              comboboxProps={{ withinPortal: false }}
            />
            <RunSelect taskId={taskId} exclude={runId} onSelect={select} />
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </Group>
  );
};

interface RunSelectProps {
  taskId: number;
  exclude: number;
  onSelect: (runId: number) => void;
}

const RunSelect = ({ taskId, exclude, onSelect }: RunSelectProps) => {
  const { data: runs = [] } = useQuery({
    queryKey: ['tasks', 'runs', taskId],
    queryFn: async () => (await client.tasks.runs({ params: { id: taskId }, query: { count: 50 } })).data,
  });
  return (
    <Select
      data-autofocus
      label={words.run}
      placeholder={words.none}
      comboboxProps={{ withinPortal: false }}
      data={runs
        .filter(({ id }) => id !== exclude)
        .map(({ id, number, queuedAt }) => ({ value: String(id), label: words.runOf(number, absoluteTime(queuedAt)) }))}
      value={null}
      onChange={(run) => run !== null && onSelect(Number(run))}
      nothingFoundMessage={words.none}
    />
  );
};

type Metric = Awaited<ReturnType<typeof client.tasks.compare>>['data']['metrics'][number];

/** About the generator, not about what was tested: they decide nothing. */
const isOfGenerator = ({ metric }: Metric) => metric.startsWith('agent') || metric === 'scheduleLagMs';

const colorOf = (metric: Metric) => {
  const { delta, better, significant } = metric;
  if (isOfGenerator(metric) || delta === null || delta === 0 || better === 'none' || !significant) return 'inherit';
  return delta > 0 === (better === 'higher') ? 'teal' : 'red';
};

const percent = (value: number | null) => (value === null ? '–' : `${value > 0 ? '+' : ''}${value.toFixed(1)} %`);

/** A significant difference is bold, and colored by whether it is better or worse. */
const Cell = ({ metric, value }: { metric: Metric; value: string }) => (
  <Text span size="sm" fw={metric.significant && !isOfGenerator(metric) ? 600 : 400} c={colorOf(metric)}>
    {value}
  </Text>
);

const columns: readonly DataColumn<Metric>[] = [
  { header: headers.metric, cell: ({ metric }) => metric },
  { header: headers.other, align: 'right', cell: ({ base, unit }) => measured(base, unit) },
  { header: headers.this, align: 'right', cell: ({ target, unit }) => measured(target, unit) },
  {
    header: headers.difference,
    align: 'right',
    cell: (metric) => <Cell metric={metric} value={measured(metric.delta, metric.unit)} />,
  },
  {
    header: headers.change,
    align: 'right',
    cell: (metric) => <Cell metric={metric} value={percent(metric.deltaPct)} />,
  },
];

/** What was zero in both runs says nothing. */
const isZero = ({ base, target }: Metric) => (base ?? 0) === 0 && (target ?? 0) === 0;

/** Metrics that decide come first, changed ones before others. */
const byMeaning = (a: Metric, b: Metric) => weightOf(b) - weightOf(a);
const weightOf = (metric: Metric) =>
  isOfGenerator(metric) ? -1 : Number(metric.better !== 'none') * 2 + Number(metric.significant);

/** The differences between two runs: metrics and configuration. */
export const RunComparison = ({ runId, otherId }: { runId: number; otherId: number }) => {
  const { data, error } = useQuery({
    queryKey: ['tasks', 'compare', otherId, runId],
    queryFn: async () => (await client.tasks.compare({ query: { base: otherId, target: runId } })).data,
  });
  if (error) return <Problem error={error} />;
  if (data === undefined) return null;
  const verdict = (
    <Badge variant="light" tt="none" autoContrast>
      {words.verdicts[data.verdict]}
    </Badge>
  );
  return (
    <Section
      title={words.title(text.task.runNumber(data.base.number), text.task.runNumber(data.target.number))}
      order={3}
      aside={verdict}
    >
      <DataTable
        columns={columns}
        rows={data.metrics.filter((metric) => !isZero(metric)).sort(byMeaning)}
        keyOf={({ metric }) => metric}
        minWidth={520}
      />
      {data.configDiff.length > 0 && (
        <>
          <Text size="sm" fw={600} mt="sm">
            {words.definition}
          </Text>
          {data.configDiff.map(({ path, base, target }) => (
            <Text key={path} size="sm">
              {fieldName(path)}: <Code>{JSON.stringify(base) ?? '–'}</Code> →{' '}
              <Code>{JSON.stringify(target) ?? '–'}</Code>
            </Text>
          ))}
        </>
      )}
    </Section>
  );
};
