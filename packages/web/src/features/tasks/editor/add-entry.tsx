import { Button, Group, Menu, ScrollArea, Text } from '@mantine/core';
import { agentStatus, type ConfigurationEntry, type Plugin } from '@rushhour/contract';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { Schema } from '../../../components/schema-form/schema.ts';
import { useToasts } from '../../../components/toasts.tsx';
import { client } from '../../../lib/client.ts';
import { useMay } from '../../../lib/session.ts';
import { text } from '../../../lib/text.ts';
import { entryOf } from './task-form.ts';
import { usePluginReader } from './use-plugins.ts';

interface AddEntryProps {
  plugins: readonly Plugin[];
  onAdd: (entry: ConfigurationEntry) => void;
}

/** Adds an entry: the first example of a plugin, between agents that are online. */
export const AddEntry = ({ plugins, onAdd }: AddEntryProps) => {
  const read = usePluginReader();
  const toasts = useToasts();
  const may = useMay();
  const { data: agents = [] } = useQuery({
    queryKey: ['agents', 'all'],
    queryFn: async () => (await client.agents.all()).data,
    enabled: may('agents', 'all'),
  });
  const online = agents
    .filter(({ status }) => status === agentStatus.online || status === agentStatus.busy)
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ id }) => id);
  const add = async (plugin: Plugin) => {
    try {
      const { examples, schema } = await read(plugin.id);
      onAdd(entryOf(plugin, { schema: schema as Schema, example: examples[0] ?? {}, agentIds: online }));
    } catch (error) {
      toasts.problem(error);
    }
  };
  return (
    <Group>
      <Menu position="bottom-start" width={320}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconPlus size={16} />}>
            {text.editor.addEntry}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <ScrollArea.Autosize mah={360}>
            {plugins.map((plugin) => (
              <Menu.Item key={plugin.id} onClick={() => void add(plugin)}>
                <Text size="sm">{plugin.title}</Text>
                {!plugin.available && (
                  <Text size="xs" c="dimmed">
                    {plugin.reason}
                  </Text>
                )}
              </Menu.Item>
            ))}
          </ScrollArea.Autosize>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
};
