import { afterAll, beforeAll, expect, it } from 'vitest';
import { statement } from '../../store/engine/statement.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';
import { newTestKey } from '../gateway/testing/key.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const keyAdmin = [41, 161, 162];
const age = statement((db, p: { userID: number; createdAt: string }) =>
  db.updateTable('sessions').set({ createdAt: p.createdAt }).where('userID', '=', p.userID),
);

it('rotating or loosening a key of another user needs an administrator; taking away does not', async () => {
  const { key } = await newTestKey(controller, administrator, { scopes: ['tasks:read'], ipAllowlist: ['10.0.0.0/8'] });
  const { client } = await controller.signInWith(administrator, keyAdmin);
  const { id } = key;
  const loosening = [
    { rotate: true },
    { expiresAt: new Date(Date.parse(key.expiresAt) + 86_400_000).toISOString() },
    { ipAllowlist: [] },
    { ipAllowlist: ['10.0.0.0/8', '192.0.2.1'] },
    { constraints: { maxPps: 1_000_000 } },
    { limits: { requestsPerMin: 600 } },
    { policy: { R2: 'human' as const } },
  ];
  for (const change of loosening) {
    await expect(client.aiAdmin.updateKey({ body: { id, ...change } })).rejects.toEqual(refused(403, 'NOT_KEY_OWNER'));
  }
  await client.aiAdmin.updateKey({ body: { id, isActive: false, name: 'renamed' } });
  await expect(client.aiAdmin.updateKey({ body: { id, isActive: true } })).rejects.toEqual(
    refused(403, 'NOT_KEY_OWNER'),
  );
  await administrator.client.aiAdmin.updateKey({ body: { id, isActive: true } });
  await client.aiAdmin.updateKey({ body: { id, revoked: true } });
});

it('an end that is cleared is the default one again', async () => {
  const soon = new Date(Date.now() + 86_400_000).toISOString();
  const { key } = await newTestKey(controller, administrator, { scopes: ['tasks:read'], expiresAt: soon });
  await administrator.client.aiAdmin.updateKey({ body: { id: key.id, expiresAt: null } });
  const { data } = await administrator.client.aiAdmin.keys({ query: { key: 'expiresAt' } });
  const changed = data.find(({ id }) => id === key.id);
  expect(Date.parse(changed?.expiresAt ?? '') - Date.parse(key.createdAt)).toBe(90 * 86_400_000);
});

it('the owner needs the rights of the scopes and a recent sign-in', async () => {
  const owner = await controller.signInWith(administrator, keyAdmin);
  const { key } = await newTestKey(controller, owner, { scopes: ['tasks:read'] });
  const rotate = () => owner.client.aiAdmin.updateKey({ body: { id: key.id, rotate: true } });
  expect((await rotate()).data?.secret).toMatch(/^rh_ai_/);
  await administrator.client.groups.update({
    body: { id: owner.groupID, permissions: [{ value: 161 }, { value: 162 }] },
  });
  await expect(rotate()).rejects.toEqual(refused(403, 'SCOPE_BEYOND_RIGHTS'));
  await administrator.client.groups.update({
    body: { id: owner.groupID, permissions: keyAdmin.map((value) => ({ value })) },
  });
  const createdAt = new Date(Date.now() - 20 * 60_000).toISOString();
  await controller.store.database.transaction((tx) => age.all(tx, { userID: owner.id, createdAt }));
  await expect(rotate()).rejects.toEqual(refused(403, 'REAUTHENTICATION_REQUIRED'));
  await owner.client.aiAdmin.updateKey({ body: { id: key.id, isActive: false } });
});
