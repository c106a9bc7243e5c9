import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../../testing/postgres.ts';
import { type Database, StorageUnavailable } from './database.ts';
import { openPostgres } from './postgres.ts';

const isPostgres = process.env['RUSHHOUR_TEST_ENGINE'] === 'postgres';
let database: Database;
beforeAll(async () => {
  if (isPostgres) database = openPostgres((await createDatabase()) ?? '', { maxIdleMs: 200 });
});
afterAll(() => database?.close());

const one = { name: 'one', sql: 'SELECT 1 AS one' };
const endAll = {
  name: 'endAll',
  sql: 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
};

describe.runIf(isPostgres)('a transaction', () => {
  it('that pauses for too long is ended by the database, so that others need not wait for its locks', async () => {
    const paused = database.transaction(async (tx) => {
      await tx.run(one, []);
      await sleep(1000);
      await tx.run(one, []);
    });
    await expect(paused).rejects.toThrow(StorageUnavailable);
    expect(await database.transaction((tx) => tx.run(one, []))).toEqual([{ one: 1 }]);
  });

  it('whose connection breaks between two statements fails as unavailable, and the next one succeeds', async () => {
    const broken = database.transaction(async (tx) => {
      await tx.run(one, []);
      await database.run(endAll, []);
      await sleep(50);
      await tx.run(one, []);
    });
    await expect(broken).rejects.toThrow(StorageUnavailable);
    expect(await database.transaction((tx) => tx.run(one, []))).toEqual([{ one: 1 }]);
  });
});
