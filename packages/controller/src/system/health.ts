import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { statement } from '../store/engine/statement.ts';
import type { Store } from '../store/store.ts';

/** A write, because a database that can only be read is of no use. */
const ping = statement((db, p: { now: string }) =>
  db
    .insertInto('installation')
    .values({ name: 'writeCheck', value: p.now })
    .onConflict((c) => c.column('name').doUpdateSet({ value: p.now })),
);

const checkedMs = 2000;
const timeoutMs = 5000;

const passes = (work: Promise<unknown>): Promise<Result> =>
  Promise.race([
    work.then(
      () => 'ok' as const,
      () => 'failed' as const,
    ),
    sleep(timeoutMs, 'failed' as const, { ref: false }),
  ]);

/** Anyone may ask for the health, so the disk is asked at most once in `checkedMs`. */
const cached = (check: () => Promise<unknown>) => {
  let result: Promise<Result> | undefined;
  return () => {
    if (result === undefined) {
      result = passes(check());
      setTimeout(() => {
        result = undefined;
      }, checkedMs).unref();
    }
    return result;
  };
};

const writeFileIn = async (folder: string) => {
  const file = join(folder, `.write-check-${process.pid}`);
  await writeFile(file, 'rushhour', { mode: 0o600, flush: true });
  await rm(file);
};

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
  const database = cached(() => store.database.transaction((tx) => ping.all(tx, { now: new Date().toISOString() })));
  const storage = cached(() => writeFileIn(dataDir));
  return {
    startedAt: Date.now(),
    isReady: () => isReady,
    setReady: (value) => {
      isReady = value;
    },
    checks: async () => ({
      db: await database(),
      storage: await storage(),
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
