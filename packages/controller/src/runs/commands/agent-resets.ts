import type { Logger } from 'pino';
import type { AgentGateway } from '../../agents/gateway/gateway.ts';
import { clockNow } from '../../clock.ts';
import { agentsToReset, keepNeedsReset } from '../../store/runs/run-queue.ts';
import type { Store } from '../../store/store.ts';

interface Deps {
  store: Store;
  gateway: AgentGateway;
  /** A reset has to wait. */
  isAwaitedFrom(agentId: number): boolean;
  onReset(): void;
  resetMs: number;
  log: Logger;
}

const answerMs = 15_000;

/** Agents that lost a run get new work only after they confirm a reset. */
export const createAgentResets = ({ store, gateway, isAwaitedFrom, onReset, resetMs, log }: Deps) => {
  const resetting = new Map<number, Promise<void>>();
  const notBefore = new Map<number, number>();

  const reset = async (agentId: number) => {
    try {
      await gateway.ask(agentId, { kind: 'reset' }, answerMs);
      await store.database.transaction((tx) => keepNeedsReset(tx, agentId, false));
      notBefore.delete(agentId);
      onReset();
    } catch (error) {
      log.warn({ err: error, agentID: agentId }, 'could not reset an agent');
      notBefore.set(agentId, clockNow() + resetMs);
    }
    resetting.delete(agentId);
  };

  return {
    look: async () => {
      for (const agentId of await agentsToReset(store.read)) {
        if (!gateway.isHere(agentId) || resetting.has(agentId) || isAwaitedFrom(agentId)) continue;
        if ((notBefore.get(agentId) ?? 0) <= clockNow()) resetting.set(agentId, reset(agentId));
      }
    },
    idle: () => Promise.all(resetting.values()),
  };
};
