import { Card, Code, Collapse, Group, Stack, Table, Text, Title, UnstyledButton } from '@mantine/core';
import { type ConfigurationEntry, findPlugin, type SuiteEntry, type Task, TaskDraft } from '@rushhour/contract';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Section } from '../../components/page.tsx';
import type { Value } from '../../components/schema-form/field.ts';
import type { Schema } from '../../components/schema-form/schema.ts';
import { ValueText } from '../../components/schema-form/value-text.tsx';
import { ThresholdLines } from '../../components/template-thresholds.tsx';
import { client } from '../../lib/client.ts';
import { text } from '../../lib/text.ts';
import { labelOf } from '../../texts/labels.ts';
import { usePlugin } from './editor/use-plugins.ts';

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
      <Plane name="accessPlane" entries={task.accessPlane} />
      <Plane name="controlPlane" entries={task.controlPlane} />
      <Section title={run.thresholds} order={3}>
        {thresholds.length === 0 && <Text size="sm">{words.noThresholds}</Text>}
        <ThresholdLines thresholds={thresholds} entries={task.configuration} />
      </Section>
      <Json value={{ ...task, thresholds }} />
    </Stack>
  );
};

const EntryText = ({ entry, number }: { entry: ConfigurationEntry | SuiteEntry; number: number }) => {
  const schema = (usePlugin(entry.plugin.id)?.schema ?? {}) as Schema;
  const children = 'subplugins' in entry ? (entry.subplugins?.subplugins ?? []) : [];
  return (
    <Card withBorder padding="sm">
      <Title order={3} size="h5">
        {number} {findPlugin(entry.plugin.id)?.title ?? `#${entry.plugin.id}`}
      </Title>
      <Values values={(entry.values ?? {}) as Value} schema={schema} />
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

/** The members that are given, with their labels. */
const Values = ({ values, schema }: { values: Value; schema: Schema }) => (
  <Table variant="vertical" layout="fixed" className="numbers" mt="xs">
    <Table.Tbody>
      {Object.entries(values).map(([name, value]) => (
        <Table.Tr key={name}>
          <Table.Th w={{ base: 120, sm: 200 }}>{labelOf(name)}</Table.Th>
          <Table.Td style={{ overflowWrap: 'anywhere' }}>
            <ValueText value={value} schema={schema.properties?.[name] ?? {}} path={`/${name}`} />
          </Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
);

/** The protocols that agents run. */
const Plane = ({ name, entries }: { name: 'accessPlane' | 'controlPlane'; entries: readonly object[] }) =>
  entries.length > 0 && (
    <Section title={labelOf(name)} order={3}>
      {entries.map((entry, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries have no identity but their position
        <Values key={i} values={entry as Value} schema={(TaskDraft.properties[name] as Schema).items ?? {}} />
      ))}
    </Section>
  );

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
