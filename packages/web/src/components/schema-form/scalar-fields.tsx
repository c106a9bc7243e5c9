import {
  Autocomplete,
  JsonInput,
  MultiSelect,
  NumberInput,
  PasswordInput,
  Select,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';
import { text } from '../../lib/text.ts';
import { type FieldProps, frameOf, placeholderOf } from './field.ts';
import { choicesOf, typeOf } from './schema.ts';

const multilineLength = 512;
const secrets = new Set(['passphrase', 'password', 'secret', 'psk', 'presharedKey']);
const pem = new Set(['public', 'private']);

export const ChoiceField = (props: FieldProps) => {
  const { schema, value, onChange, isRequired } = props;
  const original = (choice: string | null) => schema.enum?.find((one) => String(one) === choice);
  return (
    <Select
      {...frameOf(props)}
      {...placeholderOf(schema, props.name)}
      data={choicesOf(schema, props.name)}
      value={value === undefined || value === null ? null : String(value)}
      onChange={(next) => onChange(original(next))}
      clearable={!isRequired}
    />
  );
};

/** Several values of an enumeration. */
export const ChoicesField = (props: FieldProps) => {
  const items = props.schema.items ?? {};
  const set = (next: string[]) =>
    props.onChange(next.length === 0 ? undefined : items.enum?.filter((one) => next.includes(String(one))));
  return (
    <MultiSelect
      {...frameOf(props)}
      data={choicesOf(items, props.name)}
      value={((props.value as unknown[] | undefined) ?? []).map(String)}
      onChange={set}
    />
  );
};

export const SwitchField = (props: FieldProps) => {
  const { required: _, ...frame } = frameOf(props);
  return (
    <Switch
      {...frame}
      checked={Boolean(props.value ?? props.schema.default ?? false)}
      onChange={(event) => props.onChange(event.currentTarget.checked)}
    />
  );
};

export const NumberField = (props: FieldProps) => {
  const { schema, value, onChange } = props;
  return (
    <NumberInput
      {...frameOf(props)}
      {...placeholderOf(schema)}
      {...(schema.minimum !== undefined && { min: schema.minimum })}
      allowDecimal={typeOf(schema) === 'number'}
      thousandSeparator=" "
      value={(value as number | undefined) ?? ''}
      onChange={(next) => onChange(next === '' ? undefined : Number(next))}
    />
  );
};

export const TextField = (props: FieldProps) => {
  const { name, schema, value, onChange, isRequired } = props;
  const shared = {
    ...frameOf(props),
    ...placeholderOf(schema),
    value: (value as string | undefined) ?? '',
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange(currentTarget.value === '' && !isRequired ? undefined : currentTarget.value),
  };
  if (secrets.has(name)) return <PasswordInput {...shared} autoComplete="off" />;
  if (pem.has(name)) return <Textarea {...shared} autosize minRows={3} maxRows={10} ff="monospace" />;
  if ((schema.maxLength ?? 0) > multilineLength) return <Textarea {...shared} autosize minRows={1} maxRows={12} />;
  return <TextInput {...shared} {...(schema.format === 'email' && { type: 'email' })} />;
};

/** A list of strings or numbers; Enter adds one. */
export const ListField = (props: FieldProps) => {
  const isNumber = typeOf(props.schema.items ?? {}) !== 'string';
  return (
    <TagsInput
      {...frameOf(props)}
      value={((props.value as unknown[] | undefined) ?? []).map(String)}
      onChange={(next) => props.onChange(next.length === 0 ? undefined : isNumber ? next.map(Number) : next)}
    />
  );
};

/** A text with values to pick from; others may be typed. */
export const SuggestedField = (props: FieldProps) => (
  <Autocomplete
    {...frameOf(props)}
    {...placeholderOf(props.schema)}
    data={(props.schema.examples ?? []).map(String)}
    value={(props.value as string | undefined) ?? ''}
    onChange={(next) => props.onChange(next === '' ? undefined : next)}
  />
);

/** Several values in one text, in order of preference; others may be typed. */
export const AlternativesField = (props: FieldProps) => {
  const separator = props.schema['x-separator'] ?? ',';
  const given = String(props.value ?? '').split(separator);
  return (
    <TagsInput
      {...frameOf(props)}
      data={(props.schema.examples ?? []).map(String)}
      splitChars={[separator]}
      value={given.map((one) => one.trim()).filter((one) => one !== '')}
      onChange={(next) => props.onChange(next.length === 0 ? undefined : next.join(separator))}
    />
  );
};

/** Tags are one string in the API, joined by commas. */
export const TagsField = (props: FieldProps) => (
  <TagsInput
    {...frameOf(props)}
    splitChars={[',', ' ']}
    value={String(props.value ?? '')
      .split(',')
      .filter((tag) => tag !== '')}
    onChange={(next) => props.onChange(next.length === 0 ? undefined : next.map((tag) => tag.toLowerCase()).join(','))}
  />
);

/** Any other value, edited as JSON. */
export const JsonField = (props: FieldProps) => {
  const set = (typed: string) => {
    if (typed.trim() === '') return props.onChange(undefined);
    try {
      props.onChange(JSON.parse(typed));
    } catch {
      // Incomplete while typing; the field reports it on blur.
    }
  };
  return (
    <JsonInput
      {...frameOf(props)}
      defaultValue={props.value === undefined ? '' : JSON.stringify(props.value, null, 2)}
      onChange={set}
      validationError={text.form.invalidJson}
      formatOnBlur
      autosize
      minRows={3}
      maxRows={20}
    />
  );
};
