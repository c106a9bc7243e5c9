import { readFileSync } from 'node:fs';
import type { Threshold } from '@rushhour/contract';
import { parse } from 'yaml';
import { UsageError } from '../exit-codes.ts';
import { parseThreshold } from '../run/parse-threshold.ts';

/** A task in a file: a definition, or a template with what fills it. */
export interface TaskFile {
  readonly path: string;
  readonly comment: string;
  readonly project?: string;
  readonly template?: string;
  readonly agents: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
  /** Members of the task itself, with names of records. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly thresholds?: readonly Threshold[];
}

const definitionMembers = ['configuration', 'accessPlane', 'controlPlane', 'dumps'];
const members = ['comment', 'project', 'template', 'agents', 'parameters', 'thresholds', ...definitionMembers];

const readText = (path: string) => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path}: ${(error as Error).message}`);
  }
};

const parseText = (path: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = parse(readText(path));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path}: ${(error as Error).message.split('\n')[0]}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`${path} holds no task`);
  return value as Record<string, unknown>;
};

const problemsOf = (task: Record<string, unknown>): string[] => {
  const unknown = Object.keys(task).filter((name) => !members.includes(name));
  const isTemplate = task['template'] !== undefined;
  const own = definitionMembers.filter((name) => task[name] !== undefined);
  return [
    ...unknown.map((name) => `${name}: is not known; a task file has ${members.join(', ')}`),
    ...(typeof task['comment'] === 'string' && task['comment'] !== ''
      ? []
      : ['comment: is needed, it identifies the task']),
    ...(isTemplate && own.length > 0 ? [`${own.join(', ')}: not together with template`] : []),
    ...(isTemplate || own.length > 0 ? [] : ['configuration or template: one of them is needed']),
    ...(task['thresholds'] === undefined || Array.isArray(task['thresholds']) ? [] : ['thresholds: must be a list']),
  ];
};

/** Reads a task from YAML or JSON. Throws with every problem of its outer form; the controller checks the rest. */
export const readTaskFile = (path: string): TaskFile => {
  const task = parseText(path);
  const problems = problemsOf(task);
  if (problems.length > 0) throw new UsageError(problems.map((problem) => `${path}: ${problem}`).join('\n'));
  const { comment, project, template, agents = {}, parameters = {}, thresholds } = task;
  const definition = definitionMembers.filter((name) => task[name] !== undefined).map((name) => [name, task[name]]);
  return {
    path,
    comment: comment as string,
    ...(project !== undefined && project !== null && { project: String(project) }),
    ...(template !== undefined && { template: String(template) }),
    agents: Object.fromEntries(Object.entries(agents as object).map(([slot, agent]) => [slot, String(agent)])),
    parameters: parameters as TaskFile['parameters'],
    definition: Object.fromEntries(definition),
    ...(thresholds !== undefined && {
      thresholds: (thresholds as (string | Threshold)[]).map((one) =>
        typeof one === 'string' ? parseThreshold(one) : one,
      ),
    }),
  };
};
