import { JsonInput } from '@mantine/core';
import { text } from '../../lib/text.ts';
import { type FieldProps, frameOf } from './field.ts';

/** What has no control of its own is written as JSON. */
export const JsonField = (props: FieldProps) => {
  const set = (typed: string) => {
    if (typed.trim() === '') return props.onChange(undefined);
    try {
      props.onChange(JSON.parse(typed));
    } catch {
      // Half typed; the field itself says so when it is left.
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
