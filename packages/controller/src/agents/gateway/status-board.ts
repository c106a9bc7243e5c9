import { permissions } from '@rushhour/contract';
import type { Logger } from 'pino';
import type { Bus } from '../../bus/local.ts';
import { keepStatus } from '../../store/agents/agents.ts';
import type { WriteBatch } from './write-batch.ts';

/** What each agent was last said to be; written and published only when it is something else. */
export const createStatusBoard = ({ bus, batch, log }: { bus: Bus; batch: WriteBatch; log: Logger }) => {
  const published = new Map<number, number>();
  const announce = (id: number, status: number) =>
    bus.publish('agent.status', { id, status, permission: permissions['agents.read'] });

  return {
    /** Tells a status that is on disk already. */
    publish: (id: number, status: number) => {
      if (published.get(id) === status) return;
      published.set(id, status);
      announce(id, status);
    },
    /** The next status is published whatever it is. */
    forget: (id: number) => void published.delete(id),
    /** Writes a status and tells it then. */
    put: (id: number, status: number) => {
      if (published.get(id) === status) return;
      published.set(id, status);
      batch
        .write((tx) => keepStatus(tx, id, status))
        .then(() => announce(id, status))
        .catch((error) => log.error({ err: error, agentID: id }, 'the status of an agent was not written'));
    },
  };
};
