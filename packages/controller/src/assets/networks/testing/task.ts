import { type Kind, setLinks } from '../../../store/engine/links.ts';
import { createTable } from '../../../store/engine/table.ts';
import type { TestController } from '../../../testing/controller.ts';

const tasks = createTable('tasks');
const origin = { userId: 1, address: '127.0.0.1', requestId: 'test', operation: 'test' };
const running = 4;
const finished = 7;

/** A stored task that uses these records. `setStatus` lets it run and end. */
export const storeTask = async (
  { store }: TestController,
  comment: string,
  uses: readonly { kind: Kind; id: number }[],
) => {
  const id = await store.change(origin, async (tx) => {
    const empty = { accessPlane: [], controlPlane: [], configuration: [], dumps: {} };
    const task = await tasks.insert(tx, { comment, status: 0, error: '', scheduleEnabled: false, ...empty });
    await setLinks(tx, { kind: 'task', id: task, name: comment }, uses);
    return task;
  });
  const setStatus = (status: number) => store.change(origin, (tx) => tasks.update(tx, id, { status }));
  return { id, run: () => setStatus(running), finish: () => setStatus(finished) };
};
