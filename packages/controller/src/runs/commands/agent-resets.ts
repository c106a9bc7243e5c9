import type { Logger } from 'pino';
import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import { agentsToReset, keepNeedsReset } from '../../store/runs/run-queue.ts';
import type { Store } from '../../store/store.ts';

interface Deps {
  store: Store;
  gateway: AgentGateway;
  /** A reset must wait for it. */
  isAwaitedFrom(agentId: number): boolean;
  onReset(): void;
  resetMs: number;
  log: Logger;
}

const answerMs = 15_000;

/** Agents that a run was lost on get new work only once they have said that nothing is left of the old. */
export const createAgentResets = ({ store, gateway, isAwaitedFrom, onReset, resetMs, log }: Deps) => {
  const underWay = new Map<number, Promise<void>>();
  const notBefore = new Map<number, number>();

  const reset = async (agentId: number) => {
    try {
      await gateway.ask(agentId, { kind: 'reset' }, answerMs);
      await store.database.transaction((tx) => keepNeedsReset(tx, agentId, false));
      notBefore.delete(agentId);
      onReset();
    } catch (error) {
      log.warn({ err: error, agentId }, 'an agent could not be reset');
      notBefore.set(agentId, Date.now() + resetMs);
    }
    underWay.delete(agentId);
  };

  return {
    look: async () => {
      for (const agentId of await agentsToReset(store.read)) {
        if (!gateway.isOnline(agentId) || underWay.has(agentId) || isAwaitedFrom(agentId)) continue;
        if ((notBefore.get(agentId) ?? 0) <= Date.now()) underWay.set(agentId, reset(agentId));
      }
    },
    idle: () => Promise.all(underWay.values()),
  };
};
