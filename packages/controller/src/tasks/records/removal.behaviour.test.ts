import { expect, it } from 'vitest';
import { runs } from '../../store/runs/runs.ts';
import { tasks } from '../../store/tasks/tasks.ts';
import { useTestController } from '../../testing/use-controller.ts';
import { storeAgent } from '../testing/stored-agent.ts';
import { storeRun } from '../testing/stored-run.ts';

const controller = await useTestController();
const administrator = await controller.signIn();

it('a task that is deleted by force ends its run, which says why', async () => {
  const { store } = controller;
  const agent = await storeAgent(store);
  const ends = { sources: [{ agent: { id: agent } }], targets: [{ agent: { id: agent } }] };
  const { data: id } = await administrator.client.tasks.create({
    body: { configuration: [{ plugin: { id: 1 }, values: { ...ends, requestsPerSecond: 1 } }] },
  });
  const runId = await storeRun(store, id, { status: 1 });
  const remove = (force: boolean) => administrator.client.tasks.removeMany({ body: { array: [id], force } });

  expect(await remove(false)).toMatchObject({ data: [{ id, ok: false, code: 'TASK_ACTIVE' }] });
  expect(await runs.find(store.read, runId)).toMatchObject({ status: 1 });

  expect(await remove(true)).toEqual({ data: [{ id, ok: true }] });
  expect(await runs.find(store.read, runId)).toMatchObject({ status: 8, stopReason: 'deleted' });
  expect(await tasks.find(store.read, id)).toMatchObject({ status: 8, deletedAt: expect.any(String) });
});
