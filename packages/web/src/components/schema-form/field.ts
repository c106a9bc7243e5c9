import { createElement, type ReactNode } from 'react';
import { text } from '../../lib/text.ts';
import { choiceLabelOf } from '../../texts/choices.ts';
import { labelOf } from '../../texts/labels.ts';
import { FieldHelp, FieldLabel } from './field-help.tsx';
import type { Schema } from './schema.ts';

export type Value = Record<string, unknown>;

/** The props of every control of a form. */
export interface FieldProps {
  name: string;
  schema: Schema;
  isRequired: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
  /** Messages by JSON pointer. */
  issues: Readonly<Record<string, string>>;
  path: string;
  /** The whole form, for controls that depend on other members. */
  form: Value;
}

/** Custom controls by member. */
export type Controls = Readonly<Record<string, (props: FieldProps) => ReactNode>>;

/** The description of a member, which names its choices as the field does. */
const describedIn = ({ description, enum: choices = [] }: Schema, name: string): string | undefined =>
  description?.replace(/`([^`]+)`/g, (code, value: string) =>
    choices.includes(value) ? `“${choiceLabelOf(value, name)}”` : code,
  );

/** Label, description and error of a field. */
export const frameOf = ({ name, schema, isRequired, issues, path }: FieldProps) => {
  const label = labelOf(name, path);
  const description = describedIn(schema, name);
  // A description that only repeats the label is left out.
  const isUseful = description !== undefined && description.toLowerCase() !== label.toLowerCase();
  const help = isUseful ? description : undefined;
  return {
    label: createElement(FieldLabel, { label, help }),
    ...(help !== undefined && { description: createElement(FieldHelp, { help }) }),
    required: isRequired,
    ...(issues[path] !== undefined && { error: issues[path] }),
  };
};

/** The default; choices are named as in `member`. */
export const placeholderOf = ({ default: value, enum: choices }: Schema, member = '') =>
  value === undefined || typeof value === 'object'
    ? {}
    : { placeholder: text.form.default(choices ? choiceLabelOf(value, member) : value) };
