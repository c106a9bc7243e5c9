import { afterAll, beforeAll, expect, it } from 'vitest';
import { usualTiming } from '../../runs/deadlines.ts';
import { createSteering } from '../../runs/steering.ts';
import { runs } from '../../store/runs.ts';
import { tasks } from '../../store/tasks.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { removeTask } from './removal.ts';
import { storeAgent } from './testing/stored-agent.ts';
import { storeRun } from './testing/stored-run.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const origin = { userId: 1, address: '127.0.0.1', requestId: 'test', operation: 'test' };

it('a task that is deleted by force ends its run, which says why', async () => {
  const { store, bus, settings } = controller;
  const agent = await storeAgent(store);
  const ends = { sources: [{ agent: { id: agent } }], targets: [{ agent: { id: agent } }] };
  const { data: id } = await administrator.client.tasks.create({
    body: { configuration: [{ plugin: { id: 1 }, values: { ...ends, requestsPerSecond: 1 } }] },
  });
  const runId = await storeRun(store, id, { status: 4 });
  const steering = createSteering({ bus, settings, timing: usualTiming });

  const kept = await store.change(origin, (tx) => removeTask(tx, id, steering, false));
  expect(kept).toMatchObject({ id, ok: false, code: 'TASK_ACTIVE' });
  expect(await runs.find(store.read, runId)).toMatchObject({ status: 4 });

  expect(await store.change(origin, (tx) => removeTask(tx, id, steering, true))).toBeUndefined();
  expect(await runs.find(store.read, runId)).toMatchObject({ status: 6, endStatus: 8, stopReason: 'deleted' });
  expect(await tasks.find(store.read, id)).toMatchObject({ status: 6, deletedAt: expect.any(String) });
});
