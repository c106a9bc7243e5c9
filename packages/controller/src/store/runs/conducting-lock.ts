import type pg from 'pg';

/** Permission to conduct runs: held by all controllers together, or by one of an earlier version alone. */
export interface ConductingLock {
  /** False while the database is away, or a controller of an earlier version conducts all runs. */
  acquire(): Promise<boolean>;
  isHeld(): boolean;
  /** Called when it is lost without `close`. */
  onLost(listener: () => void): void;
  close(): Promise<void>;
}

/** A database in a file has one controller. */
export const soleLock = (): ConductingLock => ({
  acquire: async () => true,
  isHeld: () => true,
  onLost: () => {},
  close: async () => {},
});

const lockKey = 7_283_312;

/** A shared advisory lock of PostgreSQL: it lasts as long as the connection that took it, and no longer. */
export const postgresLock = (url: string): ConductingLock => {
  let holder: pg.Client | undefined;
  const listeners: (() => void)[] = [];

  const release = (client: pg.Client) => {
    if (holder !== client) return;
    holder = undefined;
    for (const listener of listeners) listener();
  };
  return {
    acquire: async () => {
      if (holder !== undefined) return true;
      const { Client } = (await import('pg')).default;
      const client = new Client({ connectionString: url, keepAlive: true });
      client.on('error', () => release(client));
      try {
        await client.connect();
        const { rows } = await client.query('SELECT pg_try_advisory_lock_shared($1) AS taken', [lockKey]);
        if (rows[0]?.taken === true) {
          holder = client;
          client.once('end', () => release(client));
          return true;
        }
      } catch {
        // The database cannot be reached.
      }
      await client.end().catch(() => {});
      return false;
    },
    isHeld: () => holder !== undefined,
    onLost: (listener) => void listeners.push(listener),
    close: async () => {
      const client = holder;
      holder = undefined;
      await client?.end().catch(() => {});
    },
  };
};
