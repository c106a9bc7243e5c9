import { Alert, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { IconButton, SaveButton } from '../../../components/buttons.tsx';
import { type DataColumn, DataTable } from '../../../components/data-table.tsx';
import { Section } from '../../../components/page.tsx';
import { Problem } from '../../../components/problem.tsx';
import { TimeText } from '../../../components/time-text.tsx';
import { saveJson } from '../../../lib/downloads.ts';
import { text } from '../../../lib/text.ts';
import { choiceLabelOf, choicesText } from '../../../texts/choices.ts';
import { AttemptTable } from './attempt-table.tsx';
import { BaselineComparison } from './baseline-comparison.tsx';
import { EncodingGrid } from './encoding-grid.tsx';
import { RateCards } from './rate-cards.tsx';
import { type CountsRow, type Finding, type SecurityReport, useSecurityReport } from './security-report.ts';
import { TechniqueMap } from './technique-map.tsx';

const { security } = text;

const save = ({ name, kind, reproducer = {} }: Finding) =>
  saveJson(reproducer, `${name || kind}.json`.replace(/[^\w.-]+/g, '-'));

const columns: readonly DataColumn<Finding>[] = [
  { cell: ({ kind }) => kind },
  { cell: ({ name, target }) => name || target },
  { cell: ({ detail, count = 1 }) => (count > 1 ? security.findingCases(detail, count) : detail) },
  { cell: ({ at }) => <TimeText at={at} /> },
  {
    cell: (finding) =>
      finding.reproducer !== undefined && (
        <IconButton label={security.reproducer(finding.name)} icon={IconDownload} onClick={() => save(finding)} />
      ),
  },
];

/** The findings of fuzzing, each with the smallest input that reproduces it. */
const FindingsTable = ({ findings }: { findings: readonly Finding[] }) =>
  findings.length > 0 && (
    <Section title={security.findings} order={3}>
      <DataTable
        columns={columns}
        rows={findings}
        keyOf={({ at, kind, name }) => `${at} ${kind} ${name}`}
        minWidth={420}
      />
    </Section>
  );

const counted = ['attempts', 'blocked', 'modified', 'passed', 'inconclusive'] as const;

const blockRateOf = ({ blocked, modified, passed }: CountsRow) => {
  const decided = blocked + modified + passed;
  return decided === 0 ? '–' : `${(((blocked + modified) / decided) * 100).toFixed(0)} %`;
};

/** The block rate on its color: green when all attacks were blocked, red when none was. */
const HeatCell = ({ row }: { row: CountsRow }) => {
  const { blocked, modified, passed } = row;
  if (blocked + modified + passed === 0) return '–';
  const color = passed === 0 ? 'teal' : blocked + modified === 0 ? 'red' : 'yellow';
  return (
    <span className="heat" style={{ background: `var(--mantine-color-${color}-light)` }}>
      {blockRateOf(row)}
    </span>
  );
};

interface CountsTableProps {
  title: string;
  /** Header of the first column. */
  of: string;
  /** The member whose values the rows are. */
  member: string;
  rows: readonly CountsRow[];
}

/** Attempts by outcome, one row per category, technique or variant. */
const CountsTable = ({ title, of, member, rows }: CountsTableProps) => {
  const hasSeverity = rows.some(({ severity }) => severity !== undefined);
  if (rows.length === 0) return null;
  return (
    <Section title={title} order={3}>
      <DataTable
        rows={rows}
        keyOf={({ name, severity }) => `${name} ${severity ?? ''}`}
        minWidth={460}
        columns={[
          { header: of, cell: ({ name }) => choicesText(name, member) },
          hasSeverity && {
            header: text.columns.severity,
            cell: ({ severity = '' }: CountsRow) => choiceLabelOf(severity, 'severity'),
          },
          ...counted.map((name) => ({
            header: security.outcomes[name],
            align: 'right' as const,
            cell: (row: CountsRow) => row[name],
          })),
          { header: security.blocked, align: 'right', cell: (row) => <HeatCell row={row} /> },
        ]}
      />
    </Section>
  );
};

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
      <div id="attempts">
        <AttemptTable attempts={report.attempts} />
      </div>
      <EncodingGrid attempts={report.attempts} />
      <Tables report={report} />
    </Stack>
  );
};

const Tables = ({ report }: { report: SecurityReport }) => (
  <>
    <CountsTable title={security.byCategory} of={text.columns.category} member="category" rows={report.matrix} />
    <CountsTable title={security.byOwasp} of={text.columns.category} member="category" rows={report.owasp} />
    <TechniqueMap rows={report.techniques} />
    {report.evasion.length > 1 && (
      <CountsTable title={security.byVariant} of={security.columns.variant} member="encoders" rows={report.evasion} />
    )}
    {report.malware && (
      <>
        <CountsTable
          title={security.byContainer}
          of={security.container}
          member="container"
          rows={report.malware.byContainer}
        />
        <CountsTable
          title={security.byTransport}
          of={security.transport}
          member="protocol"
          rows={report.malware.byTransport}
        />
      </>
    )}
    {report.mechanisms.length > 0 && (
      <Text size="sm" className="numbers">
        {security.mechanisms}:{' '}
        {report.mechanisms
          .map(({ mechanism, count }) => `${choiceLabelOf(mechanism, 'mechanism')} ${count}`)
          .join(', ')}
      </Text>
    )}
  </>
);
