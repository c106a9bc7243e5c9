import { Fieldset, JsonInput, NumberInput, Select, Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core';
import { labelOf, type ObjectSchema, type Schema, typeOf } from './schema.ts';

export type Value = Record<string, unknown>;

interface SchemaFieldsProps {
  schema: ObjectSchema;
  value: Value;
  onChange: (value: Value) => void;
  /** Messages by JSON pointer. */
  issues: Record<string, string>;
  path: string;
}

/** One field for each member; an emptied one is left out. */
export const SchemaFields = ({ schema, value, onChange, issues, path }: SchemaFieldsProps) => (
  <Stack gap="sm">
    {Object.entries(schema.properties).map(([name, member]) => (
      <SchemaField
        key={name}
        name={name}
        schema={member}
        isRequired={schema.required?.includes(name) ?? false}
        value={value[name]}
        issues={issues}
        path={`${path}/${name}`}
        onChange={(next) => {
          const { [name]: _, ...rest } = value;
          onChange(next === undefined ? rest : { ...rest, [name]: next });
        }}
      />
    ))}
  </Stack>
);

interface SchemaFieldProps {
  name: string;
  schema: Schema;
  isRequired: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
  issues: Record<string, string>;
  path: string;
}

const longText = 512;

/** The control that fits the schema of a member; its description is the help. */
const SchemaField = (props: SchemaFieldProps) => {
  const { name, schema, isRequired, value, onChange, issues, path } = props;
  const error = issues[path];
  const common = {
    label: labelOf(name),
    description: schema.description,
    required: isRequired,
    ...(error !== undefined && { error }),
  };
  const hint = schema.default === undefined ? undefined : String(schema.default);
  const placeholder = hint === undefined ? {} : { placeholder: hint };
  const type = typeOf(schema);
  if (schema.enum) {
    return (
      <Select
        {...common}
        {...placeholder}
        data={schema.enum.map(String)}
        value={value === undefined ? null : String(value)}
        onChange={(next) => onChange(next ?? undefined)}
        clearable={!isRequired}
      />
    );
  }
  if (type === 'boolean') {
    const { required: _, ...rest } = common;
    return (
      <Switch
        {...rest}
        checked={Boolean(value ?? schema.default ?? false)}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    );
  }
  if (type === 'integer' || type === 'number') {
    return (
      <NumberInput
        {...common}
        {...placeholder}
        {...(schema.minimum !== undefined && { min: schema.minimum })}
        allowDecimal={type === 'number'}
        thousandSeparator=" "
        value={(value as number | undefined) ?? ''}
        onChange={(next) => onChange(next === '' ? undefined : Number(next))}
      />
    );
  }
  if (type === 'string') {
    const text = { value: (value as string | undefined) ?? '', ...placeholder };
    const set = (next: string) => onChange(next === '' && !isRequired ? undefined : next);
    return (schema.maxLength ?? 0) > longText ? (
      <Textarea {...common} {...text} autosize minRows={2} onChange={(event) => set(event.currentTarget.value)} />
    ) : (
      <TextInput {...common} {...text} onChange={(event) => set(event.currentTarget.value)} />
    );
  }
  if (type === 'array' && schema.items && ['string', 'integer', 'number'].includes(typeOf(schema.items))) {
    const isNumber = typeOf(schema.items) !== 'string';
    return (
      <TagsInput
        {...common}
        value={((value as unknown[] | undefined) ?? []).map(String)}
        onChange={(next) => onChange(next.length === 0 ? undefined : isNumber ? next.map(Number) : next)}
      />
    );
  }
  if (type === 'object' && schema.properties) {
    return (
      <Fieldset legend={labelOf(name)}>
        <SchemaFields
          schema={schema as ObjectSchema}
          value={(value as Value | undefined) ?? {}}
          onChange={(next) => onChange(Object.keys(next).length === 0 ? undefined : next)}
          issues={issues}
          path={path}
        />
      </Fieldset>
    );
  }
  return <JsonField {...props} />;
};

const JsonField = ({ name, schema, isRequired, value, onChange, issues, path }: SchemaFieldProps) => {
  const set = (text: string) => {
    if (text.trim() === '') return onChange(undefined);
    try {
      onChange(JSON.parse(text));
    } catch {
      // Half typed; the field itself says so when it is left.
    }
  };
  return (
    <JsonInput
      label={labelOf(name)}
      description={schema.description}
      required={isRequired}
      {...(issues[path] !== undefined && { error: issues[path] })}
      defaultValue={value === undefined ? '' : JSON.stringify(value, null, 2)}
      onChange={set}
      validationError="This is no JSON yet"
      formatOnBlur
      autosize
      minRows={3}
    />
  );
};
