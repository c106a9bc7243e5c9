import { ActionIcon, Badge, Box, Card, Collapse, Group, Select, Text, UnstyledButton } from '@mantine/core';
import type { ConfigurationEntry, Plugin } from '@rushhour/contract';
import { IconChevronDown, IconChevronRight, IconCopy } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { ListButtons } from '../../../components/schema-form/list-buttons.tsx';
import { issueWithin } from '../../../components/schema-form/schema.ts';
import type { Value } from '../../../components/schema-form/schema-fields.tsx';
import type { Issues } from '../../../lib/issues.ts';
import { text } from '../../../lib/text.ts';
import { PluginForm } from './plugin-form.tsx';
import { withPlugin } from './task-form.ts';

const { editor } = text;

interface EntryCardProps {
  entry: ConfigurationEntry;
  onChange: (entry: ConfigurationEntry) => void;
  /** What it can be. */
  plugins: readonly Plugin[];
  issues: Issues;
  /** JSON pointer of the entry. */
  path: string;
  place: { index: number; count: number };
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
  onCopy: () => void;
  /** What comes beside its values. */
  children?: ReactNode;
}

/** One entry of a configuration: which plugin, and its values. */
export const EntryCard = (props: EntryCardProps) => {
  const { entry, onChange, plugins, issues, path, place, onMove, onRemove, onCopy, children } = props;
  const [isOpen, setOpen] = useState(place.count === 1);
  const plugin = plugins.find(({ id }) => id === entry.plugin.id);
  const name = `${place.index + 1} ${plugin?.title ?? `#${entry.plugin.id}`}`;
  const problem = issueWithin(issues, path);
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
            {plugin && plugin.hazard > 1 && <Badge color="red">{editor.hazard[plugin.hazard]}</Badge>}
            {problem !== undefined && (
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
          <ActionIcon variant="subtle" color="gray" aria-label={editor.copy(name)} onClick={onCopy}>
            <IconCopy size={16} />
          </ActionIcon>
          <ListButtons
            label={name}
            isFirst={place.index === 0}
            isLast={place.index === place.count - 1}
            onMove={onMove}
            onRemove={onRemove}
          />
        </Group>
      </Group>
      <Collapse expanded={isOpen}>
        {isOpen && (
          <Box pt="sm">
            <Select
              label={editor.plugin}
              data={plugins.map(({ id, title }) => ({ value: String(id), label: title }))}
              value={String(entry.plugin.id)}
              onChange={(id) => {
                const next = plugins.find((one) => String(one.id) === id);
                if (next !== undefined) onChange(withPlugin(entry, next));
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
              onChange={(values) => onChange({ ...entry, values: values as NonNullable<typeof entry.values> })}
              issues={issues}
              path={`${path}/values`}
            />
          </Box>
        )}
      </Collapse>
    </Card>
  );
};

const rates = ['requestsPerSecond', 'packetsPerSecond', 'sessionsPerSecond'] as const;

/** The load and the length of an entry in a few letters. */
const summaryOf = (values: ConfigurationEntry['values']): string => {
  const given = (values ?? {}) as Value;
  const rate = rates.map((name) => given[name]).find((value) => typeof value === 'number');
  const seconds = (given['duration'] as { seconds?: number } | undefined)?.seconds;
  return [rate === undefined ? '' : `${rate}/s`, seconds === undefined ? '' : `${seconds} s`]
    .filter((part) => part !== '')
    .join(' · ');
};
