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

const viewers = 4;
const newUser = async (name: string, groupID = viewers) => {
  const { users } = administrator.client;
  const credentials = await users.create({ body: { email: `${name}@example.test`, realName: name, groupID } });
  const { data } = await users.list({ query: { count: 10, offset: 0, search: `${name}@` } });
  return { ...credentials, id: data[0]?.id as number };
};

describe('users', () => {
  it('are created with temporary credentials and listed with their group', async () => {
    const { id } = await newUser('ada');
    expect(await administrator.client.users.get({ params: { id } })).toMatchObject({
      id,
      email: 'ada@example.test',
      realName: 'ada',
      groupID: viewers,
      group: { id: viewers, name: 'Viewers' },
      isActive: true,
      isRequiredToSetPassword: true,
      passwordLength: 16,
      lastLogin: null,
      deletedAt: null,
    });
  });

  it('are found by search, group and state', async () => {
    const { id } = await newUser('Grace-Hopper', 2);
    const { users } = administrator.client;
    const idsOf = async (query: object) =>
      (await users.list({ query: { count: 100, offset: 0, ...query } })).data.map((user) => user.id);
    expect(await idsOf({ search: 'gRACE' })).toEqual([id]);
    expect(await idsOf({ search: '%' })).toEqual([]);
    expect(await idsOf({ groupID: 2 })).toEqual([id]);
    await users.block({ body: { array: [id] } });
    expect(await idsOf({ isActive: false })).toEqual([id]);
  });

  it('are refused with every problem at once', async () => {
    const response = await administrator.send(`${controller.url}/v1/users`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'no address', groupID: '1', realName: '', nickname: 'x', passwordLength: 5 }),
    });
    expect(response.status).toBe(400);
    const { data } = (await response.json()) as { data: { code: string; issues: { path: string }[] } };
    expect(new Set(data.issues.map(({ path }) => path))).toEqual(
      new Set(['/email', '/groupID', '/realName', '/nickname', '/passwordLength']),
    );
  });

  it('need an address of their own and a group that exists', async () => {
    await newUser('twin');
    const { users } = administrator.client;
    await expect(
      users.create({ body: { email: 'TWIN@example.test', realName: 'x', groupID: viewers } }),
    ).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/email', code: 'DUPLICATE' }] },
    });
    await expect(
      users.create({ body: { email: 'a@example.test', realName: 'x', groupID: 999 } }),
    ).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/groupID', code: 'UNKNOWN_GROUP' }] },
    });
  });

  it('take back the whole record they were read as', async () => {
    const { id } = await newUser('whole');
    const record = await administrator.client.users.get({ params: { id } });
    await administrator.client.users.update({ body: { ...record, realName: 'Whole Again' } as never });
    expect(await administrator.client.users.get({ params: { id } })).toMatchObject({
      realName: 'Whole Again',
      email: record.email,
    });
  });

  it('leave an address free once they are deleted', async () => {
    const { id } = await newUser('leaver');
    await administrator.client.users.remove({ params: { id } });
    await expect(administrator.client.users.get({ params: { id } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await newUser('leaver');
  });

  it('lose their sessions with a block and can be let in again', async () => {
    const user = await controller.signInWith(administrator, [201]);
    await administrator.client.users.block({ body: { array: [user.id] } });
    await expect(user.client.users.me()).rejects.toEqual(refused(401, 'UNAUTHENTICATED'));
    await administrator.client.users.unblock({ body: { array: [user.id] } });
    await controller.signIn(user);
  });

  it('get a new temporary password that replaces the old one', async () => {
    const user = await controller.signInWith(administrator, [201]);
    const credentials = await administrator.client.users.resetPassword({ params: { id: user.id } });
    await expect(controller.signIn(user)).rejects.toEqual(refused(401, 'WRONG_CREDENTIALS'));
    expect((await (await controller.signIn(credentials)).client.users.me()).data.isRequiredToSetPassword).toBe(true);
  });
});

describe('nobody', () => {
  it('deletes, blocks or demotes the last administrator, nor themselves', async () => {
    const { users } = administrator.client;
    await expect(users.remove({ params: { id: 1 } })).rejects.toEqual(refused(409, 'SELF'));
    await expect(users.block({ body: { array: [1] } })).rejects.toEqual(refused(409, 'SELF'));
    await expect(users.update({ body: { id: 1, groupID: viewers } })).rejects.toEqual(
      refused(409, 'LAST_ADMINISTRATOR'),
    );
    await expect(users.removeMany({ body: { array: [1, 77_777] } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('raises themselves through another account', async () => {
    const write = [
      permissions['users.read'],
      permissions['users.write'],
      permissions['users.password'],
      permissions['users.block'],
    ];
    const clerk = await controller.signInWith(administrator, write);
    const { users } = clerk.client;
    await expect(users.create({ body: { email: 'me2@example.test', realName: 'x', groupID: 1 } })).rejects.toEqual(
      refused(403, 'CANNOT_GRANT'),
    );
    await expect(users.update({ body: { id: clerk.id, groupID: 1 } })).rejects.toEqual(refused(403, 'CANNOT_GRANT'));
    await expect(users.resetPassword({ params: { id: 1 } })).rejects.toEqual(refused(403, 'FORBIDDEN'));
    await expect(users.block({ body: { array: [1] } })).rejects.toEqual(refused(403, 'FORBIDDEN'));
    await users.create({ body: { email: 'peer@example.test', realName: 'x', groupID: clerk.groupID } });
  });
});

it('my own record holds what I may do, and keeps my preferences', async () => {
  const user = await controller.signInWith(administrator, [201, 41]);
  await user.client.users.updateMe({ body: { realName: 'Renamed', preferences: { theme: 'dark' } } });
  await user.client.users.updateMe({ body: { preferences: { density: 2 } } });
  expect((await user.client.users.me()).data).toMatchObject({
    realName: 'Renamed',
    permissions: [201, 41],
    preferences: { theme: 'dark', density: 2 },
    agreementAccepted: false,
  });
  expect((await administrator.client.users.me()).data.permissions).toHaveLength(Object.keys(permissions).length);
});

describe('an Idempotency-Key', () => {
  const create = (key: string, email: string) =>
    administrator.send(`${controller.url}/v1/users`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ email, realName: 'Once', groupID: viewers }),
    });

  it('makes a repeated request answer as the first, also when both come at once', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => create('k1', 'once@example.test')));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true')).toHaveLength(3);
    const { cursor } = await administrator.client.users.list({ query: { count: 10, offset: 0, search: 'once@' } });
    expect(cursor.totalRows).toBe(1);
  });

  it('is refused with another body, when empty and when too long', async () => {
    expect((await create('k1', 'other@example.test')).status).toBe(409);
    expect((await create('', 'other@example.test')).status).toBe(400);
    expect((await create('x'.repeat(256), 'other@example.test')).status).toBe(400);
  });

  it('keeps no password in clear', async () => {
    const answer = (await (await create('k2', 'sealed@example.test')).json()) as { password: string };
    const rows = JSON.stringify(
      await controller.store.read.run({ name: '', sql: 'select * from "idempotencyKeys"' }, []),
    );
    expect(rows).not.toContain(answer.password);
  });
});

it('records are accepted as they were read, every member included', async () => {
  const user = await controller.signInWith(administrator, [201]);
  const { data: own } = await user.client.users.me();
  const patch = async ({ send }: SignedIn, path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const reply = await send(`${controller.url}/v1${path}`, { method: 'PATCH', headers, body: JSON.stringify(body) });
    return [reply.status, await reply.text()];
  };
  expect(await patch(user, '/users/me', own)).toEqual([200, '{"data":{}}']);
  const { agreementAccepted, notificationsReadAt } = own;
  const record = { ...(await administrator.client.users.get({ params: { id: user.id } })) };
  expect(await patch(administrator, '/users', { ...record, agreementAccepted, notificationsReadAt })).toEqual([
    200,
    '',
  ]);
  await user.client.users.updateMe({ body: { agreementAccepted: true } });
  await user.client.users.updateMe({ body: { agreementAccepted: false } });
  expect((await user.client.users.me()).data.agreementAccepted).toBe(true);
});
