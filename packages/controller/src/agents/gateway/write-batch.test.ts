import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database, Executor } from '../../store/engine/database.ts';
import { statement } from '../../store/engine/statement.ts';
import { openStore, type Store } from '../../store/store.ts';
import { createWriteBatch } from './write-batch.ts';

let store: Store;
let dataDir: string;
let transactions = 0;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'rushhour-batch-'));
  store = await openStore({ dataDir });
  transactions = 0;
});
afterEach(async () => {
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const insert = statement((db, p: { name: string }) =>
  db.insertInto('installation').values({ name: p.name, value: '' }),
);
const names = statement((db, p: { start: string }) =>
  db.selectFrom('installation').select('name').where('name', 'like', p.start).orderBy('name'),
);
const counted = (): Database => ({
  ...store.database,
  run: store.database.run,
  transaction: (work) => {
    transactions += 1;
    return store.database.transaction(work);
  },
});
const add = (name: string) => (tx: Executor) => insert.all(tx, { name });
const written = async () => (await names.all(store.read, { start: 'job%' })).map(({ name }) => name);

describe('writes of many agents', () => {
  it('that come together go together, in their order', async () => {
    const batch = createWriteBatch(counted());
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        batch.write(async (tx) => {
          order.push(i);
          await add(`job${String(i).padStart(3, '0')}`)(tx);
        }),
      ),
    );
    expect(order).toEqual(Array.from({ length: 200 }, (_, i) => i));
    expect(await written()).toHaveLength(200);
    expect(transactions).toBeLessThan(4);
  });

  it('that fail harm nobody else', async () => {
    const batch = createWriteBatch(counted());
    const fail = () => Promise.reject(new Error('cannot be written'));
    const outcomes = await Promise.allSettled([batch.write(add('job1')), batch.write(fail), batch.write(add('job2'))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await written()).toEqual(['job1', 'job2']);
    await expect(batch.write(fail)).rejects.toThrow('cannot be written');
    await batch.write(add('job3'));
    await batch.settled();
    expect(await written()).toEqual(['job1', 'job2', 'job3']);
  });
});
