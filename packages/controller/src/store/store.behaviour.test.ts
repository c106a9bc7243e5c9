import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { type AuditCheckpoint, anchorAudit, appendAudit, takeCheckpoint, verifyAudit } from './engine/audit.ts';
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
    const before = await verifyAudit(controller.store.read, controller.store.secrets);
    const failing = controller.store.change(origin, async (tx) => {
      await groups.insert(tx, { name: 'Half done', permissions: [] });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    const { rows } = await groups.page(controller.store.read, { key: 'id', order: 'desc', limit: 100, offset: 0 });
    expect(rows.map(({ name }) => name)).not.toContain('Half done');
    expect(await verifyAudit(controller.store.read, controller.store.secrets)).toEqual(before);
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
    const tamper = async (given: string | string[], checkpoints: AuditCheckpoint[] = []) => {
      let verdict: Awaited<ReturnType<typeof verifyAudit>> | undefined;
      const undone = controller.store.database.transaction(async (tx) => {
        for (const statement of [...disarm, ...[given].flat()]) await sql(tx, statement);
        verdict = await verifyAudit(tx, controller.store.secrets, checkpoints);
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
    const { read, secrets } = controller.store;
    const checkpoint = await takeCheckpoint(read, secrets);
    const last = checkpoint.entries;
    const previous = await sql(read, `SELECT hash FROM audit WHERE id = ${last - 1}`);
    const cutHead = `UPDATE "auditHead" SET entries = ${last - 1}, hash = '${previous[0]?.['hash']}'`;
    const cut = [`DELETE FROM audit WHERE id = ${last}`, cutHead];
    expect(await tamper(cut)).toBeUndefined();
    expect(await tamper(cut, [checkpoint])).toEqual({ id: last, reason: 'rows at the end are missing' });
    const forged = { ...checkpoint, entries: last - 1, hash: String(previous[0]?.['hash']) };
    expect(await tamper(cut, [forged])).toMatchObject({ reason: expect.stringContaining('checkpoint was changed') });
    expect(await verifyAudit(read, secrets, [checkpoint])).toEqual({ entries: last });
  });

  it('cannot be written anew without the key of the installation', async () => {
    const { database, secrets } = controller.store;
    let verdict: Awaited<ReturnType<typeof verifyAudit>> | undefined;
    const undone = database.transaction(async (tx) => {
      const disarm =
        database.engine === 'sqlite' ? 'DROP TRIGGER audit_no_update' : 'ALTER TABLE audit DISABLE TRIGGER ALL';
      await sql(tx, disarm);
      const rows = (await sql(tx, 'SELECT * FROM audit ORDER BY id')) as Record<string, string>[];
      let chained = '';
      for (const { id, at, userID, address, requestId, operation, outcome, targets, detail } of rows) {
        const entry = [Number(id), at, userID === null ? null : Number(userID), address, requestId, operation];
        chained = hash('sha256', chained + JSON.stringify([...entry, outcome, targets, detail]), 'hex');
        await sql(tx, `UPDATE audit SET hash = '${chained}' WHERE id = ${id}`);
      }
      await sql(tx, `UPDATE "auditHead" SET hash = '${chained}'`);
      verdict = await verifyAudit(tx, secrets);
      throw new Error('undo');
    });
    await expect(undone).rejects.toThrow('undo');
    expect(verdict?.broken).toEqual({ id: 1, reason: 'the hash does not fit' });
  });

  it('keeps the entries that an earlier build wrote without a key', async () => {
    const { database, secrets } = controller.store;
    const verdicts: (string | undefined)[] = [];
    const undone = database.transaction(async (tx) => {
      const isSqlite = database.engine === 'sqlite';
      const disarm = isSqlite
        ? ['DROP TRIGGER audit_no_update', 'DROP TRIGGER audit_no_delete']
        : ['ALTER TABLE audit DISABLE TRIGGER ALL'];
      for (const text of [...disarm, 'DELETE FROM audit', `DELETE FROM installation WHERE name = 'auditAnchor'`])
        await sql(tx, text);
      const hashes: string[] = [];
      for (const id of [1, 2]) {
        const covered = JSON.stringify([id, '2026-01-01', null, '', '', 'old', 'ok', '{}', '{}']);
        hashes.push(hash('sha256', (hashes.at(-1) ?? '') + covered, 'hex'));
      }
      for (const [index, chained] of hashes.entries()) {
        const values = `${index + 1}, '2026-01-01', NULL, '', '', 'old', 'ok', '{}', '{}', '${chained}'`;
        const columns = 'id, at, "userID", address, "requestId", operation, outcome, targets, detail, hash';
        await sql(tx, `INSERT INTO audit (${columns}) VALUES (${values})`);
      }
      await sql(tx, `UPDATE "auditHead" SET entries = 2, hash = '${hashes[1]}'`);
      const look = async () => verdicts.push((await verifyAudit(tx, secrets)).broken?.reason);
      await look();
      await anchorAudit({ ...database, run: tx.run, transaction: (work) => work(tx) }, secrets);
      await look();
      const entry = { at: '2026-01-02', userID: null, address: '', requestId: '', operation: 'new' };
      await appendAudit(tx, secrets, { ...entry, outcome: 'ok', targets: {}, detail: {} });
      await look();
      await sql(tx, `UPDATE audit SET operation = 'other' WHERE id = 1`);
      await look();
      throw new Error('undo');
    });
    await expect(undone).rejects.toThrow('undo');
    expect(verdicts).toEqual([
      'the sealed anchor is missing or was changed',
      undefined,
      undefined,
      'the hash does not fit',
    ]);
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
