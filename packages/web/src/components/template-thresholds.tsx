import { Badge, Group, Stack, Text } from '@mantine/core';
import { conditionText, type MetricDescription, type TaskTemplate, type Threshold } from '@rushhour/contract';
import { useQueries } from '@tanstack/react-query';
import { client } from '../lib/client.ts';
import { text } from '../lib/text.ts';
import { measured } from '../lib/units.ts';

const { newTest: words } = text;

interface Entry {
  plugin: { id: number };
  subplugins?: { subplugins?: readonly Entry[] };
}

const pluginsOf = (entries: readonly Entry[]): number[] =>
  entries.flatMap(({ plugin, subplugins }) => [plugin.id, ...pluginsOf(subplugins?.subplugins ?? [])]);

/** Units of metrics are those of the plugins that report them. */
const useUnits = (entries: readonly Entry[]): ReadonlyMap<string, string> => {
  const ids = [...new Set(pluginsOf(entries))];
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: ['tasks', 'plugin', id],
      queryFn: async (): Promise<{ metrics: MetricDescription[] }> =>
        (await client.tasks.plugin({ params: { id } })).data,
      staleTime: 300_000,
    })),
    combine: (found) => new Map(found.flatMap(({ data }) => data?.metrics ?? []).map(({ name, unit }) => [name, unit])),
  });
};

/** The thresholds that the template gives its tests; the editor changes them. */
export const TemplateThresholds = ({ template }: { template: TaskTemplate }) => {
  const thresholds = (template.task['thresholds'] ?? []) as readonly Threshold[];
  if (thresholds.length === 0) return null;
  return (
    <Stack gap={4} component="section" aria-label={words.thresholds}>
      <Text size="sm" fw={500}>
        {words.thresholds}
      </Text>
      <ThresholdLines thresholds={thresholds} entries={(template.task['configuration'] ?? []) as readonly Entry[]} />
    </Stack>
  );
};

interface ThresholdLinesProps {
  thresholds: readonly Threshold[];
  /** The traffic that reports the metrics. */
  entries: readonly Entry[];
}

/** Thresholds with their conditions in the units of the metrics. */
export const ThresholdLines = ({ thresholds, entries }: ThresholdLinesProps) => {
  const units = useUnits(entries);
  return (
    <Stack gap={4}>
      {thresholds.map(({ name, metric, aggregation, operator, value, severity }) => (
        <Group key={name} gap="xs">
          <Text size="sm">{name}</Text>
          <Text size="sm" c="dimmed" className="numbers">
            {conditionText(
              { aggregation, metric, operator },
              measured(value, `${units.get(metric) ?? ''}${aggregation === 'rate' ? '/s' : ''}`),
            )}
          </Text>
          {severity === 'warn' && (
            <Badge variant="light" color="gray" size="sm">
              {words.warns}
            </Badge>
          )}
        </Group>
      ))}
    </Stack>
  );
};
