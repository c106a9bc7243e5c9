import { Alert, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { SaveButton } from '../../../components/buttons.tsx';
import { Problem } from '../../../components/problem.tsx';
import { saveJson } from '../../../lib/downloads.ts';
import { text } from '../../../lib/text.ts';
import { AttemptTable } from './attempt-table.tsx';
import { BaselineComparison } from './baseline-comparison.tsx';
import { CountsTable } from './counts-table.tsx';
import { FindingsTable } from './findings-table.tsx';
import { RateCards } from './rate-cards.tsx';
import { type SecurityReport, useSecurityReport } from './security-report.ts';

const { security } = text;

interface SecurityPanelProps {
  taskId: number;
  runId: number;
}

/** How a device handled attacks and benign requests. */
export const SecurityPanel = ({ taskId, runId }: SecurityPanelProps) => {
  const { data: report, error } = useSecurityReport(taskId, runId);
  if (error) return <Problem error={error} />;
  if (report === undefined) return <Skeleton height={240} />;
  if (report === null) return <Text c="dimmed">{security.none}</Text>;
  const layer = report.campaign?.layer;
  return (
    <Stack component="section" aria-label={security.title}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {security.title}
          {report.device !== '' && `: ${report.device}`}
        </Title>
        {layer && <SaveButton label={security.layer} onSave={() => saveJson(layer, `layer-${runId}.json`)} />}
      </Group>
      {!report.isConclusive && (
        <Alert color="yellow" variant="default" title={security.notConclusive}>
          <Text size="sm">{security.notConclusiveWhy}</Text>
        </Alert>
      )}
      <RateCards report={report} />
      <FindingsTable findings={report.findings} />
      <BaselineComparison taskId={taskId} report={report} />
      <Tables report={report} />
      <AttemptTable attempts={report.attempts} />
    </Stack>
  );
};

const Tables = ({ report }: { report: SecurityReport }) => (
  <>
    <CountsTable title={security.byCategory} of={text.columns.category} rows={report.matrix} />
    <CountsTable title={security.byTechnique} of={security.technique} rows={report.techniques} />
    {report.evasion.length > 1 && (
      <CountsTable title={security.byVariant} of={security.columns.variant} rows={report.evasion} />
    )}
    {report.malware && (
      <>
        <CountsTable title={security.byContainer} of={security.container} rows={report.malware.byContainer} />
        <CountsTable title={security.byTransport} of={security.transport} rows={report.malware.byTransport} />
      </>
    )}
    {report.mechanisms.length > 0 && (
      <Text size="sm" className="numbers">
        {security.mechanisms}: {report.mechanisms.map(({ mechanism, count }) => `${mechanism} ${count}`).join(', ')}
      </Text>
    )}
  </>
);
