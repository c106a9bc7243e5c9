import type { api } from '@rushhour/contract';
import type { Handlers } from '../../handler.ts';
import { actionHandlers } from './operations/actions.ts';
import { agentReadHandlers } from './operations/agents.ts';
import { approvalHandlers } from './operations/approvals.ts';
import { auditHandlers } from './operations/audit.ts';
import { draftHandlers } from './operations/drafts.ts';
import { resourceHandlers } from './operations/resources.ts';
import { resultHandlers } from './operations/results.ts';
import { selfHandlers } from './operations/self.ts';
import { startHandlers } from './operations/start.ts';
import { taskReadHandlers } from './operations/tasks-read.ts';
import { taskWriteHandlers } from './operations/tasks-write.ts';

type Needs<Factory extends (deps: never) => unknown> = Parameters<Factory>[0];

type Deps = Needs<typeof selfHandlers> &
  Needs<typeof agentReadHandlers> &
  Needs<typeof resourceHandlers> &
  Needs<typeof taskReadHandlers> &
  Needs<typeof resultHandlers> &
  Needs<typeof auditHandlers> &
  Needs<typeof draftHandlers> &
  Needs<typeof taskWriteHandlers> &
  Needs<typeof startHandlers> &
  Needs<typeof actionHandlers> &
  Needs<typeof approvalHandlers>;

export const aiGatewayHandlers = (deps: Deps): Handlers<typeof api.aiGateway> => ({
  ...selfHandlers(deps),
  ...agentReadHandlers(deps),
  ...resourceHandlers(deps),
  ...taskReadHandlers(deps),
  ...resultHandlers(deps),
  ...auditHandlers(deps),
  ...draftHandlers(deps),
  ...taskWriteHandlers(deps),
  ...startHandlers(deps),
  ...actionHandlers(deps),
  ...approvalHandlers(deps),
});
