import type { api } from '@rushhour/contract';
import type { Handlers } from '../../../handler.ts';
import type { Approvals } from '../../approvals/approvals.ts';

interface Deps {
  approvals: Approvals;
}

export const startHandlers = ({ approvals }: Deps): Pick<Handlers<typeof api.aiGateway>, 'start' | 'confirmStart'> => ({
  start: ({ body: { taskId, expectedRevision, reason, durationSec, thresholds } }, caller) =>
    approvals.request(caller, {
      action: 'start',
      taskIds: [taskId],
      params: { ...(durationSec !== undefined && { durationSec }), ...(thresholds !== undefined && { thresholds }) },
      ...{ reason, expectedRevision, idempotencyKey: caller.idempotencyKey },
    }),
  confirmStart: async ({ body: { approvalToken } }, caller) => {
    const { idempotencyKey } = caller;
    const { cursor, data } = await approvals.confirm(caller, { family: 'start', approvalToken, idempotencyKey });
    return { cursor, data: data as typeof data & { task: Record<string, unknown> } };
  },
});
