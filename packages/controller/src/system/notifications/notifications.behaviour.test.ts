import type { Client } from '@rushhour/client';
import { describe, expect, it } from 'vitest';
import { notify } from '../../store/system/notifications.ts';
import { refused } from '../../testing/refused.ts';
import { useTestController } from '../../testing/use-controller.ts';

const controller = await useTestController();
const administrator = await controller.signIn();

const publish = (
  message: string,
  audience: Parameters<typeof notify>[2]['audience'] = { permission: 'settings.read' },
) =>
  controller.store.change({ userId: null, address: '', requestId: 'test', operation: 'test' }, (tx) =>
    notify(tx, controller.bus, { severity: 'info', kind: 'test', message, audience }),
  );

type Event = { id?: string; event: string; data: unknown };

/** Opens a stream and collects events until there are enough. */
const collect = async (
  client: Client,
  count: number,
  options: { headers?: Record<string, string>; types?: string } = {},
  act = async () => {},
) => {
  const abort = new AbortController();
  const { headers, types } = options;
  const stream = await client.notifications.stream(
    { query: types ? { types } : {} },
    { signal: abort.signal, ...(headers && { headers }) },
  );
  const events: Event[] = [];
  const reading = (async () => {
    for await (const event of stream) {
      events.push(event as Event);
      if (events.length >= count) break;
    }
  })();
  await act();
  await reading;
  abort.abort();
  return events;
};

describe('notifications', () => {
  it('reach only those they are for', async () => {
    const viewer = await controller.signInWith(administrator, [201]);
    await publish('for settings readers');
    await publish('for the viewer', { userID: viewer.id });
    const messages = async (client: Client) => (await client.notifications.list()).data.map(({ message }) => message);
    expect(await messages(viewer.client)).toEqual(['for the viewer']);
    expect(await messages(administrator.client)).toContain('for settings readers');
    expect(await messages(administrator.client)).not.toContain('for the viewer');
  });

  it('count as read up to a mark that never moves back', async () => {
    await publish('unread');
    const url = `${controller.url}/v1/notifications`;
    expect(Number((await administrator.send(url)).headers.get('x-unread-count'))).toBeGreaterThan(0);
    const { data } = await administrator.client.notifications.read();
    expect(data.unread).toBe(0);
    expect(
      (await administrator.client.notifications.read({ body: { at: '2020-01-01T00:00:00.000Z' } })).data
        .notificationsReadAt,
    ).toBe(data.notificationsReadAt);
    await publish('later');
    const unread = await administrator.client.notifications.list({ query: { unread: true } });
    expect(unread.data).toMatchObject([{ message: 'later', read: false }]);
    await expect(
      administrator.client.notifications.read({ body: { at: '2999-01-01T00:00:00.000Z' } }),
    ).rejects.toMatchObject({ status: 400 });
  });

  it('arrive as they happen, with task and agent states', async () => {
    const events = await collect(administrator.client, 3, {}, async () => {
      await publish('live');
      controller.bus.publish('task.status', { id: 5, status: 4, permission: 41 });
      controller.bus.publish('agent.status', { id: 2, status: 1, permission: 31 });
    });
    expect(events).toMatchObject([
      { id: expect.stringMatching(/^\d+$/), event: 'notification', data: { message: 'live' } },
      { event: 'task.status', data: { id: 5, status: 4 } },
      { event: 'agent.status', data: { id: 2, status: 1 } },
    ]);
  });

  it('are taken up again where the client left off', async () => {
    await publish('one');
    const { data } = await administrator.client.notifications.list({ query: { count: 1 } });
    for (const message of ['two', 'three']) await publish(message);
    const missed = await collect(administrator.client, 2, { headers: { 'last-event-id': String(data[0]?.id) } });
    expect(missed.map((event) => (event.data as { message: string }).message)).toEqual(['two', 'three']);
    const [first] = await collect(administrator.client, 1, { headers: { 'last-event-id': '999999' } });
    expect(first).toMatchObject({ event: 'resync' });
  });

  it('stream only the wanted types, and only what one may see', async () => {
    const viewer = await controller.signInWith(administrator, [31]);
    const events = await collect(viewer.client, 1, { types: 'task.status,agent.status' }, async () => {
      await publish('not wanted');
      controller.bus.publish('task.status', { id: 1, status: 4, permission: 41 });
      controller.bus.publish('agent.status', { id: 9, status: 1, permission: 31 });
    });
    expect(events).toEqual([{ event: 'agent.status', data: { id: 9, status: 1 } }]);
  });

  it('stop at the limit of streams of a user', async () => {
    const viewer = await controller.signInWith(administrator, [31]);
    await administrator.client.settings.update({ body: { limits: { streamsPerUser: 2 } } });
    const abort = new AbortController();
    for (let n = 0; n < 2; n += 1) await viewer.client.notifications.stream({}, { signal: abort.signal });
    await expect(viewer.client.notifications.stream()).rejects.toEqual(refused(429, 'TOO_MANY_STREAMS'));
    abort.abort();
  });
});
