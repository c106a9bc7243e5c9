import { Stack, Text } from '@mantine/core';
import type { ConfigurationEntry } from '@rushhour/contract';
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

/** The traffic of a task, one card per entry. */
export const EntriesEditor = ({ entries, onChange, issues, path }: EntriesEditorProps) => {
  const plugins = usePlugins();
  return (
    <Stack gap="sm">
      {issues[path] !== undefined && (
        <Text size="sm" c="red" role="alert">
          {issues[path]}
        </Text>
      )}
      {entries.map((entry, i) => (
        <EntryCard
          // biome-ignore lint/suspicious/noArrayIndexKey: entries have no identity but their position
          key={i}
          entries={entries}
          index={i}
          onChange={onChange}
          plugins={plugins}
          issues={issues}
          path={`${path}/${i}`}
        >
          {entry.subplugins !== undefined && (
            <SuiteEditor
              suite={entry.subplugins}
              onChange={(subplugins) => onChange(entries.with(i, { ...entry, subplugins }))}
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
