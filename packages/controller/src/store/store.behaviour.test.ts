import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { verifyAudit } from './engine/audit.ts';
import type { Executor } from './engine/database.ts';
import { migrate } from './engine/migrate.ts';
import { compiledCount } from './engine/statement.ts';
import { groups } from './people/groups.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const origin = { userId: 1, address: '', requestId: 'test', operation: 'test' };
const sql = (executor: Executor, text: string) => executor.run({ name: '', sql: text }, []);

describe('a change', () => {
  it('leaves nothing behind when it fails, not even its audit entry', async () => {
    const before = await verifyAudit(controller.store.read);
    const failing = controller.store.change(origin, async (tx) => {
      await groups.insert(tx, { name: 'Half done', permissions: [] });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    const { rows } = await groups.page(controller.store.read, { key: 'id', order: 'desc', limit: 100, offset: 0 });
    expect(rows.map(({ name }) => name)).not.toContain('Half done');
    expect(await verifyAudit(controller.store.read)).toEqual(before);
  });

  it('is not seen by others before it is done', async () => {
    let during: number | undefined;
    await controller.store.change(origin, async (tx) => {
      await groups.insert(tx, { name: 'Unseen', permissions: [] });
      const { total } = await groups.page(controller.store.read, { key: 'id', order: 'asc', limit: 1, offset: 0 });
      during = total;
    });
    const { total } = await groups.page(controller.store.read, { key: 'id', order: 'asc', limit: 1, offset: 0 });
    expect(total).toBe((during ?? 0) + 1);
  });

  it('never interleaves with another', async () => {
    const order: string[] = [];
    await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        controller.store.change(origin, async (tx) => {
          order.push(`${name} begins`);
          await groups.insert(tx, { name: `Serial ${name}`, permissions: [] });
          await new Promise((resolve) => setTimeout(resolve, 20));
          order.push(`${name} ends`);
        }),
      ),
    );
    for (let i = 0; i < order.length; i += 2) expect(order[i]?.[0]).toBe(order[i + 1]?.[0]);
  });

  it('stamps every record with a version of its own', async () => {
    const { data: id } = await administrator.client.groups.create({ body: { name: 'Stamped' } });
    const versions = new Set<string>();
    for (let n = 0; n < 20; n += 1) {
      await administrator.client.groups.update({ body: { id, name: `Stamped ${n}` } });
      versions.add((await administrator.client.groups.get({ params: { id } })).updatedAt);
    }
    expect(versions.size).toBe(20);
  });
});

describe('the audit chain', () => {
  it('shows a row that was changed behind our back, and rows that were taken away', async () => {
    const isSqlite = controller.store.database.engine === 'sqlite';
    const disarm = isSqlite
      ? ['DROP TRIGGER audit_no_update', 'DROP TRIGGER audit_no_delete']
      : ['ALTER TABLE audit DISABLE TRIGGER ALL'];
    const tamper = async (text: string) => {
      let verdict: Awaited<ReturnType<typeof verifyAudit>> | undefined;
      const undone = controller.store.database.transaction(async (tx) => {
        for (const statement of [...disarm, text]) await sql(tx, statement);
        verdict = await verifyAudit(tx);
        throw new Error('undo');
      });
      await expect(undone).rejects.toThrow('undo');
      return verdict?.broken;
    };
    expect(await tamper(`UPDATE audit SET "userID" = 99 WHERE id = 2`)).toEqual({
      id: 2,
      reason: 'the hash does not fit',
    });
    expect(await tamper('DELETE FROM audit WHERE id = 3')).toEqual({ id: 3, reason: 'the row is missing' });
    expect(await tamper('DELETE FROM audit WHERE id = (SELECT max(id) FROM audit)')).toMatchObject({
      reason: 'rows at the end are missing',
    });
    expect((await verifyAudit(controller.store.read)).broken).toBeUndefined();
  });
});

describe('secrets', () => {
  it('open only where they were sealed', () => {
    const { secrets } = controller.store;
    const location = { table: 'settings', id: 1, column: 'value' };
    const sealed = secrets.seal('hush', location);
    expect(sealed).not.toContain('hush');
    expect(secrets.open(sealed, location)).toBe('hush');
    expect(() => secrets.open(sealed, { ...location, id: 2 })).toThrow();
    expect(() => secrets.open(`${sealed.slice(0, -2)}AA`, location)).toThrow();
    expect(secrets.seal('hush', location)).not.toBe(sealed);
  });
});

it('migrations are applied once', async () => {
  expect(await migrate(controller.store.database)).toBe(controller.store.schemaVersion);
});

it('a request compiles no statement that was compiled before', async () => {
  const { client } = administrator;
  const { data: id } = await client.projects.create({ body: { name: 'Compiled' } });
  const work = async () => {
    await client.projects.get({ params: { id } });
    await client.groups.list({ query: { count: 10, offset: 0 } });
    await client.projects.list({ query: { key: 'name', search: 'x' } });
    await client.projects.update({ body: { ID: id, description: 'x' } });
  };
  const compiledMeanwhile = async () => {
    const before = compiledCount();
    for (let n = 0; n < 5; n += 1) await work();
    return compiledCount() - before;
  };
  // What the controller does beside the requests compiles its own, once each.
  await expect.poll(compiledMeanwhile).toBe(0);
});
