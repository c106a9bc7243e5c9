import type { Logger } from 'pino';
import type { Bus } from '../../bus/local.ts';
import type { Store } from '../../store/store.ts';
import { notify } from '../../store/system/notifications.ts';

const quietMs = 600_000;

/** Tells people that an identity was copied; once in a while and not at every attempt. */
export const createCloneAlarm = ({ store, bus, log }: { store: Store; bus: Bus; log: Logger }) => {
  const raisedAt = new Map<number, number>();
  return async (agent: { id: number; name: string }, addresses: { first: string; second: string }) => {
    log.warn({ agentId: agent.id, ...addresses }, 'two agents show the same identity');
    if (performance.now() - (raisedAt.get(agent.id) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
    raisedAt.set(agent.id, performance.now());
    const origin = { userId: null, address: addresses.second, requestId: 'agent channel', operation: 'agents.clone' };
    await store.change(origin, async (tx) => {
      tx.touch('agents', agent.id);
      tx.deny(addresses);
      await notify(tx, bus, {
        severity: 'warning',
        kind: 'agent.clone',
        message: `A second agent at ${addresses.second} shows the identity of agent "${agent.name}" at ${addresses.first} and was refused. Enrol it anew if it is a copy of that machine.`,
        entity: { type: 'agent', id: agent.id },
        audience: { permission: 'agents.read' },
      });
    });
  };
};
