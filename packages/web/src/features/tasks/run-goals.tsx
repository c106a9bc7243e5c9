import { Badge, Group, Text } from '@mantine/core';
import type { GoalKpi, GoalResult, GoalTrial } from '@rushhour/contract';
import { type DataColumn, DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/page.tsx';
import { text } from '../../lib/text.ts';
import { howMany, scaled } from '../../lib/units.ts';

const { goals: words } = text.run;
const [width, height, bar] = [720, 120, 28];

/** Offered loads as bars in the order of the trials, on a scale of doublings. */
const TrialChart = ({ trials }: { trials: readonly GoalTrial[] }) => {
  const top = Math.log2(1 + Math.max(1, ...trials.map(({ load }) => load)));
  const step = Math.min(bar, width / Math.max(1, trials.length));
  return (
    <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={words.chart} width="100%">
      {trials.map(({ number, load, passed }, index) => {
        const size = (height * Math.log2(1 + load)) / top;
        const fill = passed ? 'var(--mantine-color-green-7)' : 'var(--mantine-color-red-7)';
        return (
          <rect key={number} x={index * step} y={height - size} width={step - 3} height={size} fill={fill}>
            <title>{words.bar(number, howMany(load), passed ? words.passed : words.failed)}</title>
          </rect>
        );
      })}
    </svg>
  );
};

const cells = ({ number, load, reached, bps, passed, isRepeat, reason }: GoalTrial): string[] => [
  String(number),
  howMany(load),
  howMany(Math.round(reached)),
  scaled(bps ?? undefined, 'bit/s'),
  `${passed ? words.passed : words.failed}${isRepeat ? words.again : ''}`,
  reason,
];
const columns = words.columns.map(
  (header, index): DataColumn<GoalTrial> => ({
    header,
    ...(index < 4 && { align: 'right' as const }),
    cell: (trial) => cells(trial)[index],
  }),
);

const kpiNumber = (value: number | null, unit: string) =>
  unit === '%' && value !== null ? `${value.toFixed(4)} %` : scaled(value ?? undefined, unit === 'us' ? 'µs' : unit);

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

/** The trials of each search, while it runs and afterwards. */
export const RunGoals = ({ goals }: { goals: readonly GoalResult[] }) =>
  goals.map(({ configurationIndex, metric, best, isLowerBound, limit, isDone, trials, rfc9411 }) => (
    <Section key={configurationIndex} title={rfc9411 === '' ? words.title : words.rfc9411(rfc9411)}>
      <Group>
        <Text fw={600}>{best === null ? words.none : words.best(howMany(best), metric, isLowerBound)}</Text>
        {!isDone && <Badge>{words.searching}</Badge>}
        <Text c="dimmed">{words.limits[limit]}</Text>
      </Group>
      <TrialChart trials={trials} />
      <Kpis trials={trials} best={best} />
      <DataTable columns={columns} rows={trials} keyOf={({ number }) => String(number)} minWidth={700} />
    </Section>
  ));
