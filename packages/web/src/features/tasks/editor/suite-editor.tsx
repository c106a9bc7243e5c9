import { Group, NumberInput, Paper, Stack, Text } from '@mantine/core';
import { type ConfigurationEntry, entryDuration, type Plugin, type SuiteEntry } from '@rushhour/contract';
import { moved } from '../../../components/schema-form/list-buttons.tsx';
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

/** The stages of a suite: those of the same order begin together. */
export const SuiteEditor = ({ suite, onChange, plugins, issues, path }: SuiteEditorProps) => {
  const children = suite.subplugins ?? [];
  const place = `${path}/subplugins`;
  const set = (next: readonly SuiteEntry[]) => onChange({ ...suite, subplugins: [...next] });
  const setOne = (index: number, next: SuiteEntry) => set(children.map((one, i) => (i === index ? next : one)));
  const allowed = plugins.filter(({ name, kind }) => name !== 'suite' && !kind.endsWith('plane'));
  return (
    <Paper withBorder p="sm" mb="sm" bg="var(--mantine-color-default-hover)">
      <Stack gap="sm">
        <Text size="sm" fw={600}>
          {editor.stages}
        </Text>
        {issues[place] !== undefined && (
          <Text size="sm" c="red" role="alert">
            {issues[place]}
          </Text>
        )}
        {children.map(({ order, startAfterSec, ...child }, i) => (
          <EntryCard
            // biome-ignore lint/suspicious/noArrayIndexKey: stages have no other identity than their place
            key={i}
            entry={child}
            onChange={(next) => setOne(i, { ...children[i], ...(next as SuiteEntry) })}
            plugins={allowed}
            issues={issues}
            path={`${place}/${i}`}
            place={{ index: i, count: children.length }}
            onMove={(by) => set(moved(children, i, by))}
            onRemove={() => set(children.filter((_, at) => at !== i))}
            onCopy={() => set([...children, structuredClone(children[i] as SuiteEntry)])}
          >
            <Group grow mb="sm">
              <StageNumber
                label={editor.order}
                value={order}
                error={issues[`${place}/${i}/order`]}
                onChange={(next) => setOne(i, withMember(children[i] as SuiteEntry, 'order', next))}
              />
              <StageNumber
                label={editor.startAfter}
                value={startAfterSec}
                error={issues[`${place}/${i}/startAfterSec`]}
                onChange={(next) => setOne(i, withMember(children[i] as SuiteEntry, 'startAfterSec', next))}
              />
            </Group>
          </EntryCard>
        ))}
        <AddEntry
          plugins={allowed}
          onAdd={({ plugin, values = {} }) =>
            set([...children, { plugin, values, order: (children.at(-1)?.order ?? -1) + 1 }])
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

const withMember = (entry: SuiteEntry, name: 'order' | 'startAfterSec', value: number | undefined): SuiteEntry => {
  const { [name]: _old, ...rest } = entry;
  return value === undefined ? rest : { ...rest, [name]: value };
};

interface StageNumberProps {
  label: string;
  value: number | undefined;
  error: string | undefined;
  onChange: (value: number | undefined) => void;
}

const StageNumber = ({ label, value, error, onChange }: StageNumberProps) => (
  <NumberInput
    label={label}
    min={0}
    value={value ?? ''}
    placeholder="0"
    {...(error !== undefined && { error })}
    onChange={(next) => onChange(next === '' ? undefined : Number(next))}
  />
);
