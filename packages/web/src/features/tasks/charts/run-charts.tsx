import { Button, Card, Group, SimpleGrid, Text } from '@mantine/core';
import { type ReactNode, useMemo, useState } from 'react';
import type { Line, Mark, Span, Zoom } from '../../../components/charts/chart.ts';
import { TimeChart } from '../../../components/charts/time-chart.tsx';
import { text } from '../../../lib/text.ts';
import { duration, scaled } from '../../../lib/units.ts';
import { overlayOf } from './overlay.ts';
import { isAttemptCount, isErrorKind, isPacketCount, percentiles, type RunSeries } from './run-series.ts';

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
  readonly spans: readonly Span[];
  readonly isLive: boolean;
  /** Another chart, after the lines. */
  readonly children?: ReactNode;
}

type Values = RunSeries['values'];
type MakeLine = (label: string, color: string, key: string, more?: Partial<Line>) => Line[];
const perSecond = (value: number) => scaled(value, '/s');
const bits = (value: number) => scaled(value, 'bit/s');

/** Load, latency, throughput and errors of a run, with events as marks. Charts without data are left out. */
export const RunCharts = ({ series, other, latency, marks, spans, isLive, children }: RunChartsProps) => {
  const [zoom, setZoom] = useState<Zoom>();
  const { t, values, compared } = useMemo(() => shownOf(series, other), [series, other]);
  const charts = useMemo(() => chartsOf(values, compared, latency), [values, compared, latency]);
  const isRelative = other !== undefined;
  const over = isRelative ? nothing : { marks, spans };
  return (
    <>
      {zoom !== undefined && (
        <Group justify="flex-end">
          <Button size="xs" variant="light" onClick={() => setZoom(undefined)}>
            {text.chart.resetZoom}
          </Button>
        </Group>
      )}
      {charts.length === 0 && isLive && <Text c="dimmed">{run.waiting}</Text>}
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        {charts.map((chart) => (
          <Card withBorder key={chart.title} padding="sm" style={{ overflow: 'visible' }}>
            <TimeChart {...chart} {...{ t, isRelative, zoom, isLive, ...over }} onZoom={setZoom} />
          </Card>
        ))}
        {children}
      </SimpleGrid>
    </>
  );
};

const nothing = { marks: [], spans: [] };

const shownOf = (series: RunSeries, other: RunSeries | undefined) => {
  if (other === undefined) return { ...series, compared: undefined };
  const { t, base, other: compared } = overlayOf(series, other);
  return { t, values: base, compared };
};

const chartsOf = (values: Values, compared: Values | undefined, latency: string) => {
  const line: MakeLine = (label, color, key, more = {}) => [
    { label, color, values: values[key] ?? none, ...more },
    ...(compared === undefined || more.isDashed
      ? []
      : [{ label: run.ofOther(label), color: `${color}99`, values: compared[key] ?? none, isDotted: true }]),
  ];
  const keys = [...new Set([...Object.keys(values), ...Object.keys(compared ?? {})])].sort();
  const bands = percentiles.flatMap((name, i) =>
    line(name, bandColors[i] ?? colors.grey, `${latency}:${name}`, { isBand: compared === undefined }),
  );
  const load = [
    ...line(run.actual, colors.orange, 'achievedLoad'),
    ...line(run.target, colors.grey, 'targetLoad', { isDashed: true }),
  ];
  const throughput = [...line(run.sent, colors.orange, 'txBps'), ...line(run.received, colors.blue, 'rxBps')];
  return [
    { title: run.load, format: perSecond, lines: load },
    { title: run.attempts, format: perSecond, lines: attemptLines(keys, line) },
    { title: `${run.latency} (${latency})`, format: duration, lines: bands },
    { title: run.throughput, format: bits, lines: throughput },
    { title: run.packets, format: perSecond, lines: packetLines(keys, line) },
    { title: run.errors, format: perSecond, lines: errorLines(keys, line) },
  ]
    .filter(({ lines }) => lines.some(hasData))
    .map((chart) => ({ ...chart, lines: chart.lines.filter(({ values }) => values.some((value) => value !== null)) }));
};

/** One point makes no line. */
const minPoints = 2;
const hasData = ({ values }: Line) =>
  values.some((value) => value !== null && value !== 0) && values.filter((value) => value !== null).length >= minPoints;

/** One line per kind of error that occurred, or the total if there is none. */
const errorLines = (keys: readonly string[], line: MakeLine): Line[] => {
  const kinds = keys.filter(isErrorKind);
  if (kinds.length === 0) return line(run.errors, colors.red, 'errors');
  return kinds.flatMap((kind, i) =>
    line(kind.replace('.errors.', ' '), kindColors[i % kindColors.length] ?? colors.red, kind),
  );
};

const packetLines = (keys: readonly string[], line: MakeLine): Line[] =>
  keys
    .filter(isPacketCount)
    .sort()
    .reverse()
    .flatMap((key) =>
      key.endsWith('.sent') ? line(run.sent, colors.orange, key) : line(run.received, colors.blue, key),
    );

const outcomeColors: Readonly<Record<string, string>> = {
  blocked: colors.green,
  passed: colors.red,
  inconclusive: colors.grey,
  falsePositives: colors.orange,
};

const attemptLines = (keys: readonly string[], line: MakeLine): Line[] =>
  keys.filter(isAttemptCount).flatMap((key) => {
    const outcome = key.split('.')[1] as keyof typeof run.outcomesOfAttempts;
    return line(run.outcomesOfAttempts[outcome], outcomeColors[outcome] ?? colors.grey, key);
  });
