import { cookieJar, createClient } from '@rushhour/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { verifyAudit } from '../../store/engine/audit.ts';
import { admin, type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${controller.url}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('signing in', () => {
  it('hands out HttpOnly cookies and tells who one is', async () => {
    const response = await post('/auth/login', admin);
    expect(response.status).toBe(200);
    const cookies = response.headers.getSetCookie();
    expect(cookies).toHaveLength(2);
    for (const cookie of cookies)
      expect(cookie).toMatch(/^(accessToken|refreshToken)=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Expires=/);
    const { data } = (await response.json()) as { data: Record<string, unknown> };
    expect(data).toMatchObject({
      isRequiredToSetPassword: false,
      user: { email: admin.email, group: { name: 'Administrators' } },
    });
    expect(JSON.stringify(data)).not.toMatch(/argon2|passwordHash/);
  });

  it('stores no token and no password', async () => {
    const visit = controller.visitor();
    await visit.client.auth.login({ body: admin });
    const sessions = JSON.stringify(await controller.store.read.run({ name: '', sql: 'select * from sessions' }, []));
    const users = JSON.stringify(await controller.store.read.run({ name: '', sql: 'select * from users' }, []));
    for (const secret of [...(visit.send as ReturnType<typeof cookieJar>).cookies.values(), admin.password]) {
      expect(sessions + users).not.toContain(secret);
    }
    expect(users).toContain('argon2id$');
  });

  it('says the same of an unknown address, a wrong password and a blocked account', async () => {
    const blocked = await controller.signInWith(administrator, []);
    await administrator.client.users.block({ body: { array: [blocked.id] } });
    await expect(blocked.client.users.me()).rejects.toEqual(refused(401, 'UNAUTHENTICATED'));
    const answers = await Promise.all([
      post('/auth/login', { email: 'nobody@example.test', password: 'x' }),
      post('/auth/login', { email: admin.email, password: 'wrong' }),
      post('/auth/login', { email: blocked.email, password: blocked.password }),
    ]);
    const texts = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { error: string }).error));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(new Set(texts).size).toBe(1);
  });

  it('makes an account wait after five failures, longer each time, and tells those who watch', async () => {
    const victim = await controller.signInWith(administrator, []);
    const attempt = (password: string) => post('/auth/login', { email: victim.email.toUpperCase(), password });
    for (let n = 0; n < 5; n += 1) expect((await attempt('wrong')).status).toBe(401);
    const refusal = await attempt(victim.password);
    expect(refusal.status).toBe(429);
    expect(refusal.headers.get('retry-after')).toBe('1');
    await vi.waitFor(async () => expect((await attempt(victim.password)).status).toBe(200), {
      timeout: 60_000,
      interval: 200,
    });
    const { data } = await administrator.client.notifications.list();
    expect(data).toContainEqual(
      expect.objectContaining({ kind: 'auth.locked', severity: 'warning', entity: { type: 'user', id: victim.id } }),
    );
  });
});

describe('refreshing', () => {
  const refreshWith = (token: string) =>
    fetch(`${controller.url}/v1/auth/refresh`, { method: 'POST', headers: { cookie: `refreshToken=${token}` } });
  const tokenOf = (response: Response) =>
    /refreshToken=([\w-]+)/.exec(response.headers.getSetCookie().join())?.[1] ?? '';

  it('rotates both tokens, and the old access token ends', async () => {
    const send = cookieJar();
    const client = createClient(controller.url, send);
    await client.auth.login({ body: admin });
    const before = send.cookies.get('accessToken');
    await client.auth.refresh();
    expect(send.cookies.get('accessToken')).not.toBe(before);
    expect((await client.users.me()).data.email).toBe(admin.email);
    const old = await fetch(`${controller.url}/v1/users/me`, { headers: { cookie: `accessToken=${before}` } });
    expect(old.status).toBe(401);
  });

  it('gives the same successor to a client that lost the first reply', async () => {
    const first = tokenOf(await post('/auth/login', admin));
    const [one, two] = [await refreshWith(first), await refreshWith(first)];
    expect([one.status, two.status]).toEqual([200, 200]);
    expect(tokenOf(two)).toBe(tokenOf(one));
  });

  it('ends the whole family when a retired token comes back', async () => {
    const first = tokenOf(await post('/auth/login', admin));
    const second = tokenOf(await refreshWith(first));
    const third = tokenOf(await refreshWith(second));
    expect((await refreshWith(first)).status).toBe(401);
    expect((await refreshWith(third)).status).toBe(401);
    const { data } = await administrator.client.notifications.list();
    expect(data).toContainEqual(expect.objectContaining({ kind: 'auth.tokenReuse' }));
  });

  it('needs a token', async () => {
    expect((await refreshWith('nonsense')).status).toBe(401);
    expect((await post('/auth/refresh', {})).status).toBe(401);
  });

  it('heeds the life times of the settings at once', async () => {
    await administrator.client.settings.update({ body: { auth: { accessTtlSec: 60 } } });
    const { data } = await controller.visitor().client.auth.login({ body: admin });
    expect(Date.parse(data.accessExpiresAt) - Date.now()).toBeLessThanOrEqual(60_000);
    await administrator.client.settings.update({ body: { auth: { accessTtlSec: 900 } } });
  });
});

describe('a new user', () => {
  it('must set a password before anything else', async () => {
    const { data: groupID } = await administrator.client.groups.create({
      body: { name: 'Newcomers', permissions: [{ value: 201 }] },
    });
    const credentials = await administrator.client.users.create({
      body: { email: 'New@Example.test', realName: 'New', groupID, passwordLength: 24 },
    });
    expect(credentials).toEqual({ email: 'new@example.test', password: expect.stringMatching(/^\w{24}$/) });
    const { client } = await controller.signIn(credentials);
    expect((await client.users.me()).data).toMatchObject({ isRequiredToSetPassword: true, passwordLength: 24 });
    await expect(client.projects.list()).rejects.toEqual(refused(403, 'PASSWORD_CHANGE_REQUIRED'));
    for (const [newPassword, code] of [
      ['short', 'TOO_SHORT'],
      ['password123456', 'TOO_COMMON'],
      ['aaaaaaaaaaaaaa', 'TOO_COMMON'],
      ['new@example.test', 'OWN_NAME'],
    ] as const) {
      await expect(
        client.auth.password({ body: { currentPassword: credentials.password, newPassword } }),
      ).rejects.toMatchObject({
        status: 400,
        data: { code: 'WEAK_PASSWORD', issues: [{ path: '/newPassword', code }] },
      });
    }
    await expect(
      client.auth.password({ body: { currentPassword: 'wrong', newPassword: 'nine-green-Kettles-sing' } }),
    ).rejects.toEqual(refused(401, 'WRONG_PASSWORD'));
    const other = await controller.signIn(credentials);
    await client.auth.password({
      body: { currentPassword: credentials.password, newPassword: 'nine-green-Kettles-sing' },
    });
    expect((await client.projects.list()).data).toEqual([]);
    expect((await client.users.me()).data).toMatchObject({ isRequiredToSetPassword: false, passwordLength: 0 });
    await expect(other.client.users.me()).rejects.toEqual(refused(401, 'UNAUTHENTICATED'));
  });

  it('must accept the agreement where one is required', async () => {
    const user = await controller.signInWith(administrator, [201]);
    await administrator.client.users.updateMe({ body: { agreementAccepted: true } });
    await administrator.client.settings.update({ body: { agreement: { required: true, text: 'Be kind.' } } });
    await expect(user.client.projects.list()).rejects.toEqual(refused(403, 'AGREEMENT_REQUIRED'));
    await user.client.users.updateMe({ body: { agreementAccepted: true } });
    expect((await user.client.projects.list()).cursor.totalRows).toBe(0);
    await administrator.client.settings.update({ body: { agreement: { required: false } } });
  });
});

describe('signing out', () => {
  it('ends this session, or all of them', async () => {
    const [one, two, three] = [await controller.signIn(), await controller.signIn(), await controller.signIn()];
    await one.client.auth.logout();
    await expect(one.client.users.me()).rejects.toEqual(refused(401, 'UNAUTHENTICATED'));
    await two.client.auth.logout({ body: { everywhere: true } });
    await expect(three.client.users.me()).rejects.toEqual(refused(401, 'UNAUTHENTICATED'));
    administrator = await controller.signIn();
  });
});

describe('requests from other pages', () => {
  const attempt = (headers: Record<string, string>) => post('/auth/login', admin, { cookie: 'a=b', ...headers });
  it('change nothing, whatever the browser says', async () => {
    expect((await attempt({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await attempt({ 'sec-fetch-site': 'same-site' })).status).toBe(403);
    expect((await attempt({ origin: 'http://evil.test' })).status).toBe(403);
    expect((await attempt({ origin: 'null' })).status).toBe(403);
    expect((await attempt({ origin: controller.url.replace('http:', 'https:') })).status).toBe(403);
  });
  it('are distinguished from our own pages and from programs', async () => {
    expect((await attempt({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await attempt({ origin: controller.url })).status).toBe(200);
    expect((await attempt({})).status).toBe(200);
  });
});

it('every sign-in, change and refusal is in the audit chain, and the chain holds', async () => {
  const viewer = await controller.signInWith(administrator, []);
  await expect(viewer.client.groups.create({ body: { name: 'No' } })).rejects.toMatchObject({
    status: 403,
    data: { permission: 'groups.write' },
  });
  const rows = (await controller.store.read.run(
    { name: '', sql: 'select operation, outcome, detail, address from audit order by id' },
    [],
  )) as {
    operation: string;
    outcome: string;
    detail: string;
  }[];
  expect(rows).toContainEqual(
    expect.objectContaining({ operation: 'auth.login', outcome: 'ok', address: '127.0.0.1' }),
  );
  expect(rows).toContainEqual(expect.objectContaining({ operation: 'auth.login', outcome: 'denied' }));
  expect(rows).toContainEqual(
    expect.objectContaining({ operation: 'groups.create', outcome: 'denied', detail: '{"permission":"groups.write"}' }),
  );
  expect(await verifyAudit(controller.store.read, controller.store.secrets)).toEqual({ entries: rows.length });
  await expect(
    controller.store.database.transaction((tx) => tx.run({ name: '', sql: 'delete from audit' }, [])),
  ).rejects.toThrow('append only');
});
