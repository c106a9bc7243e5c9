import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { RefObject } from 'react';
import type UPlot from 'uplot';
import { saveAs } from '../../lib/downloads.ts';
import { text } from '../../lib/text.ts';
import type { TimeChartProps } from './chart.ts';

const { chart: words } = text;

interface ChartMenuProps extends Pick<TimeChartProps, 'title' | 't' | 'lines'> {
  figure: RefObject<HTMLElement | null>;
  chart: RefObject<UPlot | undefined>;
  isLogarithmic: boolean;
  onLogarithmic: (isLogarithmic: boolean) => void;
}

/** Full screen, scale and downloads of a chart. */
export const ChartMenu = (props: ChartMenuProps) => {
  const { title, figure, chart, isLogarithmic, onLogarithmic } = props;
  const savePng = () =>
    chart.current?.ctx.canvas.toBlob((image) => image !== null && saveAs(image, `${fileName(title)}.png`));
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={words.menu(title)}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void figure.current?.requestFullscreen().catch(() => {})}>
          {words.fullScreen}
        </Menu.Item>
        <Menu.Item onClick={() => onLogarithmic(!isLogarithmic)}>
          {isLogarithmic ? words.linear : words.logarithmic}
        </Menu.Item>
        <Menu.Item onClick={() => saveAs(new Blob([csvOf(props)], { type: 'text/csv' }), `${fileName(title)}.csv`)}>
          {words.csv}
        </Menu.Item>
        <Menu.Item onClick={savePng}>{words.png}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};

const fileName = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

const csvOf = ({ t, lines }: ChartMenuProps): string =>
  [
    ['time', ...lines.map(({ label }) => JSON.stringify(label))],
    ...t.map((at, i) => [new Date(at).toISOString(), ...lines.map(({ values }) => values[i] ?? '')]),
  ]
    .map((row) => row.join(','))
    .join('\n');
