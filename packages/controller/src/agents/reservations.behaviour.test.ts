import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { statement } from '../store/engine/statement.ts';
import { enrolTestAgent, type TestAgent } from '../testing/agent.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { refused } from '../testing/refused.ts';

let controller: TestController;
let administrator: SignedIn;
let anna: SignedIn & { id: number };
let ben: SignedIn & { id: number };
let agents: TestAgent[];
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  anna = await controller.signInWith(administrator, [31, 33], 'anna');
  ben = await controller.signInWith(administrator, [31, 33], 'ben');
  agents = await Promise.all(
    Array.from({ length: 3 }, () => enrolTestAgent(administrator.client, { url: controller.url })),
  );
});
beforeEach(() => administrator.client.agents.release({ body: { array: ids(), force: true } }));
afterAll(() => controller.close());

const ids = () => agents.map(({ agentId }) => agentId);
const first = () => ids()[0] as number;
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
const reservationOf = async (id: number) => (await anna.client.agents.get({ params: { id } })).data.reservation;
const reserve = (who: SignedIn, array: number[], more: object = {}) =>
  who.client.agents.reserve({ body: { array, reason: 'measuring', ...more } });

describe('a reservation', () => {
  it('has an owner, a reason, an end, and a number that rises', async () => {
    const until = inSeconds(60);
    const { data } = await reserve(anna, [first()], { until });
    const [{ fence = 0 } = {}] = data;
    expect(data).toEqual([{ id: first(), ok: true, fence: expect.any(Number) }]);
    expect(await reservationOf(first())).toEqual({
      ...{ userID: anna.id, reason: 'measuring', until, taskID: null },
      user: { id: anna.id, email: 'anna@example.test', realName: 'anna' },
    });
    const { data: again } = await reserve(anna, [first()]);
    expect(again).toEqual([{ id: first(), ok: true, fence: fence + 1 }]);
  });

  it('goes to exactly one of several simultaneous requests', async () => {
    const outcomes = await Promise.allSettled([anna, ben, anna, ben].map((who) => reserve(who, [first()])));
    const owner = (await reservationOf(first()))?.userID;
    const isLoss = (outcome: PromiseSettledResult<unknown>) => outcome.status === 'rejected';
    const losers = owner === anna.id ? [1, 3] : [0, 2];
    expect(outcomes.map(isLoss)).toEqual([0, 1, 2, 3].map((i) => losers.includes(i)));
  });

  it('of another is a conflict that names the owner; of several agents those that are free are taken', async () => {
    await reserve(anna, [first()]);
    await expect(reserve(ben, [first()])).rejects.toMatchObject({
      ...{ status: 409, data: { code: 'RESERVED', owner: { id: anna.id, realName: 'anna' } } },
    });
    const { data } = await reserve(ben, [...ids(), 9999]);
    expect(data.map(({ ok, code }) => [ok, code])).toEqual([
      [false, 'RESERVED'],
      [true, undefined],
      [true, undefined],
      [false, 'NOT_FOUND'],
    ]);
    expect(data[0]?.owner).toMatchObject({ id: anna.id });
  });

  it('can be taken over only with the permission, and the owner is notified', async () => {
    await reserve(anna, [first()]);
    await expect(reserve(ben, [first()], { force: true })).rejects.toEqual(refused(403, 'FORBIDDEN'));
    await reserve(administrator, [first()], { force: true });
    expect((await reservationOf(first()))?.userID).toBe(1);
    const { data } = await anna.client.notifications.list({ query: {} });
    expect(data[0]).toMatchObject({ kind: 'agent.reservation', entity: { type: 'agent', id: first() } });
  });

  it('ends by itself, without anybody doing anything', async () => {
    await reserve(anna, [first()]);
    const expire = statement((db, p: { id: number }) =>
      db.updateTable('agents').set({ reservedUntil: '2020-01-01T00:00:00.000Z' }).where('id', '=', p.id),
    );
    await controller.store.database.transaction((tx) => expire.all(tx, { id: first() }));
    expect(await reservationOf(first())).toBeNull();
    const { data } = await reserve(ben, [first()]);
    expect(data[0]?.ok).toBe(true);
  });

  it('must end in the future, and not beyond the longest time', async () => {
    const wrong = { status: 400, data: { issues: [{ path: '/until' }] } };
    await expect(reserve(anna, [first()], { until: inSeconds(-1) })).rejects.toMatchObject(wrong);
    await expect(reserve(anna, [first()], { until: inSeconds(86_400 + 60) })).rejects.toMatchObject(wrong);
    await expect(reserve(anna, [first()], { until: '2036-12-31T23:59:60Z' })).rejects.toMatchObject(wrong);
    await expect(reserve(anna, [9999])).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('is given back by its owner, and by others only with the permission', async () => {
    await reserve(anna, [first()]);
    const release = (who: SignedIn, array: number[], force = false) =>
      who.client.agents.release({ body: { array, force } });
    await expect(release(ben, [first()])).rejects.toEqual(refused(403, 'NOT_OWNER'));
    await expect(release(ben, [first()], true)).rejects.toEqual(refused(403, 'FORBIDDEN'));
    expect((await release(ben, ids())).data.map(({ ok }) => ok)).toEqual([false, true, true]);
    expect(await release(anna, [first()])).toEqual({ data: [{ id: first(), ok: true }] });
    expect(await reservationOf(first())).toBeNull();
    expect(await release(anna, [first()])).toEqual({ data: [{ id: first(), ok: true }] });
  });
});
