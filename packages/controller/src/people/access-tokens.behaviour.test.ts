import { createClient, type Send } from '@rushhour/client';
import { permissions } from '@rushhour/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { refused } from '../testing/refused.ts';
import { accessTokensOf } from './access-tokens.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const withToken = (token: string) => {
  const send: Send = (url, init = {}) =>
    fetch(url, { ...init, headers: { ...(init.headers as object), authorization: `Bearer ${token}` } });
  return createClient(controller.url, send);
};

const tokenOf = async (person: SignedIn, body: { name: string; scopes?: string[]; ttlDays?: number }) => {
  const { data } = await person.client.users.updateMe({ body: { createToken: body as never } });
  return { token: data.token ?? '', id: data.tokenID ?? 0 };
};

const held = [permissions['tasks.read'], permissions['tasks.execute']];
const newPerson = (name: string) => controller.signInWith(administrator, held, name);

it('acts for its user, with all permissions or those of its scopes', async () => {
  const all = withToken((await tokenOf(administrator, { name: 'all' })).token);
  expect((await all.users.me()).data.email).toBe((await administrator.client.users.me()).data.email);
  await all.projects.create({ body: { name: 'by token' } });
  const narrow = withToken((await tokenOf(administrator, { name: 'narrow', scopes: ['projects.read'] })).token);
  expect((await narrow.projects.list({ query: {} as never })).data.map(({ name }) => name)).toContain('by token');
  await expect(narrow.projects.create({ body: { name: 'other' } })).rejects.toEqual(refused(403, 'FORBIDDEN'));
  await expect(narrow.users.list({ query: { count: 10, offset: 0 } })).rejects.toEqual(refused(403, 'FORBIDDEN'));
});

it('is shown once, listed without its secret and stored as a hash', async () => {
  const { token, id } = await tokenOf(administrator, { name: 'ci', ttlDays: 2 });
  expect(token).toMatch(/^rh_pat_[A-Za-z0-9_-]{43}$/);
  const me = (await administrator.client.users.me()).data;
  const shown = me.accessTokens.find((one) => one.id === id);
  expect(shown).toMatchObject({ name: 'ci', prefix: token.slice(0, 13), scopes: [] });
  expect(Date.parse(shown?.expiresAt ?? '') - Date.now()).toBeGreaterThan(1.9 * 86_400_000);
  expect(JSON.stringify(me)).not.toContain(token);
  const sql = 'SELECT * FROM "accessTokens"';
  expect(JSON.stringify(await controller.store.read.run({ name: '', sql }, []))).not.toContain(token);
  const audit = await controller.store.read.run({ name: '', sql: 'SELECT * FROM "audit"' }, []);
  expect(JSON.stringify(audit)).toContain('users.updateMe');
  expect(JSON.stringify(audit)).not.toContain(token);
});

it('ends when it is revoked, with every other token still working', async () => {
  const [one, two] = [await tokenOf(administrator, { name: 'one' }), await tokenOf(administrator, { name: 'two' })];
  await administrator.client.users.updateMe({ body: { revokeTokens: [one.id] } });
  await expect(withToken(one.token).users.me()).rejects.toEqual(refused(401, 'INVALID_TOKEN'));
  expect((await withToken(two.token).users.me()).data.id).toBe(1);
  await expect(administrator.client.users.updateMe({ body: { revokeTokens: [two.id, 9999] } })).rejects.toEqual(
    refused(404, 'NOT_FOUND'),
  );
  expect((await withToken(two.token).users.me()).data.id).toBe(1);
});

it('ends when its user is blocked, and does not return with them', async () => {
  const person = await newPerson('erin');
  const { token } = await tokenOf(person, { name: 'erin' });
  const { id } = (await withToken(token).users.me()).data;
  await administrator.client.users.block({ body: { array: [id] } });
  await expect(withToken(token).users.me()).rejects.toEqual(refused(401, 'INVALID_TOKEN'));
  await administrator.client.users.unblock({ body: { array: [id] } });
  await expect(withToken(token).users.me()).rejects.toEqual(refused(401, 'INVALID_TOKEN'));
  expect(await accessTokensOf(controller.store.read, id)).toEqual([]);
});

it('loses what its user loses', async () => {
  const person = await newPerson('frank');
  const { token } = await tokenOf(person, { name: 'frank', scopes: ['tasks.execute', 'tasks.read'] });
  const { id } = (await withToken(token).users.me()).data;
  const start = () => withToken(token).tasks.start({ params: { id: 9999 } });
  await expect(start()).rejects.toEqual(refused(404, 'NOT_FOUND'));
  await administrator.client.users.update({ body: { id, groupID: 4 } });
  await expect(start()).rejects.toEqual(refused(403, 'FORBIDDEN'));
});

it('cannot do what needs the person: passwords, sign-out, tokens', async () => {
  const client = withToken((await tokenOf(administrator, { name: 'all' })).token);
  const calls = [
    () => client.users.updateMe({ body: { createToken: { name: 'more' } } }),
    () => client.auth.password({ body: { currentPassword: 'x', newPassword: 'y' } }),
    () => client.auth.logout(),
  ];
  for (const call of calls) await expect(call()).rejects.toEqual(refused(403, 'TOKEN_NOT_ALLOWED'));
});

it('is refused when it is not one, and never falls back to a cookie', async () => {
  const unknown = `rh_pat_${'A'.repeat(43)}`;
  await expect(withToken(unknown).users.me()).rejects.toEqual(refused(401, 'INVALID_TOKEN'));
  const both = await administrator.send(`${controller.url}/v1/users/me`, {
    headers: { authorization: `Bearer ${unknown}` },
  });
  expect(both.status).toBe(401);
});
