import { aiScopes, api, type Collection, permissionOf, statusesOf, toOpenApi } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';

/** Operations of each collection, as the interface document counts them. */
const counts: Record<string, number> = {
  meta: 3,
  auth: 4,
  users: 11,
  groups: 6,
  agents: 17,
  tasks: 43,
  'task-templates': 6,
  networks: 12,
  certificates: 6,
  macs: 6,
  files: 15,
  tunnels: 9,
  applications: 10,
  malware: 13,
  cve: 11,
  notifications: 3,
  settings: 2,
  'ai-admin': 5,
  'ai-gateway': 29,
  'compromised-host': 1,
  dictionaries: 6,
  projects: 7,
};

const collections = Object.entries(api as Record<string, Collection>);
const everyRoute = collections.flatMap(([name, { routes }]) =>
  Object.entries(routes).map(([operation, route]) => ({
    id: `${name}.${operation}`,
    route,
    url: `/v1${route.path.replace(/:\w+/g, '1')}`,
  })),
);

let controller: TestController;
let administrator: SignedIn;
let powerless: SignedIn;
let aiKey: string;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  await administrator.client.settings.update({ body: { limits: { rate: 1_000_000 } } });
  powerless = await controller.signInWith(administrator, []);
  const { data } = await administrator.client.aiAdmin.createKey({
    body: { name: 'walker', scopes: [...aiScopes], limits: { requestsPerMin: 10_000, writesPerMin: 10_000 } },
  });
  aiKey = data.secret;
});
afterAll(() => controller.close());

const json = { 'content-type': 'application/json' };
const hasBody = (method: string) => method !== 'GET';

/** Operations that the document does not have; docs/gaps.md names them. */
const additions: readonly string[] = ['tasks.try'];

it('the collections have as many operations as the document says, besides the additions', () => {
  for (const [name, { tag, routes }] of collections) {
    const documented = Object.keys(routes).filter((operation) => !additions.includes(`${name}.${operation}`));
    expect([tag, documented.length]).toEqual([tag, counts[tag]]);
  }
});

describe.each(everyRoute)('$id', ({ route, url }) => {
  const { method, access } = route;

  it('turns away a stranger', async () => {
    const response = await fetch(controller.url + url, { method });
    if (access !== 'public') expect(response.status).toBe(401);
    await response.body?.cancel();
  });

  it('turns away a user without the permission, before looking at the body', async () => {
    const permission = permissionOf(route);
    if (permission === undefined) return;
    const response = await powerless.send(controller.url + url, {
      method,
      ...(hasBody(method) && { headers: json, body: '{' }),
    });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ data: { code: 'FORBIDDEN', permission } });
  });

  it('refuses a body that is none, and one of another type', async () => {
    if (route.body === undefined) return;
    const send = (body: string, headers: Record<string, string>) =>
      access === 'aiKey'
        ? fetch(controller.url + url, { method, headers: { ...headers, 'x-api-key': aiKey }, body })
        : administrator.send(controller.url + url, { method, headers, body });
    expect((await send('{"noSuchMember":', json)).status).toBe(400);
    expect((await send('{"noSuchMember":1}', json)).status).toBe(400);
    expect((await send('a=b', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(415);
  });

  it('is documented with every status', () => {
    const operation = toOpenApi(api, '0').paths[`/v1${route.path.replace(/:(\w+)/g, '{$1}')}`]?.[
      method.toLowerCase()
    ] as {
      responses: Record<string, unknown>;
    };
    expect(Object.keys(operation.responses).map(Number)).toEqual(statusesOf(route));
  });
});

it('another method on a known path is 405 and says which are allowed', async () => {
  const response = await fetch(`${controller.url}/v1/settings`, { method: 'DELETE' });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, PATCH, HEAD');
});

it('an unknown path is 404 in the envelope', async () => {
  const response = await administrator.send(`${controller.url}/v1/nothing/here`);
  expect([response.status, await response.json()]).toMatchObject([
    404,
    { data: { code: 'NO_SUCH_ROUTE' }, error: expect.any(String) },
  ]);
});

it('the served OpenAPI document is the one of the contract, and has every operation once', async () => {
  const document = (await (await fetch(`${controller.url}/openapi.json`)).json()) as {
    openapi: string;
    paths: Record<string, object>;
  };
  expect(document.openapi).toBe('3.1.0');
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  expect(new Set(ids)).toEqual(new Set(everyRoute.map(({ id }) => id)));
});
