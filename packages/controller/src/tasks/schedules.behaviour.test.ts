import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enrolTestAgent } from '../testing/agent.ts';
import { type SignedIn, startTestController } from '../testing/controller.ts';

let controller: Awaited<ReturnType<typeof startTestController>>;
let admin: SignedIn;
let near: Awaited<ReturnType<typeof enrolTestAgent>>;
let far: Awaited<ReturnType<typeof enrolTestAgent>>;

beforeAll(async () => {
  controller = await startTestController();
  admin = await controller.signIn();
  near = await enrolTestAgent(admin.client, { url: controller.url });
  far = await enrolTestAgent(admin.client, { url: controller.url });
});
afterAll(async () => {
  await near?.close('stopped');
  await far?.close('stopped');
  await controller?.close();
});

const newTask = async (comment: string) => {
  const { data } = await admin.client.tasks.create({
    body: {
      comment,
      configuration: [
        {
          plugin: { id: 1 },
          values: {
            sources: [{ agent: { id: near.agentId } }],
            targets: [{ agent: { id: far.agentId } }],
            requestsPerSecond: 10,
            duration: { mode: 'time', seconds: 60 },
          },
        },
      ],
    },
  });
  return data;
};
const soon = (ms: number) => new Date(Date.now() + ms).toISOString();
const scheduleOf = async (id: number) => (await admin.client.tasks.schedules({ query: { taskID: id } })).data[0];

describe('a schedule', () => {
  it('tells what comes and where it gets into the way of others', async () => {
    const first = await newTask('first');
    const second = await newTask('second');
    const noon = { cron: '0 12 * * *', timezone: 'UTC' };
    await admin.client.tasks.schedule({ body: { id: first, ...noon } });
    const { data } = await admin.client.tasks.schedule({ body: { id: second, ...noon } });
    expect(data.conflicts.length).toBeGreaterThan(0);
    expect(data.conflicts[0]).toMatchObject({ taskID: first });
    const stored = await scheduleOf(second);
    expect(stored).toMatchObject({ enabled: true, kind: 'cron', cron: '0 12 * * *', nextRunAt: data.nextRunAt });
    expect(stored?.upcoming.length).toBeGreaterThanOrEqual(7);
    expect(stored?.conflicts.length).toBe(data.conflicts.length);
  });

  it('keeps what a change leaves out', async () => {
    const id = await newTask('kept');
    await admin.client.tasks.schedule({ body: { id, cron: '0 12 * * *', timezone: 'Europe/Berlin', priority: 9 } });
    await admin.client.tasks.schedule({ body: { id, enabled: false } });
    expect(await scheduleOf(id)).toMatchObject({
      enabled: false,
      nextRunAt: null,
      timezone: 'Europe/Berlin',
      priority: 9,
    });
  });

  it('is refused with everything that is wrong with it', async () => {
    const id = await newTask('refused');
    const wrong = { id, cron: '99 * * * *', at: soon(-1000), timezone: 'UTC' };
    const error = await admin.client.tasks.schedule({ body: wrong }).catch((problem) => problem);
    expect(error).toMatchObject({ status: 400 });
    expect(error.data.issues.map(({ path }: { path: string }) => path).sort()).toEqual(['/at', '/cron', '/cron']);
    await expect(admin.client.tasks.schedule({ body: { id: 9999, cron: '0 12 * * *' } })).rejects.toMatchObject({
      status: 404,
    });
    await expect(admin.client.tasks.unschedule({ params: { id } })).rejects.toMatchObject({ status: 404 });
  });

  it('starts its task when the time comes, once, and is then over', async () => {
    const id = await newTask('due');
    await admin.client.tasks.schedule({ body: { id, at: soon(1200) } });
    await expect.poll(async () => (await admin.client.tasks.runs({ params: { id } })).data.length).toBe(1);
    expect(await scheduleOf(id)).toMatchObject({ enabled: false, nextRunAt: null });
    const { data } = await admin.client.tasks.runs({ params: { id } });
    expect((await scheduleOf(id))?.lastRunId).toBe(data[0]?.id);
    await admin.client.tasks.stop({ params: { id }, body: { mode: 'abort' } });
  });

  it('lets an occurrence pass while its task still runs, and tells its owner', async () => {
    const id = await newTask('busy');
    await admin.client.tasks.start({ params: { id }, body: { at: soon(600_000) } });
    await admin.client.tasks.schedule({ body: { id, at: soon(1200) } });
    await expect
      .poll(async () => {
        const { data } = await admin.client.notifications.list({ query: { count: 100 } });
        return data.filter(({ kind, entity }) => kind === 'schedule.skipped' && entity?.id === id).length;
      })
      .toBe(1);
    expect((await admin.client.tasks.runs({ params: { id } })).data).toHaveLength(1);
    await admin.client.tasks.stop({ params: { id }, body: { mode: 'abort' } });
  });

  it('is gone when it is removed', async () => {
    const id = await newTask('removed');
    await admin.client.tasks.schedule({ body: { id, cron: '0 12 * * *' } });
    await admin.client.tasks.unschedule({ params: { id } });
    expect(await scheduleOf(id)).toBeUndefined();
  });
});

describe('a scheduled run has the rights of its maker at that time, and does what the maker scheduled', () => {
  const changed = async (id: number, by: SignedIn, requestsPerSecond: number) => {
    const { data: task } = await by.client.tasks.get({ params: { id } });
    const [entry] = task.configuration;
    const configuration = [{ ...entry, values: { ...entry?.values, requestsPerSecond } }];
    await by.client.tasks.update({ body: { id, configuration } as never });
  };
  const failureOf = async (id: number) => {
    const messages = async () =>
      (await admin.client.notifications.list({ query: { count: 100 } })).data
        .filter(({ kind, entity }) => kind === 'schedule.failed' && entity?.id === id)
        .map(({ message }) => message);
    await expect.poll(messages).toHaveLength(1);
    return (await messages())[0];
  };
  const runsOf = async (id: number) => (await admin.client.tasks.runs({ params: { id } })).data.length;

  it('is refused after another user changed the task', async () => {
    const id = await newTask('changed by another');
    const other = await controller.signInWith(admin, [41, 42, 31]);
    await admin.client.tasks.schedule({ body: { id, at: soon(3000) } });
    await changed(id, other, 11);
    expect(await failureOf(id)).toContain('another user changed the task');
    expect(await runsOf(id)).toBe(0);
  });

  it('follows changes of its maker', async () => {
    const id = await newTask('changed by its maker');
    await admin.client.tasks.schedule({ body: { id, at: soon(3000) } });
    await changed(id, admin, 12);
    await expect.poll(() => runsOf(id)).toBe(1);
    await admin.client.tasks.stop({ params: { id }, body: { mode: 'abort' } });
  });

  it('is refused once its maker may not run tasks', async () => {
    const id = await newTask('of a demoted user');
    const maker = await controller.signInWith(admin, [41, 42, 43, 31]);
    await maker.client.tasks.schedule({ body: { id, at: soon(4000) } });
    await admin.client.groups.update({ body: { id: maker.groupID, permissions: [{ value: 41 }, { value: 42 }] } });
    await expect
      .poll(async () => (await maker.client.notifications.list({ query: { count: 100 } })).data[0]?.message)
      .toContain('lost the permission tasks.execute');
    expect(await runsOf(id)).toBe(0);
  });
});
