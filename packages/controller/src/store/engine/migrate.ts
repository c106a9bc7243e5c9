import { StartError } from '../../errors.ts';
import { createTable, type Migrating } from '../migrations/create-table.ts';
import { migrations } from '../migrations/index.ts';
import type { TableName } from '../tables/index.ts';
import type { Database, Executor } from './database.ts';
import { builderOf } from './statement.ts';

const lockKey = 7_283_311;

/**
 * Brings the schema up to date, or to an older version, in one transaction. Several controllers may start at once: one
 * does it, the others wait.
 */
export const migrate = (database: Database, wanted = migrations.length): Promise<number> =>
  database.transaction(async (tx) => {
    const raw = async (sql: string) => {
      await tx.run({ name: '', sql }, []);
    };
    const migrating: Migrating = {
      engine: tx.engine,
      db: builderOf[tx.engine],
      run: (query) => raw(query.compile().sql),
      raw,
    };
    if (tx.engine === 'postgres') await raw(`SELECT pg_advisory_xact_lock(${lockKey})`);
    const present = await versionOf(tx, migrating);
    const newest = Math.max(present, wanted);
    if (newest > migrations.length) {
      throw new StartError(
        `the database has schema version ${newest}, this build knows ${migrations.length}: use a newer build`,
      );
    }
    for (const step of migrations.slice(present, wanted)) await step(migrating);
    await raw(`UPDATE "installation" SET "value" = '${wanted}' WHERE "name" = 'schemaVersion'`);
    return wanted;
  });

export const hasTable = async (executor: Executor, table: TableName) => {
  const catalogue =
    executor.engine === 'postgres'
      ? 'pg_tables WHERE schemaname = current_schema() AND tablename'
      : 'sqlite_master WHERE name';
  return (await executor.run({ name: '', sql: `SELECT 1 FROM ${catalogue} = '${table}'` }, [])).length > 0;
};

const versionOf = async (tx: Executor, migrating: Migrating) => {
  if (!(await hasTable(tx, 'installation'))) {
    await createTable(migrating, 'installation', { name: 'text!', value: 'text' });
    await migrating.raw(`INSERT INTO "installation" ("name", "value") VALUES ('schemaVersion', '0')`);
  }
  const [row] = await tx.run(
    { name: '', sql: `SELECT "value" FROM "installation" WHERE "name" = 'schemaVersion'` },
    [],
  );
  return Number(row?.['value']);
};
