import { Badge, Group, SimpleGrid, Text } from '@mantine/core';
import type { GoalKpi, GoalResult, GoalTrial, Rfc9411Result } from '@rushhour/contract';
import { type DataColumn, DataTable } from '../../../components/data-table.tsx';
import { Section } from '../../../components/page.tsx';
import { text } from '../../../lib/text.ts';
import { howMany, measured, scaled } from '../../../lib/units.ts';
import { TrialChart } from './trial-chart.tsx';

const { goals: words } = text.run;

const loadText = (metric: string, value: number | null) => scaled(value, words.units[metric] ?? '');

const cells = (metric: string, { number, load, reached, bps, passed, isRepeat, reason }: GoalTrial): string[] => [
  String(number),
  loadText(metric, load),
  loadText(metric, reached),
  scaled(bps ?? undefined, 'bit/s'),
  `${passed ? words.passed : words.failed}${isRepeat ? words.again : ''}`,
  reason,
];
const columnsOf = (metric: string) =>
  words.columns.map(
    (header, index): DataColumn<GoalTrial> => ({
      header,
      ...(index < 4 && { align: 'right' as const }),
      cell: (trial) => cells(metric, trial)[index],
    }),
  );

/** Shares of failures are small. */
const kpiNumber = (value: number | null, unit: string) =>
  unit === '%' && value !== null ? `${value.toFixed(4)} %` : measured(value, unit);

const kpiColumns = words.kpiColumns.map(
  (header, index): DataColumn<GoalKpi> => ({
    header,
    ...(index > 0 && { align: 'right' as const }),
    cell: ({ name, unit, min, avg, max }) => (index === 0 ? name : kpiNumber([min, avg, max][index - 1] ?? null, unit)),
  }),
);

/** What was measured at the result; while there is none, in the last trial. */
const Kpis = ({ trials, best }: Pick<GoalResult, 'trials' | 'best'>) => {
  const shown = trials.findLast(({ passed, load }) => passed && load === best) ?? trials.at(-1);
  if (shown === undefined || shown.kpis.length === 0) return null;
  return <DataTable columns={kpiColumns} rows={shown.kpis} keyOf={({ name }) => name} minWidth={500} />;
};

const titleOf = ({ rfc9411 }: GoalResult) => (rfc9411 === '' ? words.title : words.rfc9411(rfc9411));

/** Trials of each search as bars, while it runs and afterwards; those whose turn has not come are left out. */
export const GoalCharts = ({ goals }: { goals: readonly GoalResult[] }) => {
  const begun = goals.filter(({ trials }) => trials.length > 0);
  const shown = begun.length > 0 ? begun : goals.slice(0, 1);
  return (
    <SimpleGrid cols={{ base: 1, md: shown.length > 1 ? 2 : 1 }} spacing="md">
      {shown.map((goal) => (
        <GoalChart key={goal.configurationIndex} goal={goal} />
      ))}
    </SimpleGrid>
  );
};

const GoalChart = ({ goal }: { goal: GoalResult }) => {
  const { metric, best, isLowerBound, limit, isDone, trials } = goal;
  const found = words.best(loadText(metric, best), words.metrics[metric] ?? metric, isLowerBound);
  return (
    <Section title={titleOf(goal)}>
      <Group gap="sm">
        <Text fw={600}>{best === null ? words.none : found}</Text>
        {!isDone && (
          <Badge color="orange" variant="dot" tt="none">
            {words.searching}
          </Badge>
        )}
        <Text c="dimmed">{words.limits[limit]}</Text>
      </Group>
      <TrialChart trials={trials} best={best} loadText={(load) => loadText(metric, load)} />
    </Section>
  );
};

/** What was measured in each search. */
export const GoalTables = ({ goals }: { goals: readonly GoalResult[] }) =>
  goals
    .filter(({ trials }) => trials.length > 0)
    .map((goal) => (
      <Section key={goal.configurationIndex} title={words.trialsOf(titleOf(goal))} order={3}>
        <Kpis trials={goal.trials} best={goal.best} />
        <DataTable
          columns={columnsOf(goal.metric)}
          rows={goal.trials}
          keyOf={({ number }) => String(number)}
          minWidth={700}
        />
      </Section>
    ));

const rfc9411Cells = (test: Rfc9411Result): string[] => [
  test.section,
  test.title,
  test.objectBytes === null ? words.mixed : `${howMany(test.objectBytes)} B`,
  loadText(test.metric, test.initial),
  loadText(test.metric, test.target),
  `${test.isLowerBound ? '≥ ' : ''}${loadText(test.metric, test.result)}`,
  words.limits[test.limit],
];
const rfc9411Columns = words.rfc9411Columns.map(
  (header, index): DataColumn<Rfc9411Result> => ({
    header,
    ...(index > 2 && index < 6 && { align: 'right' as const }),
    cell: (test) => rfc9411Cells(test)[index],
  }),
);

/** The results of several tests of RFC 9411 in one place. */
export const Rfc9411Table = ({ tests }: { tests: readonly Rfc9411Result[] }) => (
  <Section title={words.rfc9411Title} order={3}>
    <DataTable
      columns={rfc9411Columns}
      rows={tests}
      keyOf={({ configurationIndex }) => String(configurationIndex)}
      minWidth={760}
    />
  </Section>
);
