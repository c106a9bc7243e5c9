import { Group, Stack, Text } from '@mantine/core';
import { measureText, limitText as ofLimit, type RunResult as Result } from '@rushhour/contract';
import { type DataColumn, DataTable } from '../../../../components/data-table.tsx';
import { Section } from '../../../../components/page.tsx';
import { TimeText } from '../../../../components/time-text.tsx';
import { text } from '../../../../lib/text.ts';
import { measured } from '../../../../lib/units.ts';

const { run } = text;
const { thresholdColumns: headers } = run;
const outcomeColors = { passed: 'teal', failed: 'red', warned: 'orange', noData: 'yellow', pending: 'gray' } as const;

type Threshold = Result['thresholds'][number];

/** Known only at the end, so that they are not in the summary. */
const shares = /\.(blockRate|falsePositiveRate|score|coverage|evasionResistance)$/;

/** A value in the unit of the metric, such as milliseconds. */
const valueText = ({ summary }: Result, { metric, aggregation }: Threshold, value: number | null) => {
  const known = summary.flatMap(({ metrics }) => metrics).find((one) => one.metric === metric);
  if (known === undefined || aggregation === 'count') return measured(value, shares.test(metric) ? '%' : '');
  return measured(value, aggregation === 'rate' ? `${known.unit}/s` : known.unit);
};

const limitText = (result: Result, threshold: Threshold) =>
  ofLimit(threshold.operator, valueText(result, threshold, threshold.value));

const conditionText = (result: Result, threshold: Threshold) =>
  `${measureText(threshold)} ${limitText(result, threshold)}`;

/** Actual value and condition, beside the name; a last value needs no metric to be understood. */
export const thresholdText = (result: Result, threshold: Threshold) =>
  run.actualAgainst(
    valueText(result, threshold, threshold.actual),
    (threshold.aggregation === 'last' ? limitText : conditionText)(result, threshold),
  );

/** A threshold that only warns does not fail the run. */
export const outcomeOf = ({ outcome, severity }: Pick<Threshold, 'outcome' | 'severity'>) =>
  outcome === 'failed' && severity === 'warn' ? 'warned' : outcome;

const Outcome = ({ breachedAt, ...threshold }: Threshold) => (
  <>
    <Text span size="sm" fw={600} c={outcomeColors[outcomeOf(threshold)]}>
      {run.outcomes[outcomeOf(threshold)]}
    </Text>{' '}
    {breachedAt !== null && (
      <Text span size="xs" c="dimmed">
        <TimeText at={breachedAt} />
      </Text>
    )}
  </>
);

const columnsOf = (result: Result): DataColumn<Threshold>[] => [
  { header: headers.name, isLong: true, cell: ({ name }) => name },
  { header: headers.condition, isLong: true, cell: (threshold) => conditionText(result, threshold) },
  { header: run.actual, align: 'right', cell: (threshold) => valueText(result, threshold, threshold.actual) },
  { header: headers.outcome, align: 'right', cell: (threshold) => <Outcome {...threshold} /> },
];

/** The thresholds of a run: a table, or a list on a narrow screen. */
export const Thresholds = ({ result }: { result: Result }) => (
  <Section title={run.thresholds} order={3}>
    <Stack gap="xs" hiddenFrom="sm">
      {result.thresholds.map((threshold) => (
        <div key={threshold.name}>
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
              {threshold.name}
            </Text>
            <div style={{ flexShrink: 0 }}>
              <Outcome {...threshold} />
            </div>
          </Group>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {thresholdText(result, threshold)}
          </Text>
        </div>
      ))}
    </Stack>
    <div className="desk-only">
      <DataTable columns={columnsOf(result)} rows={result.thresholds} keyOf={({ name }) => name} />
    </div>
  </Section>
);
