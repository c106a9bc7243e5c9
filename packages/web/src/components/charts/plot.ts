import UPlot from 'uplot';
import { clock } from '../../lib/units.ts';
import type { Line, Mark, Shown, Span } from './chart.ts';

/** Charts with the same key share the cursor position. */
const syncKey = 'time';
/** Canvases do not inherit the font of the page. */
const fontOf = (px: number) => `${px}px "Figtree Variable", system-ui, sans-serif`;
/** Narrower selections are clicks. */
const minZoomPx = 8;

interface PlotOptions {
  t: readonly number[];
  lines: readonly Line[];
  width: number;
  height: number;
  isRelative: boolean;
  isLogarithmic: boolean;
  isDark: boolean;
  shown: { current: Shown };
  onCursor: (index: number | undefined) => void;
}

export const dataOf = (t: readonly number[], lines: readonly Line[]): UPlot.AlignedData => [
  t.map((ms) => ms / 1000),
  ...lines.map(({ values }) => [...values]),
];

export const createPlot = (container: HTMLElement, options: PlotOptions): UPlot =>
  new UPlot(optionsOf(options), dataOf(options.t, options.lines), container);

export const timeOfDay = (seconds: number | null): string =>
  seconds === null ? '–' : new Date(seconds * 1000).toLocaleTimeString('en-GB');

const scalesOf = ({ isRelative, isLogarithmic }: PlotOptions): UPlot.Scales => ({
  x: { time: !isRelative },
  y: isLogarithmic
    ? {
        distr: 3,
        log: 10,
        range: (_, low, high) => [10 ** Math.floor(Math.log10(Math.max(low ?? 1, 1e-3))), high || 10],
      }
    : { range: (_, low, high) => [Math.min(0, low ?? 0), high ? high * 1.05 : 1] },
});

/** Distances of the numbers beside the time axis in seconds: labels have no fractions. */
const timeSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400];

const optionsOf = (options: PlotOptions): UPlot.Options => {
  const { lines, width, height, isRelative, isLogarithmic, isDark, shown, onCursor } = options;
  const ink = isDark ? '#c9c9c9' : '#495057';
  const grid = { stroke: isDark ? '#3b3b3b' : '#e9ecef', width: 1 };
  const axis = { stroke: ink, grid, ticks: grid, font: fontOf(12) };
  const label = (value: number | null) => (value === null ? '' : shown.current.format(value));
  return {
    width: Math.max(width, 100),
    height,
    legend: { show: false },
    cursor: {
      sync: { key: syncKey },
      drag: { x: true, y: false, setScale: false, dist: minZoomPx },
      bind: { dblclick: () => () => resetZoom(shown.current) },
    },
    scales: scalesOf(options),
    axes: [
      { ...axis, space: 72, incrs: timeSteps, values: (_, ticks) => ticks.map(isRelative ? clock : timeOfDay) },
      { ...axis, size: 82, values: (_, ticks) => ticks.map(label) },
    ],
    series: [
      {},
      ...lines.map(({ label: name, color, isDashed, isDotted, values }) => ({
        label: name,
        stroke: color,
        width: 1.6,
        spanGaps: false,
        points: { show: values.length === 1 },
        ...(isDashed && { dash: [6, 4] }),
        ...(isDotted && { dash: [2, 3] }),
      })),
    ],
    bands: isLogarithmic ? [] : bandsOf(lines),
    hooks: {
      drawClear: [(plot) => drawSpans(plot, shown.current.spans)],
      draw: [(plot) => drawMarks(plot, shown.current.marks)],
      setCursor: [({ cursor: { idx } }) => onCursor(idx ?? undefined)],
      setSelect: [(plot) => zoomTo(plot, shown.current.onZoom)],
    },
  };
};

const bandsOf = (lines: readonly Line[]): UPlot.Band[] =>
  lines.flatMap(({ isBand, color }, i) =>
    isBand && i > 0 ? [{ series: [i + 1, i] as [number, number], fill: `${color}26` }] : [],
  );

const resetZoom = ({ onZoom }: Shown): null => {
  onZoom?.(undefined);
  return null;
};

/** The selected part becomes the zoom of all charts. */
const zoomTo = (plot: UPlot, onZoom: Shown['onZoom']) => {
  const { left, width } = plot.select;
  if (width < minZoomPx || onZoom === undefined) return;
  onZoom([plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')]);
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
};

const drawSpans = ({ ctx, bbox, valToPos }: UPlot, spans: readonly Span[]) => {
  ctx.save();
  ctx.font = fontOf(11 * devicePixelRatio);
  ctx.textAlign = 'left';
  for (const { from, to, label, color } of spans) {
    const left = Math.max(bbox.left, valToPos(from / 1000, 'x', true));
    const right = Math.min(bbox.left + bbox.width, valToPos(to / 1000, 'x', true));
    if (right - left < 2) continue;
    ctx.fillStyle = `${color}22`;
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    if (ctx.measureText(label).width + 8 > right - left) continue;
    ctx.fillStyle = color;
    ctx.fillText(label, left + 4, bbox.top + bbox.height - 6 * devicePixelRatio);
  }
  ctx.restore();
};

const drawMarks = ({ ctx, bbox, valToPos }: UPlot, marks: readonly Mark[]) => {
  ctx.save();
  ctx.setLineDash([3, 3]);
  ctx.font = fontOf(11 * devicePixelRatio);
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
