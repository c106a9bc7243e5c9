import { aiScopes } from '@rushhour/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { newTestKey } from './testing/key.ts';

let controller: TestController;
let administrator: SignedIn;
let key: Awaited<ReturnType<typeof newTestKey>>;
const limits = { requestsPerMin: 100_000, writesPerMin: 100_000, parallel: 100 };
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  key = await newTestKey(controller, administrator, { scopes: [...aiScopes], limits });
});
afterAll(() => controller.close());

it('answers of lists and details are short', async () => {
  for (const path of [
    '/whoami',
    '/capabilities',
    '/overview',
    '/agents',
    '/tasks',
    '/schemas/task',
    '/audit',
    '/approvals',
  ]) {
    const { body } = await key.call('GET', path);
    expect([path, JSON.stringify(body).length <= 16 * 1024]).toEqual([path, true]);
  }
});

it('every kind of record that exists can be found and read', async () => {
  await administrator.client.tunnels.create({ body: { name: 'tunnel', type: 'gre' } as never });
  await administrator.client.networks.create({
    body: { name: 'lab', type: 1, ipVersion: 'ipv4', subnet: '10.9.0.0/24' } as never,
  });
  const kinds: string[] = [];
  for (const kind of ['network', 'tunnel', 'dictionary', 'template']) {
    const { body } = await key.call('GET', `/resources?kind=${kind}&count=1`);
    const { id, fingerprint } = body.data[0];
    const found = await key.call('GET', `/resources/${kind}/${id}`);
    expect([kind, found.status, found.body.data?.fingerprint]).toEqual([kind, 200, fingerprint]);
    kinds.push(kind);
  }
  expect(kinds).toHaveLength(4);
});
