import type { api } from '@rushhour/contract';
import { ApiError, type Issue, invalid, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import type { Store } from '../../store/store.ts';
import { type StoredTemplate, taskTemplates } from '../../store/tasks/tasks.ts';
import { issuesWithThresholds } from '../check/task-with-thresholds.ts';
import { fillTemplate, requestIssues } from '../templates/fill.ts';
import { createTask, type NewTask } from './write-task.ts';

export const fromTemplateHandlers = ({
  store,
}: {
  store: Store;
}): Pick<Handlers<typeof api.tasks>, 'fromTemplate'> => ({
  fromTemplate: async ({ body }, caller) => {
    const { templateID, comment, projectID = null, device, agentMap = {}, parameters = {} } = body;
    const template = await orNotFound(taskTemplates.find(store.read, templateID), 'task template', templateID);
    const { task, issues } = fillTemplate(template, { agentMap, parameters });
    if (issues.length > 0) throw invalid(issues);
    const wrong = issuesWithThresholds(task);
    if (wrong.length > 0) throw invalid(requestIssues(template, wrong));
    const draft = {
      ...task,
      ...(comment !== undefined && { comment }),
      ...(device && { device }),
      projectID,
    } as NewTask;
    return store.change(caller, (tx) =>
      inRequest(template, async () => ({ data: await createTask(tx, store.secrets, draft) })),
    );
  },
});

/** Issues of the task are reported at the filled-in values. */
const inRequest = async <T>(template: StoredTemplate, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'invalid') throw error;
    throw invalid(requestIssues(template, error.data['issues'] as Issue[]), error.code);
  }
};
