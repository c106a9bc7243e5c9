import type { api } from '@rushhour/contract';
import { agentStatus } from '@rushhour/contract';
import type { Bus } from '../bus/local.ts';
import type { Caller } from '../caller.ts';
import type { Handlers } from '../handler.ts';
import { type AgentRow, agents as table } from '../store/agents/agents.ts';
import type { Change } from '../store/engine/change.ts';
import type { Store } from '../store/store.ts';

type BlockingHandlers = Pick<Handlers<typeof api.agents>, 'block' | 'unblock'>;

export const blockingHandlers = ({ store, bus }: { store: Store; bus: Bus }): BlockingHandlers => {
  const forEach = (ids: readonly number[], caller: Caller, work: (tx: Change, agent: AgentRow) => Promise<void>) =>
    store.change(caller, async (tx) => {
      const found = new Map((await table.findMany(tx, ids)).map((agent) => [agent.id, agent]));
      const data = [];
      for (const id of ids) {
        const agent = found.get(id);
        if (agent) await work(tx, agent);
        data.push(agent ? { id, ok: true } : { id, ok: false, code: 'NOT_FOUND', error: `agent ${id} not found` });
      }
      return { data };
    });

  return {
    block: ({ body: { array } }, caller) =>
      forEach(array, caller, async (tx, { id }) => {
        await table.update(tx, id, { isBlocked: true, status: agentStatus.blocked });
        tx.afterCommit(() => bus.publish('agent.access', { id, access: 'blocked', status: agentStatus.blocked }));
      }),
    unblock: ({ body: { array } }, caller) =>
      forEach(array, caller, async (tx, { id, isBlocked, lastSeenAt }) => {
        if (!isBlocked) return;
        const status = lastSeenAt === null ? agentStatus.enrolled : agentStatus.offline;
        await table.update(tx, id, { isBlocked: false, status });
        tx.afterCommit(() => bus.publish('agent.access', { id, access: 'allowed', status }));
      }),
  };
};
