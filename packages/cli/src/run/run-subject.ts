import { existsSync } from 'node:fs';
import type { Client } from '@rushhour/client/routes';
import type { Threshold } from '@rushhour/contract';
import { UsageError } from '../exit-codes.ts';
import { recordNames } from '../task-files/record-names.ts';
import { withIds } from '../task-files/references.ts';
import { findEqualTask, type WantedTask } from '../task-files/store-task.ts';
import { readTaskFile } from '../task-files/task-file.ts';
import { fillTemplate, findTemplate, thresholdsOf } from '../task-files/template-fill.ts';
import { type Stage, staged } from './stages.ts';

/** What is to be run, as the command line names it. */
export interface RunRequest {
  /** The id of a task, a file or a template. */
  readonly subject: string;
  readonly agents: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, string>>;
  readonly stages: readonly Stage[];
  readonly comment?: string;
  readonly project?: string;
}

/** A stored task and the thresholds of its file. */
export interface RunSubject {
  readonly taskId: number;
  readonly thresholds?: readonly Threshold[];
}

const isFile = (subject: string) => /\.(ya?ml|json)$/.test(subject) || existsSync(subject);

const withStages = (definition: WantedTask['definition'], stages: readonly Stage[]) =>
  stages.length === 0
    ? definition
    : { ...definition, configuration: staged((definition['configuration'] ?? []) as never[], stages) };

/** The same definition runs as the same task, so that its runs can be compared; another becomes a task of its own. */
const storedAs = async (client: Client, wanted: WantedTask, create: () => Promise<{ data: number }>): Promise<number> =>
  (await findEqualTask(client, wanted))?.id ?? (await create()).data;

const create = (client: Client, { comment, projectID, definition }: WantedTask) =>
  client.tasks.create({
    body: { configuration: [], ...definition, comment, ...(projectID && { projectID }) } as never,
  });

const createJudged = async (client: Client, wanted: WantedTask, thresholds: readonly Threshold[]) => {
  const made = await create(client, wanted);
  await client.tasks.setThresholds({ body: { id: made.data, thresholds: [...thresholds] } });
  return made;
};

const fromTemplate = async (client: Client, request: RunRequest, name: string): Promise<number> => {
  const names = recordNames(client);
  const template = await findTemplate(client, name);
  const { task, ...filling } = await fillTemplate(template, request, names);
  const comment = request.comment ?? template.name;
  const projectID = request.project === undefined ? undefined : await names.idOf('project', request.project);
  const { comment: _, thresholds: __, ...definition } = task;
  const wanted = { comment, ...(projectID && { projectID }), definition: withStages(definition, request.stages) };
  if (request.stages.length > 0)
    return storedAs(client, wanted, () => createJudged(client, wanted, thresholdsOf(task)));
  return storedAs(client, wanted, () =>
    client.tasks.fromTemplate({ body: { ...filling, comment, ...(projectID && { projectID }) } }),
  );
};

const fromFile = async (client: Client, request: RunRequest): Promise<RunSubject> => {
  const file = readTaskFile(request.subject);
  const comment = request.comment ?? file.comment;
  const project = request.project ?? file.project;
  const thresholds = file.thresholds && { thresholds: file.thresholds };
  if (file.template !== undefined) {
    const agents = { ...file.agents, ...request.agents };
    const parameters = { ...file.parameters, ...request.parameters } as Record<string, string>;
    const filled = { ...request, comment, agents, parameters, ...(project && { project }) };
    return { taskId: await fromTemplate(client, filled, file.template), ...thresholds };
  }
  assertComplete(request, `the task in ${request.subject}`);
  const names = recordNames(client);
  const projectID = project === undefined ? undefined : await names.idOf('project', project);
  const definition = withStages((await withIds(file.definition, names)) as WantedTask['definition'], request.stages);
  const wanted = { comment, ...(projectID && { projectID }), definition };
  return { taskId: await storedAs(client, wanted, () => create(client, wanted)), ...thresholds };
};

const assertComplete = ({ agents, parameters }: RunRequest, what: string) => {
  if (Object.keys(agents).length + Object.keys(parameters).length === 0) return;
  throw new UsageError(`--agents and --param fill templates; ${what} is complete`);
};

/** The task to run: a stored one, or one made from a file or a template. */
export const resolveSubject = async (client: Client, request: RunRequest): Promise<RunSubject> => {
  if (/^\d+$/.test(request.subject)) {
    assertComplete(request, `task ${request.subject}`);
    return { taskId: Number(request.subject) };
  }
  if (isFile(request.subject)) return fromFile(client, request);
  return { taskId: await fromTemplate(client, request, request.subject) };
};
