import { aiScopes, permissions } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { callWith, newTestKey } from './testing/key.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const limits = { requestsPerMin: 10_000, writesPerMin: 10_000, parallel: 100 };

describe('a key', () => {
  it('is shown once, opens the gateway by header and as a bearer token, and can read its own identity', async () => {
    const { key, secret, call } = await newTestKey(controller, administrator, { scopes: ['tasks:read'], limits });
    expect(secret).toMatch(/^rh_ai_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/);
    const { status, body, headers } = await call('GET', '/whoami');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ id: key.id, scopes: ['tasks:read'], policy: { R2: 'same-key', version: 1 } });
    expect(headers.get('ratelimit-policy')).toBe('"rpm";q=10000;w=60');
    expect(headers.get('ratelimit')).toMatch(/^"rpm";r=\d+;t=\d+$/);
    expect(headers.get('x-request-id')).toBeTruthy();
    const bearer = await callWith(controller.url, undefined)('GET', '/whoami', undefined, {
      authorization: `Bearer ${secret}`,
    });
    expect(bearer.status).toBe(200);
    const listed = await administrator.client.aiAdmin.keys({ query: {} });
    expect(JSON.stringify(listed)).not.toContain(secret.slice(20, 50));
  });

  it('is refused when two headers disagree, when none is there, and with a cookie alone', async () => {
    const { secret, call } = await newTestKey(controller, administrator, { scopes: ['tasks:read'], limits });
    const other = await newTestKey(controller, administrator, { scopes: ['tasks:read'], limits });
    const both = await call('GET', '/whoami', undefined, { authorization: `Bearer ${other.secret}` });
    expect([both.status, both.body.data.code]).toEqual([401, 'AI_KEY_INVALID']);
    expect((await call('GET', '/whoami', undefined, { authorization: `Bearer ${secret}` })).status).toBe(200);
    const none = await callWith(controller.url, undefined)('GET', '/whoami');
    expect([none.status, none.body.data.code, none.body.data.retryable]).toEqual([401, 'AI_KEY_MISSING', false]);
    expect((await administrator.send(`${controller.url}/v1/ai/gateway/whoami`)).status).toBe(401);
  });

  it('opens nothing but the gateway, not even beside a session', async () => {
    const { secret } = await newTestKey(controller, administrator, { scopes: ['tasks:read'], limits });
    const headers = { 'x-api-key': secret };
    expect((await fetch(`${controller.url}/v1/tasks`, { headers })).status).toBe(401);
    expect((await administrator.send(`${controller.url}/v1/tasks`, { headers })).status).toBe(401);
    const bearer = { authorization: `Bearer ${secret}` };
    expect((await administrator.send(`${controller.url}/v1/tasks`, { headers: bearer })).status).toBe(401);
  });

  it('can be disabled, enabled, rotated with and without grace, and revoked for ever', async () => {
    const { key, secret, call } = await newTestKey(controller, administrator, { scopes: ['tasks:read'], limits });
    const { aiAdmin } = administrator.client;
    await aiAdmin.updateKey({ body: { id: key.id, isActive: false } });
    expect((await call('GET', '/whoami')).body.data.code).toBe('AI_KEY_INVALID');
    await aiAdmin.updateKey({ body: { id: key.id, isActive: true } });
    expect((await call('GET', '/whoami')).status).toBe(200);
    const { data: graced } = await aiAdmin.updateKey({ body: { id: key.id, rotate: true, graceSec: 60 } });
    const second = callWith(controller.url, graced?.secret);
    expect([(await call('GET', '/whoami')).status, (await second('GET', '/whoami')).status]).toEqual([200, 200]);
    const { data: sudden } = await aiAdmin.updateKey({ body: { id: key.id, rotate: true } });
    expect([(await call('GET', '/whoami')).status, (await second('GET', '/whoami')).status]).toEqual([401, 401]);
    const third = callWith(controller.url, sudden?.secret);
    expect((await third('GET', '/whoami')).status).toBe(200);
    await aiAdmin.updateKey({ body: { id: key.id, revoked: true } });
    expect((await third('GET', '/whoami')).status).toBe(401);
    await expect(aiAdmin.updateKey({ body: { id: key.id, isActive: true } })).rejects.toMatchObject({ status: 409 });
    expect(secret).not.toBe(sudden?.secret);
  });

  it('has a name of its own', async () => {
    const { aiAdmin } = administrator.client;
    const draft = { scopes: ['tasks:read' as const] };
    const { data } = await aiAdmin.createKey({ body: { name: 'the one', ...draft } });
    const taken = { status: 409, data: { code: 'DUPLICATE', id: data.key.id } };
    await expect(aiAdmin.createKey({ body: { name: 'the one', ...draft } })).rejects.toMatchObject(taken);
    const { key } = await newTestKey(controller, administrator, draft);
    await expect(aiAdmin.updateKey({ body: { id: key.id, name: 'the one' } })).rejects.toMatchObject(taken);
    await aiAdmin.updateKey({ body: { id: data.key.id, name: 'the one' } });
  });

  it('dies with its owner’s rights, at once', async () => {
    const owner = await controller.signInWith(administrator, [
      permissions['aiAdmin.write'],
      permissions['tasks.read'],
      permissions['agents.read'],
    ]);
    const { call } = await newTestKey(controller, owner, { scopes: ['tasks:read', 'agents:read'], limits });
    expect((await call('GET', '/tasks')).status).toBe(200);
    await administrator.client.groups.update({
      body: { id: owner.groupID, permissions: [{ value: permissions['tasks.read'] }] },
    });
    const denied = await call('GET', '/agents');
    expect([denied.status, denied.body.data.code]).toEqual([403, 'AI_SCOPE_MISSING']);
    expect((await call('GET', '/tasks')).status).toBe(200);
    await administrator.client.users.block({ body: { array: [owner.id] } });
    expect((await call('GET', '/tasks')).status).toBe(401);
    await administrator.client.users.unblock({ body: { array: [owner.id] } });
    expect((await call('GET', '/tasks')).status).toBe(200);
  });

  it('cannot be given more than its maker may do, nor a life of more than a year, nor auto traffic', async () => {
    const maker = await controller.signInWith(administrator, [permissions['aiAdmin.write']]);
    await expect(newTestKey(controller, maker, { scopes: [...aiScopes] })).rejects.toMatchObject({ status: 403 });
    const expiresAt = new Date(Date.now() + 400 * 86_400_000).toISOString();
    await expect(
      newTestKey(controller, administrator, {
        scopes: ['tasks:read'],
        expiresAt,
        ipAllowlist: ['nowhere'],
        policy: { R2: 'auto' },
      }),
    ).rejects.toMatchObject({ status: 400 });
  });

  it('is bound to its addresses and to the switch of the gateway', async () => {
    const elsewhere = await newTestKey(controller, administrator, {
      scopes: ['tasks:read'],
      ipAllowlist: ['192.0.2.0/24'],
      limits,
    });
    const refused = await elsewhere.call('GET', '/whoami');
    expect([refused.status, refused.body.data.code]).toEqual([403, 'AI_CONSTRAINT']);
    const here = await newTestKey(controller, administrator, {
      scopes: ['tasks:read'],
      ipAllowlist: ['127.0.0.0/8', '::1'],
      limits,
    });
    expect((await here.call('GET', '/whoami')).status).toBe(200);
    await administrator.client.settings.update({ body: { ai: { enabled: false } } });
    expect((await here.call('GET', '/whoami')).body.data.code).toBe('AI_GATEWAY_DISABLED');
    await administrator.client.settings.update({ body: { ai: { enabled: true } } });
    expect((await here.call('GET', '/whoami')).status).toBe(200);
  });
});

it('calls beyond the limits are refused with the time to wait', async () => {
  const { call } = await newTestKey(controller, administrator, {
    scopes: ['tasks:read'],
    limits: { requestsPerMin: 2 },
  });
  const statuses = [];
  for (let i = 0; i < 6; i += 1) statuses.push((await call('GET', '/whoami')).status);
  expect(statuses.slice(0, 4)).toEqual([200, 200, 200, 200]);
  expect(statuses.slice(4)).toEqual([429, 429]);
  expect(Number((await call('GET', '/whoami')).headers.get('retry-after'))).toBeGreaterThan(0);
});

it('a new key needs a fresh password', async () => {
  const visitor = await controller.signIn();
  const { data } = await visitor.client.users.me();
  const before = new Date(Date.now() - 16 * 60_000).toISOString();
  await controller.store.database.transaction((tx) =>
    tx.run(
      { name: 'age', sql: `update sessions set "createdAt" = '${before}' where "userID" = ${data.id}` } as never,
      [],
    ),
  );
  await expect(newTestKey(controller, visitor, { scopes: ['tasks:read'] })).rejects.toMatchObject({ status: 403 });
  administrator = await controller.signIn();
});

it('whatever a key does is entered in the audit, once each, and the chain stays whole', async () => {
  const { key, call } = await newTestKey(controller, administrator, {
    scopes: ['tasks:read', 'audit:read', 'drafts:write'],
    limits,
  });
  await call('GET', '/tasks');
  await call('GET', '/agents');
  await call('GET', '/tasks/999999');
  await call('POST', '/drafts', 'not an object');
  const read = () => administrator.client.aiAdmin.activity({ query: { kind: 'audit', keyId: key.id, verify: true } });
  await expect.poll(async () => (await read()).cursor.totalRows).toBe(4);
  const { body } = await call('GET', '/audit');
  const rows = body.data.map((row: Record<string, unknown>) => [row['operationId'], row['outcome'], row['httpStatus']]);
  expect(rows).toEqual([
    ['aiGateway.createDraft', 'denied', 400],
    ['aiGateway.task', 'denied', 404],
    ['aiGateway.agents', 'denied', 403],
    ['aiGateway.tasks', 'ok', 200],
  ]);
  expect((await read()).chain).toMatchObject({ isIntact: true });
  const hashes = body.data.map(({ hash, prevHash }: Record<string, string>) => [hash, prevHash]);
  expect(new Set(hashes.flat()).size).toBeGreaterThan(4);
  const { data } = await administrator.client.aiAdmin.keys({ query: { q: key.name } });
  expect(data.find(({ id }) => id === key.id)?.usage).toMatchObject({ requests: 4, denials: 1 });
});

it('addresses that try keys that are none have to wait', async () => {
  const bad = callWith(controller.url, `rh_ai_${'a'.repeat(8)}_${'b'.repeat(49)}`);
  const statuses = [];
  for (let i = 0; i < 22; i += 1) statuses.push((await bad('GET', '/whoami')).status);
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(21);
  expect(statuses.at(-1)).toBe(429);
});

it('the audit of users names who did what, and needs the permission to read users', async () => {
  const reader = await controller.signInWith(administrator, [permissions['aiAdmin.read']], 'audit-reader');
  const read = (query: object) =>
    administrator.client.aiAdmin.activity({ query: { kind: 'audit', by: 'users', count: 100, ...query } });
  const entries = async (query: object) =>
    (await read(query)).data as { operationId: string; ownerID: number; outcome: string; ip: string }[];
  const signIns = await entries({ operation: 'auth.login', userId: reader.id });
  expect(signIns).toEqual([expect.objectContaining({ ownerID: reader.id, outcome: 'ok', ip: '127.0.0.1' })]);
  expect((await entries({})).some(({ operationId }) => operationId.startsWith('aiGateway.'))).toBe(false);
  await expect(reader.client.aiAdmin.activity({ query: { kind: 'audit', by: 'users' } })).rejects.toMatchObject({
    status: 403,
  });
  expect(await entries({ state: 'denied', userId: reader.id })).toEqual([
    expect.objectContaining({ operationId: 'aiAdmin.activity' }),
  ]);
  expect((await reader.client.aiAdmin.activity({ query: { kind: 'audit' } })).data).toBeInstanceOf(Array);
});
