import { afterAll, beforeAll, expect, it } from 'vitest';
import { newTestKey } from '../ai/gateway/testing/key.ts';
import { smallCapture } from '../assets/files/testing/captures.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { refused } from '../testing/refused.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

it('a user searches in two captures at once, and others still can', async () => {
  const file = new Blob([smallCapture()]);
  const { data: id } = await administrator.client.files.create({
    upload: { fields: { category: 'pcap' }, file, filename: 'a.pcap' },
  });
  const other = await controller.signInWith(administrator, [91, 94]);
  const search = ({ client }: SignedIn) =>
    client.files.pcap({ params: { id }, query: { search: 'GET' } }).then(
      () => 200,
      ({ status }) => status,
    );
  const [own, others] = await Promise.all([
    Promise.all(Array.from({ length: 8 }, () => search(administrator))),
    search(other),
  ]);
  expect(new Set(own)).toEqual(new Set([200, 429]));
  expect(others).toBe(200);
});

it('own preferences have a limit together with those stored', async () => {
  const { client } = administrator;
  await client.users.updateMe({ body: { preferences: { first: 'x'.repeat(40_000) } } });
  await expect(client.users.updateMe({ body: { preferences: { second: 'x'.repeat(40_000) } } })).rejects.toMatchObject({
    status: 400,
    data: { issues: [{ path: '/preferences', code: 'TOO_LARGE' }] },
  });
});

it('a user may leave twenty uploads unfinished', async () => {
  const { client } = await controller.signInWith(administrator, [91, 92]);
  const open = () => client.files.create({ body: { name: 'a', category: 'other', size: 1000 } });
  for (let n = 0; n < 20; n += 1) await open();
  await expect(open()).rejects.toEqual(refused(429, 'TOO_MANY_OPEN_UPLOADS'));
});

it('lists of MCP count as requests of the key', async () => {
  const { secret } = await newTestKey(controller, administrator, {
    scopes: ['tasks:read'],
    limits: { requestsPerMin: 3 },
  });
  const list = async () => {
    const response = await fetch(`${controller.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ 'x-api-key': secret, 'content-type': 'application/json' },
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const statuses: number[] = [];
  for (let n = 0; n < 10; n += 1) statuses.push(await list());
  expect(statuses.slice(0, 6)).toEqual(Array(6).fill(200));
  expect(statuses.at(-1)).toBe(429);
});
