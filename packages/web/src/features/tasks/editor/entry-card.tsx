import { Badge, Box, Card, Collapse, Group, Select, Text, UnstyledButton } from '@mantine/core';
import type { ConfigurationEntry, Plugin } from '@rushhour/contract';
import { IconChevronDown, IconChevronRight, IconCopy } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { IconButton } from '../../../components/buttons.tsx';
import { ListButtons } from '../../../components/schema-form/list-buttons.tsx';
import { issueWithin } from '../../../components/schema-form/schema.ts';
import type { Value } from '../../../components/schema-form/schema-fields.tsx';
import type { Issues } from '../../../lib/issues.ts';
import { text } from '../../../lib/text.ts';
import { scaled } from '../../../lib/units.ts';
import { PluginForm } from './plugin-form.tsx';
import { withPlugin } from './task-form.ts';

const { editor } = text;

interface EntryCardProps {
  /** All entries of the list, of which this is one. */
  entries: readonly ConfigurationEntry[];
  index: number;
  onChange: (entries: readonly ConfigurationEntry[]) => void;
  /** The plugins to choose from. */
  plugins: readonly Plugin[];
  issues: Issues;
  /** JSON pointer of the entry. */
  path: string;
  /** Fields above the values of the plugin. */
  children?: ReactNode;
}

/** One entry of a configuration: its plugin and the values for it. */
export const EntryCard = (props: EntryCardProps) => {
  const { entries, index, onChange, plugins, issues, path } = props;
  const [isOpen, setOpen] = useState(entries.length === 1);
  const entry = entries[index] as ConfigurationEntry;
  const plugin = plugins.find(({ id }) => id === entry.plugin.id);
  const name = `${index + 1} ${plugin?.title ?? `#${entry.plugin.id}`}`;
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <Card withBorder role="group" aria-label={editor.entry(name)} data-pointer={path}>
      <Group justify="space-between" wrap="nowrap">
        <UnstyledButton onClick={() => setOpen(!isOpen)} aria-expanded={isOpen} style={{ flex: 1, minWidth: 0 }}>
          <Group gap="xs" wrap="nowrap">
            <Chevron size={16} />
            <Text fw={600} truncate>
              {name}
            </Text>
            {plugin && plugin.hazard > 1 && (
              <Badge color="red" tt="none">
                {editor.hazard[plugin.hazard]}
              </Badge>
            )}
            {issueWithin(issues, path) !== undefined && (
              <Badge color="red" variant="dot" tt="none" maw="60%">
                {editor.invalid}
              </Badge>
            )}
            <Text size="sm" c="dimmed" truncate visibleFrom="sm">
              {summaryOf(entry.values)}
            </Text>
          </Group>
        </UnstyledButton>
        <Group gap={2} wrap="nowrap">
          <IconButton
            label={editor.copy(name)}
            icon={IconCopy}
            onClick={() => onChange(entries.toSpliced(index + 1, 0, structuredClone(entry)))}
          />
          <ListButtons label={name} items={entries} index={index} onChange={onChange} />
        </Group>
      </Group>
      <Collapse expanded={isOpen}>{isOpen && <EntryFields {...props} entry={entry} />}</Collapse>
    </Card>
  );
};

const EntryFields = (props: EntryCardProps & { entry: ConfigurationEntry }) => {
  const { entry, entries, index, onChange, plugins, issues, path, children } = props;
  const set = (members: Partial<ConfigurationEntry>) => onChange(entries.with(index, { ...entry, ...members }));
  return (
    <Box pt="sm">
      <Select
        label={editor.plugin}
        data={plugins.map(({ id, title }) => ({ value: String(id), label: title }))}
        value={String(entry.plugin.id)}
        onChange={(id) => {
          const next = plugins.find((one) => String(one.id) === id);
          if (next !== undefined) onChange(entries.with(index, withPlugin(entry, next)));
        }}
        {...(issues[`${path}/plugin/id`] !== undefined && { error: issues[`${path}/plugin/id`] })}
        allowDeselect={false}
        searchable
        mb="sm"
      />
      {children}
      <PluginForm
        key={entry.plugin.id}
        pluginId={entry.plugin.id}
        values={(entry.values ?? {}) as Value}
        onChange={(values) => set({ values: values as NonNullable<ConfigurationEntry['values']> })}
        issues={issues}
        path={`${path}/values`}
      />
    </Box>
  );
};

const rates = ['requestsPerSecond', 'packetsPerSecond', 'sessionsPerSecond'] as const;

/** Load and duration of an entry, such as "100 /s · 10 s". */
const summaryOf = (values: ConfigurationEntry['values']): string => {
  const given = (values ?? {}) as Value;
  const rate = rates.map((name) => given[name]).find((value) => typeof value === 'number');
  const seconds = (given['duration'] as { seconds?: number } | undefined)?.seconds;
  return [typeof rate === 'number' ? scaled(rate, '/s') : '', seconds === undefined ? '' : `${seconds} s`]
    .filter((part) => part !== '')
    .join(' · ');
};
