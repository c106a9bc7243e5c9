import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database, Executor } from './database.ts';
import { openSqlite, openSqliteReader } from './sqlite.ts';

let dir: string;
let database: Database;
const statement = (sql: string) => ({ name: '', sql });
const run = (executor: Executor, sql: string) => executor.run(statement(sql), []);
const namesIn = async (executor: Executor) =>
  (await run(executor, 'select name from t order by rowid')).map(({ name }) => name);
const insert = (tx: Executor, name: string) => run(tx, `insert into t values ('${name}')`);
const shared = { sharesCommit: true };

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'rushhour-sqlite-'));
  database = openSqlite(join(dir, 'a.db'));
  await database.transaction((tx) => run(tx, 'create table t (name text unique)'));
});
afterEach(async () => {
  await database.close();
  rmSync(dir, { recursive: true });
});

it('transactions that wait at the same time are on disk together, in their order', async () => {
  const other = openSqliteReader(join(dir, 'a.db'));
  const seen: unknown[] = [];
  const many = ['a', 'b', 'c'].map((name) =>
    database.transaction(async (tx) => {
      seen.push((await namesIn(other)).length);
      await insert(tx, name);
    }, shared),
  );
  const alone = database.transaction(async (tx) => {
    seen.push((await namesIn(other)).length);
    await insert(tx, 'd');
  });
  // None is over before it is on disk.
  await many[0];
  expect(await namesIn(other)).toEqual(expect.arrayContaining(['a', 'b', 'c']));
  await Promise.all([...many, alone]);
  expect(seen).toEqual([0, 0, 0, 3]);
  expect(await namesIn(database)).toEqual(['a', 'b', 'c', 'd']);
});

it('one that fails undoes only what it did itself', async () => {
  const outcomes = await Promise.allSettled([
    database.transaction((tx) => insert(tx, 'a'), shared),
    database.transaction(async (tx) => {
      await insert(tx, 'b');
      throw new Error('no');
    }, shared),
    database.transaction((tx) => insert(tx, 'a'), shared),
    database.transaction((tx) => insert(tx, 'c'), shared),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  expect(await namesIn(database)).toEqual(['a', 'c']);
});

it('when the disk is full all of them fail, and the next one can be written', async () => {
  await run(database, 'select 1');
  await database.transaction((tx) => run(tx, 'pragma max_page_count = 4'));
  const long = 'x'.repeat(100_000);
  const outcomes = await Promise.allSettled([
    database.transaction((tx) => insert(tx, 'a'), shared),
    database.transaction((tx) => insert(tx, long), shared),
    database.transaction((tx) => insert(tx, 'c'), shared),
  ]);
  expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
  await database.transaction((tx) => insert(tx, 'z'));
  const expected = ['a', long, 'c'].filter((_, i) => outcomes[i]?.status === 'fulfilled');
  expect(await namesIn(database)).toEqual([...expected, 'z']);
});
