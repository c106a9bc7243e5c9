import { Alert, Button, Card, Group, Menu, Stack, Table, Text, Title } from '@mantine/core';
import type { MetricValue, RunResult as Result } from '@rushhour/contract';
import { IconDownload } from '@tabler/icons-react';
import { VerdictBadge } from '../../components/badges.tsx';
import { text } from '../../lib/text.ts';
import { measured } from '../../lib/units.ts';

const { run } = text;
const formats = ['html', 'pdf', 'csv', 'json', 'junit'] as const;

/** What a finished run showed, whether to believe it, and every number. */
export const RunResult = ({ result }: { result: Result }) => (
  <Stack>
    <Group justify="space-between">
      <Group gap="xs">
        <Text fw={600}>{run.verdict}</Text>
        <VerdictBadge value={result.verdict} />
      </Group>
      <ReportMenu taskId={result.taskID} runId={result.id} />
    </Group>
    {!result.validity.valid && (
      <Alert color="yellow" variant="default" title={run.notValid}>
        {result.validity.reasons.map((reason) => (
          <Text key={reason} size="sm">
            {reason}
          </Text>
        ))}
      </Alert>
    )}
    {result.thresholds.length > 0 && <Thresholds thresholds={result.thresholds} />}
    {result.summary.map((side) => (
      <Card withBorder key={`${side.configurationIndex} ${side.role}`}>
        <Title order={3} size="h5" mb="xs">
          {side.plugin} · {side.role}
        </Title>
        <Table.ScrollContainer minWidth={500}>
          <Table className="numbers" verticalSpacing={4}>
            <Table.Thead>
              <Table.Tr>
                {run.columns.map((name) => (
                  <Table.Th key={name} ta={name === run.columns[0] ? 'left' : 'right'}>
                    {name}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {side.metrics.map((metric) => (
                <MetricRow key={metric.metric} metric={metric} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Card>
    ))}
  </Stack>
);

const MetricRow = ({
  metric: { metric, unit, type, sum, rate, avg, last, p50, p95, p99, max },
}: {
  metric: MetricValue;
}) => {
  const cells =
    type === 'counter'
      ? [measured(sum, unit), `${measured(rate, unit)}/s`, '', '', '', '']
      : type === 'gauge'
        ? [measured(last ?? avg, unit), '', '', '', '', measured(max, unit)]
        : ['', '', measured(p50, unit), measured(p95, unit), measured(p99, unit), measured(max, unit)];
  return (
    <Table.Tr>
      <Table.Td>{metric}</Table.Td>
      {cells.map((cell, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the cells are the columns
        <Table.Td key={i} ta="right">
          {cell}
        </Table.Td>
      ))}
    </Table.Tr>
  );
};

const outcomeColors: Record<string, string> = { passed: 'teal', failed: 'red', noData: 'yellow', pending: 'gray' };

const Thresholds = ({ thresholds }: { thresholds: Result['thresholds'] }) => (
  <Card withBorder>
    <Title order={3} size="h5" mb="xs">
      {run.thresholds}
    </Title>
    {thresholds.map(({ name, metric, aggregation, operator, value, actual, outcome }) => (
      <Group key={name} justify="space-between">
        <Text size="sm">
          {name}: {aggregation}({metric}) {operator} {value}
        </Text>
        <Text size="sm" c={outcomeColors[outcome] ?? 'gray'}>
          {outcome} {actual !== null && `(${actual})`}
        </Text>
      </Group>
    ))}
  </Card>
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
          {format.toUpperCase()}
        </Menu.Item>
      ))}
    </Menu.Dropdown>
  </Menu>
);
