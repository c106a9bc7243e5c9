import { Card } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { HeatMap } from '../../../components/charts/heat-map.tsx';
import { client } from '../../../lib/client.ts';
import { text } from '../../../lib/text.ts';
import { duration } from '../../../lib/units.ts';

interface RunHeatMapProps {
  taskId: number;
  runId: number;
  latency: string;
  isLive: boolean;
}

const pollMs = 10_000;
/** Fewer cells are no picture. */
const minPoints = 3;

/** How the latency of a run is spread, from the histograms of its seconds. */
export const RunHeatMap = ({ taskId, runId, latency, isLive }: RunHeatMapProps) => {
  const { data } = useQuery({
    queryKey: ['tasks', 'heat map', runId, latency, isLive],
    queryFn: async () => {
      const query = { metrics: latency, bands: true };
      const { t, series } = (await client.tasks.series({ params: { id: taskId, runId }, query })).data;
      const bands = series.map(({ labels, values }) => ({
        ...{ from: Number(labels['from']), to: Number(labels['to']), values },
      }));
      return { t, bands };
    },
    refetchInterval: isLive ? pollMs : false,
  });
  if (data === undefined || data.bands.length === 0 || data.t.length < minPoints) return null;
  return (
    <Card withBorder padding="sm">
      <HeatMap title={text.run.heatMap(latency)} t={data.t} bands={data.bands} format={duration} />
    </Card>
  );
};
