import { Alert, Button, Card, Group, Menu, Stack, Table, Text, Title } from '@mantine/core';
import type { RunResult as Result } from '@rushhour/contract';
import { IconDownload } from '@tabler/icons-react';
import { VerdictBadge } from '../../components/badges.tsx';
import { TimeText } from '../../components/time-text.tsx';
import { text } from '../../lib/text.ts';
import { clock, measured } from '../../lib/units.ts';

const { run } = text;
type Format = keyof typeof run.formats;
const formats = Object.keys(run.formats) as Format[];

/** What a finished run showed and whether to believe it. */
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

/** In the unit of what is judged, such as milliseconds. */
const judged = ({ summary }: Result, { metric, aggregation }: Threshold, value: number | null) => {
  const known = summary.flatMap(({ metrics }) => metrics).find((one) => one.metric === metric);
  if (known === undefined || aggregation === 'count') return measured(value, '');
  return measured(value, aggregation === 'rate' ? `${known.unit}/s` : known.unit);
};

const Thresholds = ({ result }: { result: Result }) => (
  <Card withBorder padding="sm">
    <Title order={3} size="h5" mb="xs">
      {run.thresholds}
    </Title>
    <Table verticalSpacing={4} className="numbers">
      <Table.Tbody>
        {result.thresholds.map((threshold) => (
          <Table.Tr key={threshold.name}>
            <Table.Td>{threshold.name}</Table.Td>
            <Table.Td>
              {threshold.aggregation}({threshold.metric}) {threshold.operator}{' '}
              {judged(result, threshold, threshold.value)}
            </Table.Td>
            <Table.Td ta="right">{judged(result, threshold, threshold.actual)}</Table.Td>
            <Table.Td ta="right">
              <Text span size="sm" fw={600} c={outcomeColors[threshold.outcome]}>
                {run.outcomes[threshold.outcome]}
              </Text>{' '}
              {threshold.breachedAt !== null && (
                <Text span size="xs" c="dimmed">
                  <TimeText at={threshold.breachedAt} />
                </Text>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
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
          {run.formats[format]}
        </Menu.Item>
      ))}
    </Menu.Dropdown>
  </Menu>
);
