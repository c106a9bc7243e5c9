import { Alert, Button, Group, Menu, Stack, Text } from '@mantine/core';
import type { RunResult as Result } from '@rushhour/contract';
import { IconDownload } from '@tabler/icons-react';
import { VerdictBadge } from '../../components/badges.tsx';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { text } from '../../lib/text.ts';
import { clock, measured } from '../../lib/units.ts';

const { run } = text;
type Format = keyof typeof run.formats;
const formats = Object.keys(run.formats) as Format[];

/** Verdict, validity and thresholds of a finished run. */
export const RunResult = ({ result }: { result: Result }) => (
  <Stack>
    <Verdict result={result} />
    {result.thresholds.length > 0 && <Thresholds result={result} />}
  </Stack>
);

const Verdict = ({ result }: { result: Result }) => (
  <>
    <Group justify="space-between">
      <Group gap="xs">
        <Text fw={600}>{run.verdict}</Text>
        <VerdictBadge value={result.verdict} />
        <Text size="sm" c="dimmed" className="numbers">
          {run.reasons[result.stopReason]} · {clock(result.durationSec)} · <TimeText at={result.finishedAt} />
        </Text>
      </Group>
      <ReportMenu taskId={result.taskID} runId={result.id} />
    </Group>
    {result.validity.valid ? (
      <Text size="sm" c="dimmed">
        {run.valid}
      </Text>
    ) : (
      <Alert color="yellow" variant="default" title={run.notValid}>
        {result.validity.reasons.map((reason) => (
          <Text key={reason} size="sm">
            {reason}
          </Text>
        ))}
      </Alert>
    )}
  </>
);

const outcomeColors = { passed: 'teal', failed: 'red', noData: 'yellow', pending: 'gray' } as const;

type Threshold = Result['thresholds'][number];

/** A value in the unit of the metric, such as milliseconds. */
const valueText = ({ summary }: Result, { metric, aggregation }: Threshold, value: number | null) => {
  const known = summary.flatMap(({ metrics }) => metrics).find((one) => one.metric === metric);
  if (known === undefined || aggregation === 'count') return measured(value, '');
  return measured(value, aggregation === 'rate' ? `${known.unit}/s` : known.unit);
};

const columnsOf = (result: Result): DataColumn<Threshold>[] => [
  { cell: ({ name }) => name },
  {
    cell: (threshold) =>
      `${threshold.aggregation}(${threshold.metric}) ${threshold.operator} ${valueText(result, threshold, threshold.value)}`,
  },
  { align: 'right', cell: (threshold) => valueText(result, threshold, threshold.actual) },
  {
    align: 'right',
    cell: ({ outcome, breachedAt }) => (
      <>
        <Text span size="sm" fw={600} c={outcomeColors[outcome]}>
          {run.outcomes[outcome]}
        </Text>{' '}
        {breachedAt !== null && (
          <Text span size="xs" c="dimmed">
            <TimeText at={breachedAt} />
          </Text>
        )}
      </>
    ),
  },
];

const Thresholds = ({ result }: { result: Result }) => (
  <Section title={run.thresholds} order={3}>
    <DataTable columns={columnsOf(result)} rows={result.thresholds} keyOf={({ name }) => name} />
  </Section>
);

const ReportMenu = ({ taskId, runId }: { taskId: number; runId: number }) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <Button variant="default" leftSection={<IconDownload size={16} />}>
        {run.report}
      </Button>
    </Menu.Target>
    <Menu.Dropdown>
      {formats.map((format) => (
        <Menu.Item
          key={format}
          component="a"
          href={`/v1/tasks/${taskId}/runs/${runId}/report?format=${format}`}
          target={format === 'html' ? '_blank' : undefined}
          rel="noreferrer"
        >
          {run.formats[format]}
        </Menu.Item>
      ))}
    </Menu.Dropdown>
  </Menu>
);
