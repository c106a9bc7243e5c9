import type { api } from '@rushhour/contract';
import type { Handlers } from '../../../handler.ts';
import type { Approvals } from '../../approvals/approvals.ts';

interface Deps {
  approvals: Approvals;
}

export const approvalHandlers = ({
  approvals,
}: Deps): Pick<Handlers<typeof api.aiGateway>, 'approvals' | 'approval' | 'cancelApproval'> => ({
  approvals: ({ query }, caller) => approvals.list(caller, query),
  approval: ({ params, query }, caller) => approvals.get(caller, params.id, (query.wait ?? 0) * 1000),
  cancelApproval: ({ params, body }, caller) => approvals.cancel(caller, params.id, body?.reason),
});
