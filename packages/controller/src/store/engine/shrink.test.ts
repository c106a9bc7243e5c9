import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openSqlite } from './sqlite.ts';

const command = (sql: string) => ({ name: sql, sql });
const megabyte = 1024 ** 2;

const inFolder = async (work: (file: string) => Promise<void>) => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-shrink-'));
  try {
    await work(join(folder, 'lab.db'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const fill = (file: string, isOfEarlierVersion: boolean) => {
  if (!isOfEarlierVersion) return;
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE old (n INTEGER); INSERT INTO old VALUES (7)');
  db.close();
};

describe('the file of SQLite', () => {
  it.each([false, true])('gives deleted space back to the disk; of an earlier version: %s', (isOfEarlierVersion) =>
    inFolder(async (file) => {
      fill(file, isOfEarlierVersion);
      const database = openSqlite(file);
      await database.transaction(async (tx) => {
        await tx.run(command('CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)'), []);
        for (let i = 0; i < 400; i += 1) {
          await tx.run(command('INSERT INTO t (data) VALUES (zeroblob(100000))'), []);
        }
      });
      await database.transaction((tx) => tx.run(command('DELETE FROM t WHERE id % 10 > 0'), []));
      expect(await database.shrink?.()).toBeGreaterThan(25 * megabyte);
      // What is kept is whole.
      expect(await database.run(command('SELECT count(*) AS n, sum(length(data)) AS bytes FROM t'), [])).toEqual([
        { n: 40, bytes: 4_000_000 },
      ]);
      await database.close();
      expect(statSync(file).size).toBeLessThan(12 * megabyte);
      if (isOfEarlierVersion) {
        const again = openSqlite(file);
        expect(await again.run(command('SELECT n FROM old'), [])).toEqual([{ n: 7 }]);
        await again.close();
      }
    }),
  );
});
