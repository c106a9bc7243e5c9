import type { api } from '@rushhour/contract';
import { invalid, orNotFound } from '../errors.ts';
import type { Handlers } from '../handler.ts';
import type { Store } from '../store/store.ts';
import { findTask, tasks } from '../store/tasks/tasks.ts';
import { thresholdIssues } from './check/threshold-rules.ts';

export const thresholdHandlers = ({
  store,
}: {
  store: Store;
}): Pick<Handlers<typeof api.tasks>, 'thresholds' | 'setThresholds'> => ({
  thresholds: async ({ params: { id } }) => ({
    data: (await orNotFound(findTask(store.read, id), 'task', id)).thresholds,
  }),
  setThresholds: ({ body: { id, thresholds } }, caller) =>
    store.change(caller, async (tx) => {
      const task = await orNotFound(findTask(tx, id), 'task', id);
      const issues = thresholdIssues(task, thresholds);
      if (issues.length > 0) throw invalid(issues);
      await tasks.update(tx, id, { thresholds });
      return { data: thresholds };
    }),
});
