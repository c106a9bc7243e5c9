import { entriesOf, findPlugin, type Task } from '@rushhour/contract';

/** The durations that the traffic of a task reports, the main one of each plugin first. */
export const latencyMetricsOf = ({ configuration }: Pick<Task, 'configuration'>): string[] => {
  const ids = [...new Set(entriesOf(configuration).map(({ pluginId }) => pluginId))];
  const names = ids.flatMap((id) => {
    const spread = (findPlugin(id)?.metrics ?? []).filter(
      ({ type, name }) => type === 'histogram' && !name.startsWith('agent.'),
    );
    return spread.map(({ name }) => name).sort((a, b) => rank(a) - rank(b));
  });
  return [...new Set(names)];
};

const rank = (name: string) => (name.endsWith('.latency') ? 0 : 1);
