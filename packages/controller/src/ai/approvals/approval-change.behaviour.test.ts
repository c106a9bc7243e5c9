import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agents } from '../../store/agents/agents.ts';
import { notify } from '../../store/system/notifications.ts';
import { tasks } from '../../store/tasks/tasks.ts';
import { type GatewayCall, type GatewayLab, startGatewayLab } from '../gateway/testing/gateway-lab.ts';

let lab: GatewayLab;
let call: GatewayCall;
beforeAll(async () => {
  lab = await startGatewayLab();
  ({ call } = await lab.newKey());
});
afterAll(() => lab.close());

type Holder = Record<string, unknown>;
const origin = { userId: 1, address: '', requestId: 'test', operation: 'test' };
const client = () => lab.administrator.client;

interface Bench {
  id: number;
  networkId: number;
}

/** A task with a network, so that there is something to change besides it. */
const newBench = async (): Promise<Bench> => {
  const { data: networkId } = await client().networks.create({
    body: { name: `n${Math.random()}`, type: 3, subnet: '127.0.0.0/24' } as never,
  });
  const agent = { id: lab.agentId };
  const sources = [{ agent, network: { id: networkId } }];
  return { id: await lab.newTask({ sources }), networkId };
};

const change = (id: number, edit: (task: Holder & { configuration: { values: Holder }[] }) => void) =>
  lab.controller.store.change(origin, async (tx) => {
    const task = (await tasks.find(tx, id)) as never as Parameters<typeof edit>[0];
    const copy = structuredClone(task);
    edit(copy);
    await tasks.update(tx, id, copy as never);
  });

/** Every value of a document that is no object or list, with a way to make it another. */
function* pointersOf(value: unknown, pointer = ''): Generator<string> {
  if (typeof value !== 'object' || value === null) yield pointer;
  else for (const [name, member] of Object.entries(value)) yield* pointersOf(member, `${pointer}/${name}`);
}
const mutate = (root: unknown, pointer: string) => {
  const names = pointer.split('/').slice(1);
  const last = names.pop() as string;
  const holder = names.reduce<unknown>((part, name) => (part as Holder)[name], root) as Holder;
  const value = holder[last];
  if (typeof value === 'number') holder[last] = value + 1;
  else if (typeof value === 'boolean') holder[last] = !value;
  else holder[last] = `${String(value)}x`;
};

const ask = async (id: number) => {
  const { data } = await call('POST', '/tasks/start', { taskId: id, reason: 'looks for changes' });
  return data.approvalToken as string;
};
const confirm = (approvalToken: string) => call('POST', '/tasks/start/confirm', { approvalToken });

it('finds every changed value of what a task does', async () => {
  const { id } = await newBench();
  const stored = (await tasks.find(lab.controller.store.read, id)) as never as Holder;
  const { configuration, dumps, accessPlane, controlPlane } = stored;
  const pointers = [...pointersOf({ configuration, dumps, accessPlane, controlPlane })];
  expect(pointers.length).toBeGreaterThan(8);
  for (const pointer of pointers) {
    const token = await ask(id);
    expect(token, pointer).toBeDefined();
    await change(id, (task) => mutate(task, pointer));
    const refused = await confirm(token);
    expect({ pointer, status: refused.status, code: refused.data.code }).toEqual({
      pointer,
      status: 409,
      code: 'TASK_CHANGED',
    });
    expect(refused.data.changed).toContain(pointer);
    await change(id, (task) =>
      Object.assign(task, structuredClone({ configuration, dumps, accessPlane, controlPlane })),
    );
  }
  expect(await lab.runsOf(id)).toBe(0);
});

describe('finds', () => {
  it.each<[string, (bench: Bench) => Promise<unknown>, RegExp]>([
    [
      'a member that is new',
      ({ id }) => change(id, (task) => Object.assign(task.configuration[0]?.values ?? {}, { cpuCores: 1 })),
      /cpuCores/,
    ],
    [
      'another project',
      async ({ id }) => {
        const { data: projectID } = await client().projects.create({ body: { name: `p${Math.random()}` } as never });
        await client().tasks.move({ body: { array: [id], projectID } });
      },
      /projectID/,
    ],
    [
      'another threshold',
      ({ id }) =>
        client().tasks.setThresholds({
          body: {
            id,
            thresholds: [{ name: 'a', metric: 'http.requests', aggregation: 'sum', operator: '>', value: 1 }],
          } as never,
        }),
      /thresholds/,
    ],
    [
      'a network that it uses',
      ({ networkId }) => client().networks.update({ body: { id: networkId, subnet: '127.0.0.0/25' } as never }),
      /^\/deps\/networks\//,
    ],
    [
      'another identity of an agent',
      async () => {
        await lab.controller.store.change(origin, (tx) =>
          agents.update(tx, lab.agentId, { publicKey: `${Math.random()}` }),
        );
      },
      /^\/agents\//,
    ],
    ['a task that has begun', ({ id }) => client().tasks.start({ params: { id } }), /state/],
    ['a task that is deleted', ({ id }) => client().tasks.removeMany({ body: { array: [id] } as never }), /./],
  ])('%s', async (_, act, expected) => {
    const bench = await newBench();
    const token = await ask(bench.id);
    await act(bench);
    const refused = await confirm(token);
    expect(refused).toMatchObject({ status: 409, data: { code: 'TASK_CHANGED' } });
    expect(refused.data.changed.some((pointer: string) => expected.test(pointer))).toBe(true);
  });
});

describe('does not mind', () => {
  it.each<[string, (bench: Bench) => Promise<unknown>]>([
    ['a comment', ({ id }) => client().tasks.update({ body: { id, comment: 'other words' } })],
    ['the same values written again', ({ id }) => change(id, () => {})],
    [
      'another name of a network',
      ({ networkId }) => client().networks.update({ body: { id: networkId, name: `m${Math.random()}` } as never }),
    ],
    [
      'what an agent reports of itself',
      () =>
        lab.controller.store.change(origin, (tx) =>
          agents.update(tx, lab.agentId, { roundTripMs: Math.random(), lastSeenAt: tx.now, bootId: 'b', comment: 'c' }),
        ),
    ],
    [
      'a notification',
      () =>
        lab.controller.store.change(origin, (tx) =>
          notify(tx, lab.controller.bus, { severity: 'info', kind: 'test', message: 'x', audience: { userID: 1 } }),
        ),
    ],
  ])('%s', async (_, act) => {
    const bench = await newBench();
    const token = await ask(bench.id);
    await act(bench);
    expect((await confirm(token)).status).toBe(200);
    await client().tasks.stop({ params: { id: bench.id } });
  });
});
