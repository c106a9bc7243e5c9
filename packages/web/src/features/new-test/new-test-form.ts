import type { Device, TaskTemplate, TemplateParameter } from '@rushhour/contract';
import { text } from '../../lib/text.ts';

export interface Agent {
  readonly id: number;
  readonly name: string;
}

export type ParameterValue = number | string | boolean;

/** What is tested. */
export interface TestSubject {
  /** That of the template while it is empty. */
  readonly name: string;
  readonly projectID: number | undefined;
  readonly device: Device | null;
}

export const noSubject: TestSubject = { name: '', projectID: undefined, device: null };

/** The input of the page; an emptied field has no value. */
export interface NewTestForm extends TestSubject {
  readonly agentMap: Readonly<Record<string, number>>;
  readonly values: Readonly<Record<string, ParameterValue>>;
}

export const formOf = (
  template: TaskTemplate,
  agents: readonly Agent[],
  subject: TestSubject = noSubject,
): NewTestForm => ({
  ...subject,
  agentMap: suggestedAgents(template, agents),
  values: defaultsOf(template),
});

/** The form with a record as the value of the first parameter that takes one. */
export const withRecord = (
  form: NewTestForm,
  { parameters }: TaskTemplate,
  record: number | undefined,
): NewTestForm => {
  const parameter = parameters.find(({ reference }) => reference !== undefined);
  if (parameter === undefined || record === undefined) return form;
  return { ...form, values: { ...form.values, [parameter.name]: record } };
};

const defaultsOf = ({ parameters }: TaskTemplate) =>
  Object.fromEntries(parameters.flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value]])));

/** An agent for each slot: one with the role in its name first, and different agents as long as there are enough. */
const suggestedAgents = ({ slots }: TaskTemplate, agents: readonly Agent[]) => {
  const free = [...agents];
  return Object.fromEntries(
    slots.flatMap(({ name, role }) => {
      const index = free.findIndex((agent) => agent.name.includes(role));
      const [agent] = free.splice(Math.max(0, index), 1);
      const suggested = agent ?? agents.at(-1);
      return suggested === undefined ? [] : [[name, suggested.id]];
    }),
  );
};

/** What is wrong with a value; undefined when it can be sent. */
export const problemOf = (
  { type, min, max }: TemplateParameter,
  value: ParameterValue | undefined,
): string | undefined => {
  const { newTest: words } = text;
  if (value === undefined || value === '') return words.required;
  if (type === 'string' || type === 'boolean') return undefined;
  const number = Number(value);
  if (type === 'integer' && !Number.isInteger(number)) return words.whole;
  if ((min !== undefined && number < min) || (max !== undefined && number > max)) return words.between(min, max);
  return undefined;
};

/** Templates by the question they answer; the tag names the question. */
export const questions = ['performance', 'scale', 'security', 'resilience', 'access'] as const;
export type Question = (typeof questions)[number] | 'other';

export const questionOf = ({ tags }: Pick<TaskTemplate, 'tags'>): Question =>
  questions.find((question) => tags.split(',').includes(question)) ?? 'other';
