import { Button, Group, Menu, Paper, Text, Title } from '@mantine/core';
import type { RunResult as Result } from '@rushhour/contract';
import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconDownload, IconInfoCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { TimeText } from '../../../components/time-text.tsx';
import { text } from '../../../lib/text.ts';
import { clock } from '../../../lib/units.ts';
import { RunNotes } from './run-notes.tsx';
import { outcomeOf, thresholdText } from './tables/run-thresholds.tsx';

const { run } = text;
type Format = keyof typeof run.formats;
const formats = Object.keys(run.formats) as Format[];

const looks = [
  { color: 'gray', icon: IconInfoCircle },
  { color: 'teal', icon: IconCircleCheck },
  { color: 'red', icon: IconCircleX },
  { color: 'yellow', icon: IconAlertTriangle },
] as const;

/** The banner at the top of a finished run: its verdict, why, and whether the numbers can be trusted. */
export const RunResult = ({ result }: { result: Result }) => {
  const { color, icon: Icon } = looks[result.verdict] ?? looks[0];
  return (
    <Paper
      withBorder
      p="sm"
      component="section"
      aria-label={run.verdict}
      style={{ borderLeft: `6px solid var(--mantine-color-${color}-filled)` }}
    >
      <Group justify="space-between" align="flex-start">
        <Group gap="sm" wrap="nowrap" align="flex-start" style={{ flex: 1, minWidth: 240 }}>
          <Icon size={28} color={`var(--mantine-color-${color}-filled)`} style={{ flexShrink: 0 }} aria-hidden />
          <div style={{ minWidth: 0 }}>
            <Text size="xs" c="dimmed">
              {run.verdict}
            </Text>
            <Title order={2} size="h4">
              {run.verdicts[result.verdict] ?? run.verdicts[0]}
            </Title>
            <Text size="sm" c="dimmed" className="numbers">
              {text.task.runNumber(result.number)} · {run.reasons[result.stopReason]} · {clock(result.durationSec)} ·{' '}
              <TimeText at={result.finishedAt} />
            </Text>
            {reasonsOf(result)}
            <RunNotes result={result} />
          </div>
        </Group>
        <ReportMenu taskId={result.taskID} runId={result.id} />
      </Group>
    </Paper>
  );
};

/** Failed thresholds, and why the numbers may be unreliable. */
const reasonsOf = (result: Result): ReactNode => {
  const failed = result.thresholds.filter(({ outcome }) => outcome === 'failed');
  return (
    <>
      {failed.map((threshold) => (
        <Text key={threshold.name} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {outcomeOf(threshold) === 'warned' && `${run.outcomes.warned}: `}
          {run.failedThreshold(threshold.name, thresholdText(result, threshold))}
        </Text>
      ))}
      {result.validity.valid ? (
        <Text size="sm" c="dimmed">
          {run.valid}
        </Text>
      ) : (
        <>
          <Text size="sm" fw={600}>
            {run.notValid}
          </Text>
          {result.validity.reasons.map((reason) => (
            <Text key={reason} size="sm">
              {reason}
            </Text>
          ))}
        </>
      )}
    </>
  );
};

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
