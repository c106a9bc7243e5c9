import type { MetricDescription, Plugin, PluginDetails } from '@rushhour/contract';
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { client } from '../../../lib/client.ts';

const cached = { staleTime: 300_000 };
const none: readonly Plugin[] = [];

/** All plugins. */
export const usePlugins = (): readonly Plugin[] =>
  useQuery({ queryKey: ['tasks', 'plugins'], queryFn: async () => (await client.tasks.plugins()).data, ...cached })
    .data ?? none;

const detailsQuery = (id: number) => ({
  queryKey: ['tasks', 'plugin', id],
  queryFn: async (): Promise<PluginDetails> => (await client.tasks.plugin({ params: { id } })).data,
  ...cached,
});

/** A plugin with the schema of its values. */
export const usePlugin = (id: number): PluginDetails | undefined => useQuery(detailsQuery(id)).data;

/** Reads a plugin on demand. */
export const usePluginReader = () => {
  const queries = useQueryClient();
  return useCallback((id: number) => queries.ensureQueryData(detailsQuery(id)), [queries]);
};

/** All metrics of the plugins, each once. */
export const useMetrics = (pluginIds: readonly number[]): readonly MetricDescription[] =>
  useQueries({
    queries: [...new Set(pluginIds)].map(detailsQuery),
    combine: (results) => [
      ...new Map(results.flatMap(({ data }) => data?.metrics ?? []).map((metric) => [metric.name, metric])).values(),
    ],
  });
