import { Badge, Group, Text } from '@mantine/core';
import type { GoalResult, GoalTrial } from '@rushhour/contract';
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

/** The trials of each search, while it runs and afterwards. */
export const RunGoals = ({ goals }: { goals: readonly GoalResult[] }) =>
  goals.map(({ configurationIndex, metric, best, isLowerBound, limit, isDone, trials }) => (
    <Section key={configurationIndex} title={words.title}>
      <Group>
        <Text fw={600}>{best === null ? words.none : words.best(howMany(best), metric, isLowerBound)}</Text>
        {!isDone && <Badge>{words.searching}</Badge>}
        <Text c="dimmed">{words.limits[limit]}</Text>
      </Group>
      <TrialChart trials={trials} />
      <DataTable columns={columns} rows={trials} keyOf={({ number }) => String(number)} minWidth={700} />
    </Section>
  ));
