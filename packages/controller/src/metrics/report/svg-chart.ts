import type { ReportChart } from './report-data.ts';
import { numberText } from './report-text.ts';

const width = 860;
const height = 220;
const margin = { top: 12, right: 12, bottom: 26, left: 72 };
const colors = ['#e8590c', '#1971c2', '#7048e8', '#e03131', '#2f9e44', '#868e96'];
const gridLines = 4;
const maxPoints = 600;

const escaped = (text: string) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** The largest of each group of neighbours: a peak must not vanish when points become few. */
const thinned = (values: readonly (number | null)[]): { step: number; values: (number | null)[] } => {
  const step = Math.max(1, Math.ceil(values.length / maxPoints));
  const kept: (number | null)[] = [];
  for (let i = 0; i < values.length; i += step) {
    const group = values.slice(i, i + step).filter((value) => value !== null);
    kept.push(group.length === 0 ? null : Math.max(...group));
  }
  return { step, values: kept };
};

const niceTop = (value: number): number => {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const fitting = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= value) ?? 10;
  return fitting * power;
};

const pathOf = (points: readonly (readonly [number, number] | null)[]): string => {
  let isDrawing = false;
  return points
    .map((point) => {
      if (point === null) {
        isDrawing = false;
        return '';
      }
      const command = isDrawing ? 'L' : 'M';
      isDrawing = true;
      return `${command}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
    })
    .join('');
};

/** A chart as a drawing that needs no program, readable on screen and paper. */
export const svgChart = ({ title, unit, t, lines }: ReportChart): string => {
  const [first = 0] = t;
  const last = t.at(-1) ?? first;
  const top = niceTop(Math.max(0, ...lines.flatMap(({ values }) => values.filter((value) => value !== null))));
  const x = (time: number) =>
    margin.left + ((width - margin.left - margin.right) * (time - first)) / Math.max(last - first, 1);
  const y = (value: number) => height - margin.bottom - ((height - margin.top - margin.bottom) * value) / top;
  const grid = Array.from({ length: gridLines + 1 }, (_, i) => (top * i) / gridLines).map(
    (value) =>
      `<line x1="${margin.left}" x2="${width - margin.right}" y1="${y(value)}" y2="${y(value)}" class="grid"/>` +
      `<text x="${margin.left - 8}" y="${y(value) + 4}" text-anchor="end">${escaped(numberText(value, unit))}</text>`,
  );
  const seconds = Array.from({ length: 6 }, (_, i) => first + ((last - first) * i) / 5).map(
    (time) =>
      `<text x="${x(time)}" y="${height - 8}" text-anchor="middle">${Math.round((time - first) / 1000)} s</text>`,
  );
  const drawn = lines.map(({ values }, i) => {
    const { step, values: kept } = thinned(values);
    const points = kept.map((value, at) => (value === null ? null : ([x(t[at * step] ?? last), y(value)] as const)));
    return `<path d="${pathOf(points)}" fill="none" stroke="${colors[i % colors.length]}" stroke-width="1.6"/>`;
  });
  const legend = lines.map(
    ({ label }, i) => `<span><i style="background:${colors[i % colors.length]}"></i>${escaped(label)}</span>`,
  );
  return (
    `<figure><figcaption>${escaped(title)}</figcaption>` +
    `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">${grid.join('')}${seconds.join('')}${drawn.join('')}</svg>` +
    `<div class="legend">${legend.join('')}</div></figure>`
  );
};
