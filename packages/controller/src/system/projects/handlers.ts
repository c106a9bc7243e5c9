import type { api } from '@rushhour/contract';
import type { Caller } from '../../caller.ts';
import { assertAllFound, assertFresh, crudHandlers, cursorOf, pageRequestOf } from '../../crud.ts';
import { conflict, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Store } from '../../store/store.ts';
import { activeTasksOf, disableSchedulesOf, projects, releaseTasks } from '../../store/system/projects.ts';

export const projectHandlers = ({ store }: { store: Store }): Handlers<typeof api.projects> => {
  const setArchived = (ids: readonly number[], caller: Caller, stamp: (tx: Change) => string | null) =>
    store.change(caller, async (tx) => {
      assertAllFound(
        'project',
        ids,
        (await projects.findMany(tx, ids)).map(({ ID }) => ID),
      );
      if (stamp(tx) !== null) {
        await assertIdle(tx, ids);
        await disableSchedulesOf(tx, ids);
      }
      for (const id of ids) await projects.update(tx, id, { archivedAt: stamp(tx) });
      return { data: ids.map((id) => ({ id, ok: true })) };
    });

  return {
    ...crudHandlers('project', projects, store),
    list: async ({ query: { archived = 'no', ...query } }) => {
      const request = pageRequestOf(query, 'ID');
      const { rows, total } = await projects.page(store.read, { ...request, filters: { archived } });
      return { cursor: cursorOf(request.limit, request.offset, total), data: rows };
    },
    create: ({ body }, caller) =>
      store.change(caller, async (tx) => ({ data: await projects.insert(tx, { description: '', ...body }) })),
    update: ({ body: { ID, id = ID, updatedAt, ...values } }, caller) =>
      store.change(caller, async (tx) => {
        const project = await orNotFound(projects.find(tx, id as number), 'project', id as number);
        assertFresh('project', project, updatedAt);
        await projects.update(tx, project.ID, values);
      }),
    removeMany: ({ body: { array, tasks = 'detach' } }, caller) =>
      store.change(caller, async (tx) => {
        await assertIdle(tx, array);
        await releaseTasks(tx, array, tasks);
        assertAllFound('project', array, await projects.remove(tx, array));
        return { data: array };
      }),
    get: ({ params }) => orNotFound(projects.find(store.read, params.id), 'project', params.id),
    archive: ({ body }, caller) => setArchived(body.array, caller, (tx) => tx.now),
    unarchive: ({ body }, caller) => setArchived(body.array, caller, () => null),
  };
};

const assertIdle = async (tx: Change, projectIds: readonly number[]) => {
  const active = await activeTasksOf(tx, projectIds);
  if (active.length > 0) {
    throw conflict('IN_USE', 'tasks of the project are running: stop them first', {
      references: active.map(({ id, comment }) => ({ kind: 'task', id, name: comment })),
    });
  }
};
