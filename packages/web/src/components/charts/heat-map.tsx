import { Text, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { text } from '../../lib/text.ts';
import { howMany } from '../../lib/units.ts';
import classes from './heat-map.module.css';

/** Events with a value from `from` to below `to`, at each point of time. */
export interface Band {
  readonly from: number;
  readonly to: number;
  readonly values: readonly (number | null)[];
}

interface HeatMapProps {
  title: string;
  /** Unix time in milliseconds. */
  t: readonly number[];
  /** The lowest first. */
  bands: readonly Band[];
  format: (value: number) => string;
}

const height = 200;
const timeOf = (at: number | undefined) => (at === undefined ? '' : new Date(at).toLocaleTimeString('en-GB'));

/** How values spread over time: the darker a cell, the more events. */
export const HeatMap = ({ title, t, bands, format }: HeatMapProps) => {
  const { ref: sizer, width } = useElementSize();
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useComputedColorScheme('light');
  const [cell, setCell] = useState<{ column: number; row: number }>();
  useEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, { width, columns: t.length, bands, scheme });
  }, [width, t, bands, scheme]);
  const point = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * t.length);
    const row = bands.length - 1 - Math.floor(((event.clientY - box.top) / box.height) * bands.length);
    setCell({ column, row });
  };
  const [low, high] = [bands[0], bands.at(-1)];
  const busiest = busiestOf(bands);
  const summary = busiest && text.chart.busiestBetween(title, format(busiest.from), format(busiest.to));
  return (
    <figure className={classes['figure'] ?? ''} aria-label={title}>
      <figcaption>{title}</figcaption>
      <div className={classes['frame']}>
        <div className={classes['axis']}>
          <span>{high && format(high.to)}</span>
          <span>{low && format(low.from)}</span>
        </div>
        <div ref={sizer} style={{ height, minWidth: 0 }}>
          <canvas
            ref={canvas}
            role="img"
            aria-label={summary}
            style={{ width: '100%', height }}
            onPointerMove={point}
            onPointerLeave={() => setCell(undefined)}
          />
        </div>
      </div>
      <div className={classes['times']}>
        <span>{timeOf(t[0])}</span>
        <span>{timeOf(t.at(-1))}</span>
      </div>
      <Text size="xs" c="dimmed" className="numbers" mih={18}>
        {(cell && cellText({ t, bands, format }, cell)) ?? summary}
      </Text>
    </figure>
  );
};

const totalOf = ({ values }: Band) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

const busiestOf = (bands: readonly Band[]): Band | undefined => bands.toSorted((a, b) => totalOf(b) - totalOf(a))[0];

const cellText = (
  { t, bands, format }: Pick<HeatMapProps, 't' | 'bands' | 'format'>,
  { column, row }: { column: number; row: number },
) => {
  const band = bands[row];
  const at = t[column];
  if (band === undefined || at === undefined) return undefined;
  return text.chart.cell(timeOf(at), format(band.from), format(band.to), howMany(band.values[column] ?? 0));
};

interface Drawing {
  readonly width: number;
  readonly columns: number;
  readonly bands: readonly Band[];
  readonly scheme: 'light' | 'dark';
}

/** Rare events are what a heat map is read for: the root keeps them visible beside thousands of others. */
const draw = (canvas: HTMLCanvasElement, { width, columns, bands, scheme }: Drawing) => {
  const ratio = window.devicePixelRatio;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext('2d');
  if (context === null) return;
  const highest = Math.max(1, ...bands.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const edge = (share: number, size: number) => Math.round(share * size);
  context.fillStyle = scheme === 'dark' ? '#ff922b' : '#d9480f';
  for (const [row, { values }] of bands.entries()) {
    const top = edge((bands.length - 1 - row) / bands.length, canvas.height);
    const bottom = edge((bands.length - row) / bands.length, canvas.height);
    for (const [column, value] of values.entries()) {
      if (value === null || value === 0) continue;
      const left = edge(column / columns, canvas.width);
      context.globalAlpha = 0.08 + 0.92 * Math.sqrt(value / highest);
      context.fillRect(left, top, edge((column + 1) / columns, canvas.width) - left, bottom - top);
    }
  }
};
