import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';

export interface Line {
  readonly label: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
  /** Fills the area down to the previous line. */
  readonly isBand?: boolean;
  readonly isDashed?: boolean;
  readonly isDotted?: boolean;
}

export interface Mark {
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly label: string;
  readonly color: string;
}

interface TimeChartProps {
  readonly title: string;
  /** Milliseconds: Unix time, or since the start with `isRelative`. */
  readonly t: readonly number[];
  readonly isRelative?: boolean;
  readonly lines: readonly Line[];
  readonly marks?: readonly Mark[];
  readonly format: (value: number) => string;
  readonly height?: number;
}

const none: readonly Mark[] = [];
/** Charts with the same key share the cursor position. */
const syncKey = 'time';

/** Lines over time, with marks for events. Updated in place, which stays smooth for an hour of ten agents. */
export const TimeChart = (props: TimeChartProps) => {
  const { title, t, lines, marks = none, format, height = 200, isRelative = false } = props;
  const { ref: sizer, width } = useElementSize();
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot>(undefined);
  const shown = useRef({ marks, format });
  shown.current = { marks, format };
  const scheme = useComputedColorScheme('light');
  // The width can be 0 while the page is laid out again; the chart is kept then.
  const [hasWidth, setHasWidth] = useState(false);
  if (width > 0 && !hasWidth) setHasWidth(true);
  const shape = JSON.stringify([
    scheme,
    isRelative,
    lines.map(({ label, color, isBand, isDashed, isDotted }) => [label, color, isBand, isDashed, isDotted]),
  ]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart is created again only when its shape changes
  useEffect(() => {
    if (container.current === null || !hasWidth) return;
    const created = new UPlot(
      optionsOf({ lines, width, height, isRelative, isDark: scheme === 'dark', shown }),
      dataOf(t, lines),
      container.current,
    );
    chart.current = created;
    return () => created.destroy();
  }, [shape, hasWidth]);

  useEffect(() => {
    if (width > 0) chart.current?.setSize({ width, height });
  }, [width, height]);
  useEffect(() => {
    const plot = chart.current;
    plot?.setData(dataOf(t, lines));
    // Without a cursor on the chart, the legend shows the newest values.
    if (plot && (plot.cursor.left ?? -1) < 0 && t.length > 0) plot.setLegend({ idx: newestOf(t, lines) });
  }, [t, lines]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: marks are read while drawing
  useEffect(() => chart.current?.redraw(false), [marks]);

  return (
    <figure style={{ margin: 0 }} aria-label={title}>
      <figcaption style={{ fontSize: '0.8rem', fontWeight: 600 }}>{title}</figcaption>
      <div ref={sizer} style={{ minHeight: height }}>
        <div ref={container} role="img" aria-label={summaryOf(title, lines, format)} />
      </div>
    </figure>
  );
};

/** The newest time at which a line has a value. */
const newestOf = (t: readonly number[], lines: readonly Line[]): number => {
  const known = t.findLastIndex((_, index) => lines.some(({ values }) => (values[index] ?? null) !== null));
  return known < 0 ? t.length - 1 : known;
};

const dataOf = (t: readonly number[], lines: readonly Line[]): UPlot.AlignedData => [
  t.map((ms) => ms / 1000),
  ...lines.map(({ values }) => [...values]),
];

/** The newest values, for screen readers. */
const summaryOf = (title: string, lines: readonly Line[], format: (value: number) => string) =>
  `${title}: ${lines
    .map(({ label, values }) => {
      const last = values.findLast((value) => value !== null);
      return `${label} ${last === undefined || last === null ? text.run.noData : format(last)}`;
    })
    .join(', ')}`;

interface Shape {
  lines: readonly Line[];
  width: number;
  height: number;
  isRelative: boolean;
  isDark: boolean;
  shown: { current: { marks: readonly Mark[]; format: (value: number) => string } };
}

const optionsOf = ({ lines, width, height, isRelative, isDark, shown }: Shape): UPlot.Options => {
  const ink = isDark ? '#c9c9c9' : '#495057';
  const grid = { stroke: isDark ? '#3b3b3b' : '#e9ecef', width: 1 };
  const label = (value: number | null) => (value === null ? '–' : shown.current.format(value));
  return {
    width: Math.max(width, 100),
    height,
    cursor: { sync: { key: syncKey }, drag: { x: true, y: false } },
    scales: {
      x: { time: !isRelative },
      y: { range: (_, low, high) => [Math.min(0, low ?? 0), high ? high * 1.05 : 1] },
    },
    axes: [
      {
        stroke: ink,
        grid,
        ticks: grid,
        space: 72,
        values: (_, ticks) => ticks.map(isRelative ? clock : timeOfDay),
      },
      { stroke: ink, grid, ticks: grid, size: 82, values: (_, ticks) => ticks.map(label) },
    ],
    series: [
      { value: (_, seconds) => (isRelative ? clock : timeOfDay)(seconds) },
      ...lines.map(({ label: name, color, isDashed, isDotted }) => ({
        label: name,
        stroke: color,
        width: 1.6,
        spanGaps: false,
        points: { show: false },
        ...(isDashed && { dash: [6, 4] }),
        ...(isDotted && { dash: [2, 3] }),
        value: (_: UPlot, value: number | null) => label(value),
      })),
    ],
    bands: lines.flatMap(({ isBand, color }, i) =>
      isBand && i > 0 ? [{ series: [i + 1, i] as [number, number], fill: `${color}26` }] : [],
    ),
    hooks: { draw: [(plot) => drawMarks(plot, shown.current.marks)] },
  };
};

const timeOfDay = (seconds: number | null): string =>
  seconds === null ? '–' : new Date(seconds * 1000).toLocaleTimeString('en-GB');

const drawMarks = ({ ctx, bbox, valToPos }: UPlot, marks: readonly Mark[]) => {
  ctx.save();
  ctx.setLineDash([3, 3]);
  ctx.font = `${11 * devicePixelRatio}px sans-serif`;
  let nextFreeX = 0;
  for (const { at, label, color } of marks) {
    const x = valToPos(at / 1000, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = color;
    ctx.fillStyle = color;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    // Only the first of several labels that would overlap is drawn.
    const labelWidth = ctx.measureText(label).width;
    if (x < nextFreeX) continue;
    nextFreeX = x + 8 + labelWidth;
    // A label that would leave the chart is drawn to the left of its line.
    const isNearEnd = x + 4 + labelWidth > bbox.left + bbox.width;
    ctx.textAlign = isNearEnd ? 'right' : 'left';
    ctx.fillText(label, isNearEnd ? x - 4 : x + 4, bbox.top + 12 * devicePixelRatio);
  }
  ctx.restore();
};
