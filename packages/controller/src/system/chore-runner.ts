import type { Logger } from 'pino';

export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
}

const tickMs = 1000;
const lateMs = 30_000;

/** Runs periodic work, one chore at a time, and reports whether it is on schedule. */
export const startChores = (chores: readonly Chore[], log: Logger) => {
  const dueAt = new Map(chores.map((chore) => [chore, Date.now() + chore.everyMs]));
  let lastTick = Date.now();
  let working: Promise<void> | undefined;

  const work = async () => {
    for (const [chore, due] of dueAt) {
      if (Date.now() < due) continue;
      dueAt.set(chore, Date.now() + chore.everyMs);
      await chore.run().catch((error) => log.error({ err: error, chore: chore.name }, 'chore failed'));
    }
    lastTick = Date.now();
  };
  const timer = setInterval(() => {
    working ??= work().finally(() => {
      working = undefined;
    });
  }, tickMs);

  return {
    isAlive: () => Date.now() - lastTick < lateMs,
    stop: async () => {
      clearInterval(timer);
      await working;
    },
  };
};
