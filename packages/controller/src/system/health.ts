import { access, constants, statfs } from 'node:fs/promises';
import { statement } from '../store/engine/statement.ts';
import type { Store } from '../store/store.ts';

const ping = statement((db, _: object) => db.selectFrom('auditHead').select('entries').where('id', '=', 1));

type Result = 'ok' | 'failed';

/** The health of the controller. */
export interface Health {
  readonly startedAt: number;
  isReady(): boolean;
  setReady(isReady: boolean): void;
  checks(): Promise<{ db: Result; storage: Result; agentChannel: Result; scheduler: Result }>;
  diskFreeBytes(): Promise<number>;
  /** Of the disk with the data, 0 to 100. */
  diskUsedPct(): Promise<number>;
  agentsOnline(): number;
}

interface Parts {
  store: Store;
  dataDir: string;
  /** True while periodic work runs on time. */
  isSchedulerAlive(): boolean;
  agentsOnline(): number;
}

export const createHealth = ({ store, dataDir, isSchedulerAlive, agentsOnline }: Parts): Health => {
  let isReady = false;
  const passes = (work: Promise<unknown>): Promise<Result> =>
    work.then(
      () => 'ok' as const,
      () => 'failed' as const,
    );
  return {
    startedAt: Date.now(),
    isReady: () => isReady,
    setReady: (value) => {
      isReady = value;
    },
    checks: async () => ({
      db: await passes(ping.first(store.read, {})),
      storage: await passes(access(dataDir, constants.R_OK | constants.W_OK)),
      agentChannel: isReady ? 'ok' : 'failed',
      scheduler: isSchedulerAlive() ? 'ok' : 'failed',
    }),
    diskFreeBytes: async () => {
      const { bavail, bsize } = await statfs(dataDir);
      return bavail * bsize;
    },
    diskUsedPct: async () => {
      const { bavail, blocks } = await statfs(dataDir);
      return blocks === 0 ? 0 : 100 * (1 - bavail / blocks);
    },
    agentsOnline,
  };
};
