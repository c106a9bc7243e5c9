import { Stack, Text } from '@mantine/core';
import type { ConfigurationEntry } from '@rushhour/contract';
import { moved } from '../../../components/schema-form/list-buttons.tsx';
import type { Issues } from '../../../lib/issues.ts';
import { AddEntry } from './add-entry.tsx';
import { EntryCard } from './entry-card.tsx';
import { SuiteEditor } from './suite-editor.tsx';
import { usePlugins } from './use-plugins.ts';

interface EntriesEditorProps {
  entries: readonly ConfigurationEntry[];
  onChange: (entries: readonly ConfigurationEntry[]) => void;
  issues: Issues;
  /** JSON pointer of the list. */
  path: string;
}

/** What a task does, one entry after the other. */
export const EntriesEditor = ({ entries, onChange, issues, path }: EntriesEditorProps) => {
  const plugins = usePlugins();
  const set = (index: number, next: ConfigurationEntry) =>
    onChange(entries.map((one, i) => (i === index ? next : one)));
  return (
    <Stack gap="sm">
      {issues[path] !== undefined && (
        <Text size="sm" c="red" role="alert">
          {issues[path]}
        </Text>
      )}
      {entries.map((entry, i) => (
        <EntryCard
          // biome-ignore lint/suspicious/noArrayIndexKey: entries have no other identity than their place
          key={i}
          entry={entry}
          onChange={(next) => set(i, next)}
          plugins={plugins}
          issues={issues}
          path={`${path}/${i}`}
          place={{ index: i, count: entries.length }}
          onMove={(by) => onChange(moved(entries, i, by))}
          onRemove={() => onChange(entries.filter((_, at) => at !== i))}
          onCopy={() => onChange([...entries.slice(0, i + 1), structuredClone(entry), ...entries.slice(i + 1)])}
        >
          {entry.subplugins !== undefined && (
            <SuiteEditor
              suite={entry.subplugins}
              onChange={(subplugins) => set(i, { ...entry, subplugins })}
              plugins={plugins}
              issues={issues}
              path={`${path}/${i}/subplugins`}
            />
          )}
        </EntryCard>
      ))}
      <AddEntry plugins={plugins} onAdd={(entry) => onChange([...entries, entry])} />
    </Stack>
  );
};
