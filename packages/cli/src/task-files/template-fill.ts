import type { Client } from '@rushhour/client/routes';
import type { TaskTemplate, TemplateParameter, Threshold } from '@rushhour/contract';
import { UsageError } from '../exit-codes.ts';
import { type NamedKind, namedKinds, type RecordNames } from './record-names.ts';

/** The template with this name, or the only one whose name contains it. */
export const findTemplate = async (client: Client, name: string): Promise<TaskTemplate> => {
  const { data: templates } = await client.taskTemplates.all();
  const wanted = name.toLowerCase();
  const exact = templates.filter((template) => template.name.toLowerCase() === wanted);
  const near = exact.length > 0 ? exact : templates.filter((template) => template.name.toLowerCase().includes(wanted));
  const [first] = near;
  // The list has no definitions.
  if (first !== undefined && near.length === 1)
    return (await client.taskTemplates.get({ params: { id: first.id } })).data;
  const names = (near.length > 0 ? near : templates).map((template) => `\n  ${template.name}`).join('');
  throw new UsageError(
    near.length > 0
      ? `"${name}" may mean several templates:${names}`
      : `there is no template "${name}"; there are:${names}`,
  );
};

type Value = string | number | boolean;

const typed = (type: string, text: Value): Value => {
  if (typeof text !== 'string') return text;
  if (type === 'boolean') return { true: true, false: false }[text] ?? text;
  if (type !== 'integer' && type !== 'number') return text;
  return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
};

/** The value of a parameter; the id of the record where the parameter asks for one and its name is given. */
const parameterValue = async (parameter: TemplateParameter | undefined, value: Value, names: RecordNames) => {
  const kind = parameter?.reference;
  const isNamed = namedKinds.some((known) => known === kind) && typeof value === 'string' && !/^\d+$/.test(value);
  return isNamed ? names.idOf(kind as NamedKind, value) : typed(parameter?.type ?? 'string', value);
};

export interface Filling {
  readonly agents: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, Value>>;
}

export interface FilledTemplate {
  readonly templateID: number;
  readonly agentMap: Record<string, number>;
  readonly parameters: Record<string, Value>;
  /** The task it makes, if everything it needs is given; the controller says what is not. */
  readonly task: Record<string, unknown>;
}

/** A template with agents by name and parameters in their types. */
export const fillTemplate = async (
  template: TaskTemplate,
  { agents, parameters }: Filling,
  names: RecordNames,
): Promise<FilledTemplate> => {
  const slots = Object.entries(agents).map(async ([slot, agent]) => [slot, await names.idOf('agent', agent)] as const);
  const agentMap: Record<string, number> = Object.fromEntries(await Promise.all(slots));
  const known = new Map(template.parameters.map((parameter) => [parameter.name, parameter]));
  const values = Object.entries(parameters).map(
    async ([name, value]) => [name, await parameterValue(known.get(name), value, names)] as const,
  );
  const given: Record<string, Value> = Object.fromEntries(await Promise.all(values));
  const defaults = Object.fromEntries(template.parameters.map(({ name, default: value }) => [name, value]));
  const task = filled(template.task, { slots: agentMap, params: { ...defaults, ...given } }) as FilledTemplate['task'];
  return { templateID: template.id, agentMap, parameters: given, task };
};

/** The thresholds that a template gives its tasks. */
export const thresholdsOf = ({ thresholds = [] }: { thresholds?: unknown }): readonly Threshold[] =>
  thresholds as Threshold[];

interface Values {
  readonly slots: Readonly<Record<string, unknown>>;
  readonly params: Readonly<Record<string, unknown>>;
}

const filled = (value: unknown, values: Values): unknown => {
  if (Array.isArray(value)) return value.map((item) => filled(item, values));
  if (typeof value !== 'object' || value === null) return value;
  const { $slot, $param } = value as { $slot?: string; $param?: string };
  if ($slot !== undefined) return values.slots[$slot];
  if ($param !== undefined) return values.params[$param];
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, filled(part, values)]));
};
