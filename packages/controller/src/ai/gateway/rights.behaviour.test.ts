import { aiScopes, api, type Route } from '@rushhour/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { newTestKey } from './testing/key.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const limits = { requestsPerMin: 100_000, writesPerMin: 100_000, parallel: 100 };
const routes = Object.values(api.aiGateway.routes) as Route[];
const urlOf = ({ path }: Route) =>
  path.replace('/ai/gateway', '').replace(':kind', 'network').replace(':name', 'task').replace(/:\w+/g, '999999');

const callMcp = async (secret: string, name: string) => {
  const response = await fetch(`${controller.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-api-key': secret,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { id: 999_999 } } }),
  });
  await response.text();
  return response.status;
};

it.each(aiScopes)(
  'a key with the scope %s alone opens exactly what the table says, over REST and MCP',
  async (scope) => {
    const { secret, call } = await newTestKey(controller, administrator, { scopes: [scope], limits });
    expect(routes).toHaveLength(29);
    for (const route of routes) {
      const ai = route.ai as NonNullable<Route['ai']>;
      const isOpen = ai.scope === 'any' || ai.scope === scope || ai.orScope === scope;
      const { status, body } = await call(route.method, urlOf(route), route.body ? {} : undefined);
      const isRefused = status === 403 && body.data.code === 'AI_SCOPE_MISSING';
      expect([ai.tool, !isRefused]).toEqual([ai.tool, isOpen]);
      if (!isOpen) expect(status).toBe(403);
      expect([ai.tool, (await callMcp(secret, ai.tool)) !== 403]).toEqual([ai.tool, isOpen]);
    }
  },
);

const draft = { configuration: [{ plugin: { id: 1 }, values: {} }] };

it('tasks and projects outside the key’s projects are not there', async () => {
  const projects = await Promise.all(
    ['own', 'foreign'].map((name) => administrator.client.projects.create({ body: { name } })),
  );
  const [own, foreign] = projects.map(({ data }) => data) as [number, number];
  const made = async (projectID: number) => {
    const { data } = await administrator.client.taskTemplates.list({ query: {} });
    expect(data.length).toBeGreaterThan(0);
    const [template] = data;
    await controller.store.database.transaction((tx) =>
      tx.run(
        {
          name: `task${projectID}`,
          sql: `insert into tasks (comment, status, error, "projectID", "issuerID", "accessPlane", "controlPlane", configuration, dumps, "scheduleEnabled", "createdAt", "updatedAt") values ('of ${projectID} ${template?.id}', 0, '', ${projectID}, 1, '[]', '[]', '${JSON.stringify(draft.configuration)}', '{}', 0, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
        } as never,
        [],
      ),
    );
  };
  await made(own);
  await made(foreign);
  const { data } = await administrator.client.tasks.list({ query: {} });
  const idIn = (project: number) => data.find(({ projectID }) => projectID === project)?.id;
  const { call } = await newTestKey(controller, administrator, {
    scopes: [...aiScopes],
    constraints: { projectIDs: [own] },
    limits,
  });
  expect((await call('GET', '/tasks')).body.data.map(({ id }: { id: number }) => id)).toEqual([idIn(own)]);
  expect((await call('GET', `/tasks/${idIn(own)}`)).status).toBe(200);
  for (const part of ['', '/status', '/results', '/events', '/report'])
    expect([part, (await call('GET', `/tasks/${idIn(foreign)}${part}`)).status]).toEqual([part, 404]);
  expect((await call('GET', `/resources/project/${foreign}`)).status).toBe(404);
  expect((await call('GET', `/resources/project/${own}`)).status).toBe(200);
  expect((await call('GET', '/resources?kind=project')).body.data).toHaveLength(1);
});
