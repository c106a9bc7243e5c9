import { Card, Code, Collapse, Group, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { type ConfigurationEntry, findPlugin, type SuiteEntry, type Task } from '@rushhour/contract';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Section } from '../../components/page.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { labelOf } from '../../texts/labels.ts';

const { task: words, run } = text;

/** The entries and thresholds of a task, and the whole task as JSON. */
export const DefinitionPanel = ({ task }: { task: Task }) => {
  const { data: thresholds = [] } = useQuery({
    queryKey: ['tasks', 'thresholds', task.id],
    queryFn: async () => (await client.tasks.thresholds({ params: { id: task.id } })).data,
  });
  return (
    <Stack>
      {task.configuration.map((entry, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries have no identity but their position
        <EntryText key={i} entry={entry} number={i + 1} />
      ))}
      <Section title={run.thresholds} order={3}>
        {thresholds.length === 0 && <Text size="sm">{words.noThresholds}</Text>}
        {thresholds.map(({ name, aggregation, metric, operator, value }) => (
          <Text key={name} size="sm">
            {name}: {aggregation}({metric}) {operator} {value}
          </Text>
        ))}
      </Section>
      <Json value={{ ...task, thresholds }} />
    </Stack>
  );
};

const EntryText = ({ entry, number }: { entry: ConfigurationEntry | SuiteEntry; number: number }) => {
  const children = 'subplugins' in entry ? (entry.subplugins?.subplugins ?? []) : [];
  return (
    <Card withBorder padding="sm">
      <Title order={3} size="h5">
        {number} {findPlugin(entry.plugin.id)?.title ?? `#${entry.plugin.id}`}
      </Title>
      {Object.entries(entry.values ?? {}).map(([name, value]) => (
        <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Text span c="dimmed">
            {labelOf(name)}:
          </Text>{' '}
          {typeof value === 'object' ? <Code>{JSON.stringify(value)}</Code> : String(value)}
        </Text>
      ))}
      {children.length > 0 && (
        <Stack gap="xs" mt="xs">
          {children.map((child, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: stages have no identity but their position
            <EntryText key={i} entry={child} number={i + 1} />
          ))}
        </Stack>
      )}
    </Card>
  );
};

const Json = ({ value }: { value: unknown }) => {
  const [isOpen, setOpen] = useState(false);
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <div>
      <UnstyledButton onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
        <Group gap={6}>
          <Chevron size={16} />
          <Text size="sm">{words.asJson}</Text>
        </Group>
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        {isOpen && (
          <Code block tabIndex={0} mah={520} style={{ overflow: 'auto' }}>
            {JSON.stringify(value, null, 2)}
          </Code>
        )}
      </Collapse>
    </div>
  );
};
