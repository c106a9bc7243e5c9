import type { TaskDraft } from '@rushhour/contract';
import { type Issue, invalid, notFound } from '../../errors.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Secrets } from '../../store/engine/secrets.ts';
import { findTask } from '../../store/tasks/tasks.ts';
import { definitionIssues } from '../check/check-definition.ts';
import { referenceIssues } from '../check/reference-rules.ts';
import { patchedDefinition } from './update-task.ts';
import { assertProject, insertTask } from './write-task.ts';

export interface CloneWish {
  readonly comment?: string;
  readonly projectID?: number | null;
  readonly overrides?: Partial<Omit<TaskDraft, 'projectID'>>;
}

/** Problems of what was given point into the request; those of what was copied say whose they are. */
const requestIssue =
  (id: number, overrides: object) =>
  (issue: Issue): Issue => {
    const member = issue.path.split('/')[1] ?? '';
    if (Object.hasOwn(overrides, member)) return { ...issue, path: `/overrides${issue.path}` };
    return { ...issue, message: `${issue.message} (of task ${id})` };
  };

/** Copies what a task does and must hold, not what became of it. */
export const cloneTask = async (tx: Change, secrets: Secrets, id: number, wish: CloneWish): Promise<number> => {
  const task = await findTask(tx, id);
  if (task === undefined) throw notFound('task', id);
  const { overrides = {}, projectID = task.projectID } = wish;
  const { after } = patchedDefinition(task, overrides, secrets);
  const issues = [...definitionIssues(after), ...(await referenceIssues(tx, after))];
  if (issues.length > 0) throw invalid(issues.map(requestIssue(id, overrides)));
  await assertProject(tx, projectID);
  const comment = wish.comment ?? overrides.comment ?? task.comment;
  return insertTask(tx, secrets, { ...after, comment, projectID, thresholds: task.thresholds });
};
