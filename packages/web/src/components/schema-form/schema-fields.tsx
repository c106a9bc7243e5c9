import { Stack } from '@mantine/core';
import { useContext } from 'react';
import { Dense } from './dense.ts';
import type { Controls, FieldProps, Value } from './field.ts';
import { GroupField } from './group-field.tsx';
import { RecordField, RecordsField, recordsOf } from './record-field.tsx';
import { ReferenceField, ReferencesField } from './reference-field.tsx';
import { RowsField } from './rows-field.tsx';
import {
  ChoiceField,
  ChoicesField,
  JsonField,
  ListField,
  NumberField,
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

/** One field per member. A cleared member is removed; an ignored one is shown only if it has a value. */
export const SchemaFields = ({ schema, value, onChange, issues, path, controls = {} }: SchemaFieldsProps) => {
  const isDense = useContext(Dense);
  const fields = Object.entries(schema.properties)
    .filter(([name, member]) => !member['x-ignored'] || value[name] !== undefined)
    .map(([name, member]) => {
      const shown = withoutNull(member);
      const Control = controls[name] ?? controlOf(name, shown);
      return (
        <div key={name} data-pointer={`${path}/${name}`} className={isCompact(shown) ? '' : classes['whole']}>
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

/** Whether a field fits beside others. */
const isCompact = (schema: Schema) =>
  referenceOf(schema) !== undefined || ['string', 'integer', 'number', 'boolean'].includes(typeOf(schema));

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

const ObjectsField = (props: FieldProps) => (
  <RowsField {...props}>
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
