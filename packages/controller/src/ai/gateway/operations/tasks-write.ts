import type { api } from '@rushhour/contract';
import { one } from '../../../crud.ts';
import type { Handlers } from '../../../handler.ts';
import { findTask } from '../../../store/tasks/tasks.ts';
import type { Approvals } from '../../approvals/approvals.ts';
import type { Drafts } from '../../drafts/drafts.ts';

interface Deps {
  drafts: Drafts;
  approvals: Pick<Approvals, 'digestOfTask'>;
}

export const taskWriteHandlers = ({
  drafts,
  approvals,
}: Deps): Pick<Handlers<typeof api.aiGateway>, 'validateTask' | 'createTask'> => ({
  validateTask: async ({ body }, caller) => one(await drafts.validate(caller, body)),
  createTask: async ({ body: { idempotencyKey: _, ...request } }, caller) =>
    drafts.createTask(caller, request, async (tx, id) => {
      const task = await findTask(tx, id);
      const digest = await approvals.digestOfTask(tx, id);
      return one({ id, revision: Date.parse(task?.updatedAt ?? ''), digest, status: task?.status ?? 0 });
    }),
});
