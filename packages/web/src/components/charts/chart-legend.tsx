import { text } from '../../lib/text.ts';
import { clock } from '../../lib/units.ts';
import type { Line, TimeChartProps } from './chart.ts';
import { timeOfDay } from './plot.ts';
import { statisticsOf } from './statistics.ts';
import classes from './time-chart.module.css';

const { chart: words } = text;

interface ChartLegendProps extends Pick<TimeChartProps, 't' | 'lines' | 'format' | 'zoom' | 'isLive' | 'isRelative'> {
  /** The point under the cursor. */
  cursor: number | undefined;
}

/** The lines with their statistics over the visible part, and their values at the cursor. */
export const ChartLegend = ({
  t,
  lines,
  format,
  zoom,
  isLive = false,
  isRelative = false,
  cursor,
}: ChartLegendProps) => {
  const at = t[cursor ?? -1];
  const hasNow = at !== undefined || isLive;
  const now = at === undefined ? words.now : (isRelative ? clock : timeOfDay)(at / 1000);
  const shown = (value: number | null | undefined) => (value === null || value === undefined ? '–' : format(value));
  return (
    <table className={`${classes['legend']} numbers`}>
      <thead>
        <tr>
          <td />
          {/* The column stays, so that the table does not move under the cursor. */}
          <th className={classes['at']}>{hasNow ? now : ''}</th>
          {words.columns.map((column) => (
            <th key={column}>{column}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => {
          const { min, mean, max } = statisticsOf(t, line.values, zoom);
          return (
            <tr key={line.label}>
              <th scope="row">
                <Swatch line={line} />
                {line.label}
              </th>
              <td>{hasNow ? shown(at === undefined ? newestOf(line) : line.values[cursor ?? -1]) : ''}</td>
              {[min, mean, max].map((value, i) => (
                <td key={words.columns[i]}>{shown(value)}</td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
};

const newestOf = ({ values }: Line) => values.findLast((value) => value !== null);

const Swatch = ({ line: { color, isDashed, isDotted } }: { line: Line }) => {
  const background =
    isDashed || isDotted
      ? `repeating-linear-gradient(90deg, ${color} 0 4px, transparent 4px ${isDotted ? 6 : 7}px)`
      : color;
  return <span className={classes['swatch']} style={{ background }} />;
};
