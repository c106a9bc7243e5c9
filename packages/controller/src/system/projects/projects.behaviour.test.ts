import { describe, expect, it } from 'vitest';
import { createTable } from '../../store/engine/table.ts';
import { refused } from '../../testing/refused.ts';
import { useTestController } from '../../testing/use-controller.ts';

const tasks = createTable('tasks');

const controller = await useTestController();
const administrator = await controller.signIn();

const addTask = (projectID: number, status: number, startedAt: string | null = null) =>
  controller.store.change({ userId: 1, address: '', requestId: 'test', operation: 'test' }, (tx) =>
    tasks.insert(tx, {
      comment: `task with status ${status}`,
      status,
      error: '',
      projectID,
      accessPlane: [],
      controlPlane: [],
      configuration: [],
      dumps: {},
      scheduleEnabled: true,
      startedAt,
    }),
  );
const create = async (name: string) => (await administrator.client.projects.create({ body: { name } })).data;
const get = (id: number) => administrator.client.projects.get({ params: { id } });

describe('projects', () => {
  it('answer the bare record with counters of their tasks', async () => {
    const id = await create('Counted');
    for (const status of [0, 1, 4, 6, 7, 9, 9]) await addTask(id, status, '2099-01-01T00:00:00.000Z');
    expect(await get(id)).toMatchObject({
      ID: id,
      name: 'Counted',
      description: '',
      taskCount: 7,
      activeTaskCount: 3,
      errorTaskCount: 2,
      lastActivityAt: '2099-01-01T00:00:00.000Z',
      archivedAt: null,
      issuer: { id: 1, email: 'admin@example.test', realName: 'Administrator' },
    });
  });

  it('are updated by ID or id; null clears', async () => {
    const id = await create('Renamed');
    await administrator.client.projects.update({ body: { ID: id, description: 'long' } });
    await administrator.client.projects.update({ body: { id, name: 'Renamed 2' } });
    expect(await get(id)).toMatchObject({ name: 'Renamed 2', description: 'long' });
    await administrator.client.projects.update({ body: { ID: id, description: null } });
    expect(await get(id)).toMatchObject({ description: '' });
    await expect(administrator.client.projects.update({ body: { name: 'x' } })).rejects.toMatchObject({ status: 400 });
    await expect(administrator.client.projects.update({ body: { ID: 4711, name: 'x' } })).rejects.toEqual(
      refused(404, 'NOT_FOUND'),
    );
  });

  it('are listed by page, key, order and search', async () => {
    for (const name of ['Zebra list', 'apple list', 'Mango list']) await create(name);
    const names = async (query: object) =>
      (await administrator.client.projects.list({ query: { search: 'LIST', ...query } })).data.map(({ name }) => name);
    expect(await names({ key: 'name', order: 'asc' })).toEqual(['Mango list', 'Zebra list', 'apple list']);
    expect(await names({ key: 'ID', order: 'desc', count: 2 })).toEqual(['Mango list', 'apple list']);
    expect(await names({ key: 'ID', order: 'desc', count: 2, page: 2 })).toEqual(['Zebra list']);
    await expect(administrator.client.projects.list({ query: { key: 'colour' as never } })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/key', in: 'query', code: 'ENUM' }] },
    });
  });

  it('are archived unless tasks run, and come back', async () => {
    const [idle, busy] = [await create('Idle'), await create('Busy')];
    const taskId = await addTask(idle, 7);
    await addTask(busy, 4);
    await expect(administrator.client.projects.archive({ body: { array: [idle, busy] } })).rejects.toEqual(
      refused(409, 'IN_USE'),
    );
    expect(await administrator.client.projects.archive({ body: { array: [idle] } })).toEqual({
      data: [{ id: idle, ok: true }],
    });
    expect((await tasks.find(controller.store.read, taskId))?.scheduleEnabled).toBe(false);
    const idsOf = async (archived: 'no' | 'only' | 'all') =>
      (await administrator.client.projects.list({ query: { archived, count: 100 } })).data.map(({ ID }) => ID);
    expect(await idsOf('no')).not.toContain(idle);
    expect(await idsOf('only')).toEqual([idle]);
    expect(await idsOf('all')).toContain(idle);
    await administrator.client.projects.unarchive({ body: { array: [idle] } });
    expect(await idsOf('no')).toContain(idle);
  });

  it('let their tasks go or take them along', async () => {
    const [kept, gone] = [await create('Kept'), await create('Gone')];
    const [keptTask, goneTask] = [await addTask(kept, 7), await addTask(gone, 7)];
    expect(await administrator.client.projects.removeMany({ body: { array: [kept] } })).toEqual({ data: [kept] });
    await administrator.client.projects.removeMany({ body: { array: [gone], tasks: 'delete' } });
    expect(await tasks.find(controller.store.read, keptTask)).toMatchObject({ projectID: null });
    expect(await tasks.find(controller.store.read, goneTask)).toBeUndefined();
    await expect(get(kept)).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });
});
