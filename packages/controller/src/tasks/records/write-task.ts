import type { TaskDraft, Threshold } from '@rushhour/contract';
import { conflict, type Issue, invalid, orNotFound } from '../../errors.ts';
import type { Change } from '../../store/engine/change.ts';
import { setLinks } from '../../store/engine/links.ts';
import type { Secrets } from '../../store/engine/secrets.ts';
import { projects } from '../../store/system/projects.ts';
import { sealConfiguration } from '../../store/tasks/configuration-secrets.ts';
import { type StoredTask, taskNameOf, tasks } from '../../store/tasks/tasks.ts';
import { definitionIssues } from '../check/check-definition.ts';
import { referenceIssues } from '../check/reference-rules.ts';
import { linksOf, storedConfiguration, storedDumps, storedPlane } from './stored-task.ts';

/** A stored definition with its secrets in clear. */
export type Definition = Pick<StoredTask, 'accessPlane' | 'controlPlane' | 'configuration' | 'dumps'>;

type Given = { [K in keyof Definition]?: TaskDraft[K] | null | undefined };

/** The client's values merged over the stored ones. */
export const definitionOf = (given: Given, before?: Definition): Definition => {
  const { accessPlane = before?.accessPlane, controlPlane = before?.controlPlane } = given;
  const { configuration = before?.configuration, dumps = before?.dumps } = given;
  return {
    accessPlane: storedPlane(accessPlane ?? []),
    controlPlane: storedPlane(controlPlane ?? []),
    configuration: storedConfiguration(configuration ?? []),
    dumps: storedDumps(dumps),
  };
};

/** A task needs an existing project that is not archived. */
export const assertProject = async (tx: Change, projectID: number | null | undefined) => {
  if (projectID === null || projectID === undefined) return;
  const project = await orNotFound(projects.find(tx, projectID), 'project', projectID);
  if (project.archivedAt !== null) {
    throw conflict('PROJECT_ARCHIVED', `project "${project.name}" is archived`, { id: projectID });
  }
};

export const linkTask = (tx: Change, task: Definition & { id: number; comment: string }) =>
  setLinks(tx, { kind: 'task', id: task.id, name: taskNameOf(task) }, linksOf(task));

/** Only a definition without issues is stored. */
export const assertValidTask = async (
  tx: Change,
  definition: Definition,
  found: readonly Issue[] = definitionIssues(definition),
) => {
  const issues = [...found, ...(await referenceIssues(tx, definition))];
  if (issues.length > 0) throw invalid(issues);
};

/** The columns of a definition: secrets are sealed for the task they belong to. */
export const sealedDefinition = (id: number, definition: Definition, secrets: Secrets) => ({
  ...definition,
  ...sealConfiguration(definition.configuration, secrets, { table: 'tasks', id }),
});

export interface NewTask extends TaskDraft {
  readonly thresholds?: Threshold[];
}

/** Stores a valid task. */
export const insertTask = async (
  tx: Change,
  secrets: Secrets,
  task: Definition & Pick<StoredTask, 'comment' | 'projectID' | 'thresholds' | 'device'>,
): Promise<number> => {
  const empty = { configuration: [], configurationSecrets: {}, status: 0, error: '', scheduleEnabled: false };
  const id = await tasks.insert(tx, { ...task, ...empty });
  const { configuration, configurationSecrets } = sealedDefinition(id, task, secrets);
  await tasks.update(tx, id, { configuration, configurationSecrets });
  await linkTask(tx, { ...task, id });
  return id;
};

/** Validates and stores a draft; every new task passes here. 400 lists every problem, 404 and 409 concern its project. */
export const createTask = async (tx: Change, secrets: Secrets, draft: NewTask): Promise<number> => {
  const { comment = '', projectID = null, thresholds = [], device = null } = draft;
  const definition = definitionOf(draft);
  await assertValidTask(tx, definition);
  await assertProject(tx, projectID);
  return insertTask(tx, secrets, { ...definition, comment, projectID, thresholds, device });
};
