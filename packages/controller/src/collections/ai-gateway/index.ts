import type { api } from '@rushhour/contract';
import type { Handlers } from '../../handlers.ts';
import { actionHandlers } from './actions.ts';
import { agentReadHandlers } from './agents.ts';
import { approvalHandlers } from './approvals.ts';
import { auditHandlers } from './audit.ts';
import { draftHandlers } from './drafts.ts';
import { resourceHandlers } from './resources.ts';
import { resultHandlers } from './results.ts';
import { selfHandlers } from './self.ts';
import { startHandlers } from './start.ts';
import { taskReadHandlers } from './tasks-read.ts';
import { taskWriteHandlers } from './tasks-write.ts';

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
