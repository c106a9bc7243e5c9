import { Box, Stack, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { type ReactNode, useContext, useState } from 'react';
import { text } from '../../lib/text.ts';
import { splitMembers } from './basic-members.ts';
import { Dense } from './dense.ts';
import type { Controls, FieldProps, Value } from './field.ts';
import { GroupField } from './group-field.tsx';
import { JourneyFiles } from './journey-files.tsx';
import { RecordField, RecordsField, recordsOf } from './record-field.tsx';
import { ReferenceField, ReferencesField } from './reference-field.tsx';
import { RowsField } from './rows-field.tsx';
import {
  AlternativesField,
  ChoiceField,
  ChoicesField,
  JsonField,
  ListField,
  NumberField,
  SuggestedField,
  SwitchField,
  TagsField,
  TextField,
} from './scalar-fields.tsx';
import { type ObjectSchema, referenceOf, type Schema, typeOf, withoutNull } from './schema.ts';
import classes from './schema-fields.module.css';

export type { Value } from './field.ts';

interface SchemaFieldsProps {
  schema: ObjectSchema;
  value: Value;
  onChange: (value: Value) => void;
  /** Messages by JSON pointer. */
  issues: Readonly<Record<string, string>>;
  path: string;
  controls?: Controls;
}

/** One field per member. A cleared member is removed. A dense form folds what most tests leave as it is. */
export const SchemaFields = (props: SchemaFieldsProps) => {
  const { schema, value, issues, path } = props;
  const isDense = useContext(Dense);
  // Of the first value, so that a field does not move when it is filled or cleared.
  const [given] = useState(() => new Set(Object.keys(value)));
  if (!isDense) return <Fields {...props} />;
  const { shown, folded } = splitMembers(schema, given, issues, path);
  return (
    <>
      <Fields {...props} schema={part(schema, shown)} />
      {folded.length > 0 && (
        <More count={folded.length}>
          <Fields {...props} schema={part(schema, folded)} />
        </More>
      )}
    </>
  );
};

const part = (schema: ObjectSchema, names: readonly string[]): ObjectSchema => ({
  ...schema,
  properties: Object.fromEntries(names.map((name) => [name, schema.properties[name] ?? {}])),
});

const More = ({ count, children }: { count: number; children: ReactNode }) => {
  const [isOpen, setOpen] = useState(false);
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <Box mt={6}>
      <UnstyledButton fz="sm" c="dimmed" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Chevron size={14} style={{ verticalAlign: '-2px' }} /> {text.editor.moreOf(count)}
      </UnstyledButton>
      {isOpen && <Box pt="xs">{children}</Box>}
    </Box>
  );
};

/** Changes what the other members of its object mean. */
const first = 'rfc2544';

/** Whether a member matters with the values of the others. */
const isFor = ({ 'x-for': needed = {} }: Schema, { properties }: ObjectSchema, value: Value): boolean =>
  Object.entries(needed).every(([name, values]) => values.includes(value[name] ?? properties[name]?.default));

/** A member that is ignored, or does not matter here, is shown only if it has a value. */
const Fields = ({ schema, value, onChange, issues, path, controls = {} }: SchemaFieldsProps) => {
  const isDense = useContext(Dense);
  const fields = Object.entries(schema.properties)
    .sort(([a], [b]) => Number(b === first) - Number(a === first))
    .filter(([name, member]) => (!member['x-ignored'] && isFor(member, schema, value)) || value[name] !== undefined)
    .map(([name, member]) => {
      const shown = withoutNull(member);
      const Control = controls[name] ?? controlOf(name, shown);
      return (
        <div key={name} data-pointer={`${path}/${name}`} className={classes[widthOf(shown)] ?? ''}>
          <Control
            name={name}
            schema={shown}
            isRequired={schema.required?.includes(name) ?? false}
            value={value[name] ?? undefined}
            form={value}
            issues={issues}
            path={`${path}/${name}`}
            onChange={(next) => {
              const { [name]: _, ...rest } = value;
              onChange(next === undefined ? rest : { ...rest, [name]: next });
            }}
          />
        </div>
      );
    });
  return isDense ? <div className={classes['grid']}>{fields}</div> : <Stack gap="sm">{fields}</Stack>;
};

const isShort = (schema: Schema) =>
  referenceOf(schema) !== undefined || ['string', 'integer', 'number', 'boolean'].includes(typeOf(schema));

/** How much of a row a field takes: one column, two for several values, else all. */
const widthOf = (schema: Schema) => {
  if (isShort(schema)) return 'short';
  return schema.items !== undefined && isShort(schema.items) ? 'half' : 'whole';
};

const scalars = ['string', 'integer', 'number'];

/** The control for the schema of a member. */
const controlOf = (name: string, schema: Schema) => {
  const type = typeOf(schema);
  if (referenceOf(schema) !== undefined && type !== 'string') return ReferenceField;
  if (schema.items && referenceOf(schema.items) !== undefined) return ReferencesField;
  if (name in recordsOf) return type === 'array' ? RecordsField : RecordField;
  if (schema.enum) return ChoiceField;
  if (name === 'tags' && type === 'string') return TagsField;
  if (type === 'boolean') return SwitchField;
  if (type === 'integer' || type === 'number') return NumberField;
  if (type === 'string' && schema['x-separator'] !== undefined) return AlternativesField;
  if (type === 'string' && schema.examples !== undefined) return SuggestedField;
  if (type === 'string') return TextField;
  if (type === 'array' && schema.items) return listControlOf(schema.items);
  if (type === 'object' && schema.properties) return ObjectField;
  return JsonField;
};

const listControlOf = (items: Schema) => {
  if (items.enum) return ChoicesField;
  if (scalars.includes(typeOf(items))) return ListField;
  return items.properties ? ObjectsField : JsonField;
};

const ObjectField = (props: FieldProps) => {
  const { schema, value, onChange, isRequired, issues, path } = props;
  // If the object is optional, an empty one differs from none: it turns the feature on.
  const isKept = !isRequired && schema.default === undefined;
  return (
    <GroupField {...props}>
      <SchemaFields
        schema={schema as ObjectSchema}
        value={(value as Value | undefined) ?? {}}
        onChange={(next) => onChange(Object.keys(next).length === 0 && !isKept ? undefined : next)}
        issues={issues}
        path={path}
      />
    </GroupField>
  );
};

const journeyFiles = (journeys: Value[], set: (journeys: Value[]) => void) => (
  <JourneyFiles journeys={journeys} onAdd={(added) => set([...journeys, ...(added as Value[])])} />
);

const ObjectsField = (props: FieldProps) => (
  <RowsField {...props} {...(props.name === 'journeys' && { extra: journeyFiles })}>
    {(row, i, set) => (
      <SchemaFields
        schema={props.schema.items as ObjectSchema}
        value={row}
        onChange={set}
        issues={props.issues}
        path={`${props.path}/${i}`}
      />
    )}
  </RowsField>
);
