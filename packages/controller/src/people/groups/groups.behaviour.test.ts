import { permissions } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

describe('groups', () => {
  it('start with the four of a new installation', async () => {
    const { cursor, data } = await administrator.client.groups.list({ query: { count: 10, offset: 0 } });
    expect(data.map(({ name }) => name)).toEqual(['Administrators', 'Operators', 'Security testers', 'Viewers']);
    expect(cursor).toEqual({ count: 10, currentPage: 1, totalPages: 1, totalRows: 4 });
    expect(data[0]?.users).toEqual([{ id: 1, email: 'admin@example.test', realName: 'Administrator' }]);
  });

  it('are created, read back whole, changed and deleted', async () => {
    const { groups } = administrator.client;
    const { data: id } = await groups.create({
      body: { name: 'Night shift', permissions: [{ value: 41 }, { value: 41 }] },
    });
    const group = await groups.get({ params: { id } });
    expect(group).toMatchObject({
      id,
      name: 'Night shift',
      permissions: [{ value: 41 }],
      issuerID: 1,
      users: [],
      deletedAt: null,
    });
    await groups.update({ body: { ...group, name: 'Day shift' } });
    expect(await groups.get({ params: { id } })).toMatchObject({ name: 'Day shift', permissions: [{ value: 41 }] });
    expect(await groups.remove({ params: { id } })).toBeUndefined();
    await expect(groups.get({ params: { id } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('refuse a change made from an older version', async () => {
    const { groups } = administrator.client;
    const { data: id } = await groups.create({ body: { name: 'Versioned' } });
    const { updatedAt } = await groups.get({ params: { id } });
    await groups.update({ body: { id, updatedAt, name: 'Versioned 2' } });
    await expect(groups.update({ body: { id, updatedAt, name: 'Versioned 3' } })).rejects.toEqual(
      refused(409, 'STALE_OBJECT'),
    );
  });

  it('have unique names, and say so with a pointer', async () => {
    const { groups } = administrator.client;
    await groups.create({ body: { name: 'Twice' } });
    await expect(groups.create({ body: { name: 'Twice' } })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/name', code: 'DUPLICATE' }] },
    });
  });

  it('with users cannot be deleted, and nothing of a bulk deletion stays', async () => {
    const { groups } = administrator.client;
    const { data: id } = await groups.create({ body: { name: 'Bystander' } });
    await expect(groups.removeMany({ body: { array: [id, 1] } })).rejects.toMatchObject({
      status: 409,
      data: { code: 'IN_USE', references: [{ kind: 'user', id: 1, name: 'admin@example.test' }] },
    });
    await expect(groups.removeMany({ body: { array: [id, 9999] } })).rejects.toMatchObject({
      status: 404,
      data: { missing: [9999] },
    });
    expect(await groups.get({ params: { id } })).toMatchObject({ name: 'Bystander' });
    expect(await groups.removeMany({ body: { array: [id] } })).toEqual({ data: [id] });
  });

  it('cannot be given a permission that their author does not hold, nor one that does not exist', async () => {
    const editor = await controller.signInWith(administrator, [
      permissions['groups.read'],
      permissions['groups.write'],
    ]);
    await expect(
      editor.client.groups.create({ body: { name: 'Mighty', permissions: [{ value: 1 }] } }),
    ).rejects.toMatchObject({
      status: 403,
      data: { code: 'CANNOT_GRANT', permissions: ['system.admin'] },
    });
    await expect(
      administrator.client.groups.create({ body: { name: 'Odd', permissions: [{ value: 41 }, { value: 99 }] } }),
    ).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/permissions/1/value', code: 'UNKNOWN_PERMISSION' }] },
    });
    await expect(
      editor.client.groups.update({
        body: { id: editor.groupID, permissions: [{ value: permissions['groups.read'] }] },
      }),
    ).rejects.toEqual(refused(409, 'SELF'));
  });

  it('keep the last administrator', async () => {
    await expect(administrator.client.groups.update({ body: { id: 1, permissions: [] } })).rejects.toEqual(
      refused(409, 'LAST_ADMINISTRATOR'),
    );
  });

  it('page without overlap', async () => {
    const { groups } = administrator.client;
    for (let n = 0; n < 12; n += 1) await groups.create({ body: { name: `Paged ${n}` } });
    const first = await groups.list({ query: { count: 10, offset: 0 } });
    const second = await groups.list({ query: { count: 10, offset: 10 } });
    const ids = [...first.data, ...second.data].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(second.cursor).toMatchObject({ currentPage: 2, count: 10, totalRows: first.cursor.totalRows });
  });
});
