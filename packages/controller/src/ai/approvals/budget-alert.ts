import type { Bus } from '../../bus/local.ts';
import type { AiKeyFacts } from '../../caller.ts';
import { usageOfKey } from '../../store/ai/ai-keys.ts';
import type { Store } from '../../store/store.ts';
import { notify } from '../../store/system/notifications.ts';

const share = 0.8;

/** Notifies the owner of a key once a day when most of a budget is spent. */
export const createBudgetAlert = (store: Store, bus: Bus) => {
  let alerted = new Set<string>();
  let today = '';
  return async ({ id, name, owner, limits }: AiKeyFacts) => {
    const day = new Date().toISOString().slice(0, 10);
    if (day !== today) alerted = new Set();
    today = day;
    const { starts, agentSeconds, generatedBytes } = await usageOfKey(store.read, id);
    const budgets = [
      { what: 'starts', used: starts, limit: limits.startsPerDay },
      { what: 'agent-seconds', used: agentSeconds, limit: limits.agentSecondsPerDay },
      { what: 'bytes', used: generatedBytes, limit: limits.bytesPerDay },
    ];
    for (const { what, used, limit } of budgets) {
      if (limit === null || used < share * limit || alerted.has(`${id} ${what}`)) continue;
      alerted.add(`${id} ${what}`);
      const origin = { userId: null, address: '', requestId: '', operation: 'ai.budgetAlert' };
      await store.change(origin, (tx) =>
        notify(tx, bus, {
          severity: 'warning',
          kind: 'ai.budget',
          message: `The AI key ${name} has used ${used} of its ${limit} ${what} of 24 hours.`,
          entity: { type: 'aiKey', id },
          audience: { userID: owner.id },
        }),
      );
    }
  };
};
