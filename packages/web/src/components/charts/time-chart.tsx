import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type RefObject, useEffect, useRef, useState } from 'react';
import type UPlot from 'uplot';
import { text } from '../../lib/text.ts';
import type { Shown, TimeChartProps, Zoom } from './chart.ts';
import { ChartLegend } from './chart-legend.tsx';
import { ChartMenu } from './chart-menu.tsx';
import { createPlot, dataOf, timeOfDay } from './plot.ts';
import classes from './time-chart.module.css';

const none: readonly never[] = [];

/** Lines over time, with marks for events. Updated in place, which stays smooth for an hour of ten agents. */
export const TimeChart = (props: TimeChartProps) => {
  const { title, height = 200 } = props;
  const figure = useRef<HTMLElement>(null);
  const [isLogarithmic, setLogarithmic] = useState(false);
  const { sizer, container, cursor, chart } = useChart(props, isLogarithmic);
  return (
    <figure ref={figure} className={classes['figure'] ?? ''} aria-label={title}>
      <div className={classes['head'] ?? ''}>
        <figcaption>{title}</figcaption>
        <ChartMenu
          {...props}
          figure={figure}
          chart={chart}
          isLogarithmic={isLogarithmic}
          onLogarithmic={setLogarithmic}
        />
      </div>
      <div ref={sizer} style={{ minHeight: height }}>
        <div ref={container} role="img" aria-label={summaryOf(props)} />
      </div>
      <ChartLegend {...props} cursor={cursor} />
    </figure>
  );
};

/** Creates the plot when its shape changes, and otherwise updates it. */
const useChart = (props: TimeChartProps, isLogarithmic: boolean) => {
  const { t, lines, marks = none, spans = none, format, height = 200, isRelative = false, zoom, onZoom } = props;
  const { ref: sizer, width } = useElementSize();
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot>(undefined);
  const [cursor, setCursor] = useState<number>();
  const shown = useRef<Shown>({ marks, spans, format });
  shown.current = { marks, spans, format, ...(onZoom && { onZoom }) };
  const scheme = useComputedColorScheme('light');
  // The width can be 0 while the page is laid out again; the chart is kept then.
  const [hasWidth, setHasWidth] = useState(false);
  if (width > 0 && !hasWidth) setHasWidth(true);
  const shape = JSON.stringify([
    ...[scheme, isRelative, isLogarithmic],
    lines.map(({ label, color, isBand, isDashed, isDotted }) => [label, color, isBand, isDashed, isDotted]),
  ]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart is created again only when its shape changes
  useEffect(() => {
    if (container.current === null || !hasWidth) return;
    const look = { lines, width, height, isRelative, isLogarithmic, isDark: scheme === 'dark' };
    const created = createPlot(container.current, { ...look, t, shown, onCursor: setCursor });
    chart.current = created;
    applyZoom(created, zoom);
    return () => created.destroy();
  }, [shape, hasWidth]);
  useEffect(() => {
    if (width > 0) chart.current?.setSize({ width, height });
  }, [width, height]);
  useUpdates(chart, { t, lines, zoom });
  // biome-ignore lint/correctness/useExhaustiveDependencies: marks and spans are read while drawing
  useEffect(() => chart.current?.redraw(false), [marks, spans]);
  return { sizer, container, cursor, chart };
};

/** New data keeps the zoom. */
const useUpdates = (
  chart: RefObject<UPlot | undefined>,
  { t, lines, zoom }: Pick<TimeChartProps, 't' | 'lines' | 'zoom'>,
) => {
  useEffect(() => {
    chart.current?.setData(dataOf(t, lines), zoom === undefined);
    if (chart.current && zoom !== undefined) applyZoom(chart.current, zoom);
  }, [chart, t, lines, zoom]);
};

const applyZoom = (plot: UPlot, zoom: Zoom) => {
  if (zoom !== undefined) plot.setScale('x', { min: zoom[0], max: zoom[1] });
};

/** The newest values, and the parts of the time axis that have a color, for screen readers. */
const summaryOf = ({ title, lines, spans = none, format }: TimeChartProps) => {
  const values = lines.map(({ label, values }) => {
    const last = values.findLast((value) => value !== null);
    return `${label} ${last === undefined || last === null ? text.run.noData : format(last)}`;
  });
  const parts = spans.map(({ label, from, to }) =>
    text.chart.span(label, timeOfDay(from / 1000), timeOfDay(to / 1000)),
  );
  return [`${title}: ${values.join(', ')}`, ...parts].join('; ');
};
