import { MultiSelect, Stack } from '@mantine/core';
import { accessProfiles, controlProfiles, TaskDraft } from '@rushhour/contract';
import { RowsField } from '../../../components/schema-form/rows-field.tsx';
import type { ObjectSchema, Schema } from '../../../components/schema-form/schema.ts';
import { SchemaFields, type Value } from '../../../components/schema-form/schema-fields.tsx';
import type { Issues } from '../../../lib/issues.ts';
import { text } from '../../../lib/text.ts';
import { labelOf } from '../../../texts/labels.ts';

const { editor } = text;
const planes = {
  accessPlane: Object.keys(accessProfiles),
  controlPlane: Object.keys(controlProfiles),
} as const;
export type PlaneName = keyof typeof planes;

const agent: Schema = { type: 'object', properties: { id: { type: 'integer', 'x-reference': 'agent' } } };
const profile: Schema = { type: 'array', items: { type: 'integer', 'x-reference': 'dictionary' } };

/** The schema of an entry, with only the selected protocols. */
const schemaOf = (plane: PlaneName, protocols: readonly string[]): ObjectSchema => {
  const { items } = TaskDraft.properties[plane] as unknown as { items: ObjectSchema };
  const own = Object.entries(items.properties).filter(([name]) => !planes[plane].includes(name));
  return {
    ...items,
    properties: {
      ...Object.fromEntries(own),
      agent,
      ...Object.fromEntries(protocols.map((name) => [name, profile])),
    },
  };
};

interface PlaneEditorProps {
  plane: PlaneName;
  entries: readonly object[];
  onChange: (entries: readonly Value[]) => void;
  issues: Issues;
}

/** Protocols that agents run besides the traffic; their profiles are dictionaries. */
export const PlaneEditor = ({ plane, entries, onChange, issues }: PlaneEditorProps) => (
  <RowsField
    name={plane}
    schema={{ description: editor.planes[plane] }}
    isRequired={false}
    value={entries}
    onChange={(next) => onChange((next as Value[] | undefined) ?? [])}
    issues={issues}
    path={`/${plane}`}
    form={{}}
  >
    {(row, i, set) => <PlaneRow plane={plane} row={row} onChange={set} issues={issues} path={`/${plane}/${i}`} />}
  </RowsField>
);

interface PlaneRowProps {
  plane: PlaneName;
  row: Value;
  onChange: (row: Value) => void;
  issues: Issues;
  path: string;
}

const PlaneRow = ({ plane, row, onChange, issues, path }: PlaneRowProps) => {
  const used = planes[plane].filter((name) => row[name] !== undefined);
  const select = (names: string[]) => {
    const kept = Object.entries(row).filter(([name]) => !planes[plane].includes(name) || names.includes(name));
    const added = names.filter((name) => row[name] === undefined).map((name) => [name, []]);
    onChange(Object.fromEntries([...kept, ...added]));
  };
  return (
    <Stack gap="sm">
      <MultiSelect
        label={editor.protocols}
        data={planes[plane].map((name) => ({ value: name, label: labelOf(name) }))}
        value={used}
        onChange={select}
        searchable
      />
      <SchemaFields schema={schemaOf(plane, used)} value={row} onChange={onChange} issues={issues} path={path} />
    </Stack>
  );
};
