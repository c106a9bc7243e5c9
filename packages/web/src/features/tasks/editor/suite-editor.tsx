import { Group, NumberInput, Paper, Stack, Text } from '@mantine/core';
import { type ConfigurationEntry, entryDuration, type Plugin, type SuiteEntry } from '@rushhour/contract';
import type { ObjectSchema, Schema } from '../../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../../components/schema-form/schema-fields.tsx';
import type { Issues } from '../../../lib/issues.ts';
import { text } from '../../../lib/text.ts';
import { AddEntry } from './add-entry.tsx';
import { EntryCard } from './entry-card.tsx';

const { editor } = text;
type Suite = NonNullable<ConfigurationEntry['subplugins']>;

interface SuiteEditorProps {
  suite: Suite;
  onChange: (suite: Suite) => void;
  plugins: readonly Plugin[];
  issues: Issues;
  /** JSON pointer of `subplugins`. */
  path: string;
}

const { default: _, ...limit } = entryDuration as unknown as Schema;
const limitSchema: ObjectSchema = { properties: { duration: { ...limit, description: editor.suiteLimit } } };

/** The stages of a suite. Stages of the same order start together. */
export const SuiteEditor = ({ suite, onChange, plugins, issues, path }: SuiteEditorProps) => {
  const stages = suite.subplugins ?? [];
  const stagesPath = `${path}/subplugins`;
  const set = (next: readonly ConfigurationEntry[]) => onChange({ ...suite, subplugins: [...next] as SuiteEntry[] });
  const allowed = plugins.filter(({ name, kind }) => name !== 'suite' && !kind.endsWith('plane'));
  return (
    <Paper withBorder p="sm" mb="sm" bg="var(--mantine-color-default-hover)">
      <Stack gap="sm">
        <Text size="sm" fw={600}>
          {editor.stages}
        </Text>
        {issues[stagesPath] !== undefined && (
          <Text size="sm" c="red" role="alert">
            {issues[stagesPath]}
          </Text>
        )}
        {stages.map((stage, i) => (
          <EntryCard
            // biome-ignore lint/suspicious/noArrayIndexKey: stages have no identity but their position
            key={i}
            entries={stages}
            index={i}
            onChange={set}
            plugins={allowed}
            issues={issues}
            path={`${stagesPath}/${i}`}
          >
            <StageTiming
              stage={stage}
              onChange={(next) => set(stages.with(i, next))}
              issues={issues}
              path={`${stagesPath}/${i}`}
            />
          </EntryCard>
        ))}
        <AddEntry
          plugins={allowed}
          onAdd={({ plugin, values = {} }) =>
            set([...stages, { plugin, values, order: (stages.at(-1)?.order ?? -1) + 1 } as SuiteEntry])
          }
        />
        <SchemaFields
          schema={limitSchema}
          value={suite.duration === undefined ? {} : { duration: suite.duration }}
          onChange={({ duration }) => {
            const { duration: _old, ...rest } = suite;
            onChange(duration === undefined ? rest : { ...rest, duration: duration as Value });
          }}
          issues={issues}
          path={path}
        />
      </Stack>
    </Paper>
  );
};

interface StageTimingProps {
  stage: SuiteEntry;
  onChange: (stage: SuiteEntry) => void;
  issues: Issues;
  path: string;
}

const timings = [
  ['order', editor.order],
  ['startAfterSec', editor.startAfter],
] as const;

const StageTiming = ({ stage, onChange, issues, path }: StageTimingProps) => (
  <Group grow mb="sm">
    {timings.map(([name, label]) => (
      <NumberInput
        key={name}
        label={label}
        min={0}
        value={stage[name] ?? ''}
        placeholder="0"
        {...(issues[`${path}/${name}`] !== undefined && { error: issues[`${path}/${name}`] })}
        onChange={(next) => {
          const { [name]: _old, ...rest } = stage;
          onChange(next === '' ? rest : { ...rest, [name]: Number(next) });
        }}
      />
    ))}
  </Group>
);
