import { Card, SimpleGrid } from '@mantine/core';
import { useMemo } from 'react';
import { type Line, type Mark, TimeChart } from '../../components/charts/time-chart.tsx';
import { text } from '../../lib/text.ts';
import { duration, scaled } from '../../lib/units.ts';
import { overlayOf } from './overlay.ts';
import { isErrorKind, percentiles, type RunSeries } from './run-series.ts';

const { run } = text;
const colors = {
  green: '#2f9e44',
  orange: '#e8590c',
  red: '#e03131',
  blue: '#1971c2',
  grey: '#868e96',
  violet: '#7048e8',
};
const kindColors = ['#e03131', '#e8590c', '#7048e8', '#1971c2', '#2f9e44', '#c2255c', '#868e96', '#0c8599'];
const bandColors = [colors.green, colors.blue, colors.violet, colors.red];
const none: readonly (number | null)[] = [];

interface RunChartsProps {
  readonly series: RunSeries;
  /** Another run to compare with, drawn as dotted lines. */
  readonly other?: RunSeries | undefined;
  /** The metric whose percentiles are shown. */
  readonly latency: string;
  readonly marks: readonly Mark[];
}

type Values = RunSeries['values'];
const perSecond = (value: number) => scaled(value, '/s');
const bits = (value: number) => scaled(value, 'bit/s');

/** Load, latency, throughput and errors of a run, with events as marks. */
export const RunCharts = ({ series, other, latency, marks }: RunChartsProps) => {
  const { t, values, compared } = useMemo(() => shownOf(series, other), [series, other]);
  const charts = useMemo(() => chartsOf(values, compared, latency), [values, compared, latency]);
  const isRelative = other !== undefined;
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      {charts.map(({ title, lines, format }) => (
        <Card withBorder key={title} padding="sm">
          <TimeChart
            title={title}
            t={t}
            lines={lines}
            format={format}
            isRelative={isRelative}
            marks={isRelative ? noMarks : marks}
          />
        </Card>
      ))}
    </SimpleGrid>
  );
};

const noMarks: readonly Mark[] = [];

const shownOf = (series: RunSeries, other: RunSeries | undefined) => {
  if (other === undefined) return { ...series, compared: undefined };
  const { t, base, other: compared } = overlayOf(series, other);
  return { t, values: base, compared };
};

const chartsOf = (values: Values, compared: Values | undefined, latency: string) => {
  const line = (label: string, color: string, key: string, more: Partial<Line> = {}): Line[] => [
    { label, color, values: values[key] ?? none, ...more },
    ...(compared === undefined || more.isDashed
      ? []
      : [{ label: run.ofOther(label), color: `${color}99`, values: compared[key] ?? none, isDotted: true }]),
  ];
  const bands = percentiles.flatMap((name, i) =>
    line(name, bandColors[i] ?? colors.grey, `${latency}:${name}`, { isBand: compared === undefined }),
  );
  return [
    {
      title: run.load,
      format: perSecond,
      lines: [
        ...line(run.actual, colors.orange, 'achievedLoad'),
        ...line(run.target, colors.grey, 'targetLoad', { isDashed: true }),
      ],
    },
    { title: `${run.latency} (${latency})`, format: duration, lines: bands },
    {
      title: run.throughput,
      format: bits,
      lines: [...line(run.sent, colors.orange, 'txBps'), ...line(run.received, colors.blue, 'rxBps')],
    },
    { title: run.errors, format: perSecond, lines: errorLines(values, compared, line) },
  ];
};

/** One line per kind of error that occurred, or the total if there is none. */
const errorLines = (
  values: Values,
  compared: Values | undefined,
  line: (label: string, color: string, key: string) => Line[],
): Line[] => {
  const kinds = [...new Set([...Object.keys(values), ...Object.keys(compared ?? {})])].filter(isErrorKind).sort();
  if (kinds.length === 0) return line(run.errors, colors.red, 'errors');
  return kinds.flatMap((kind, i) =>
    line(kind.replace('.errors.', ' '), kindColors[i % kindColors.length] ?? colors.red, kind),
  );
};
