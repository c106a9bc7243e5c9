import { randomBytes } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { api, type Route } from '@rushhour/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GatewayLab, startGatewayLab } from '../../ai/gateway/testing/gateway-lab.ts';
import { agents } from '../../store/agents/agents.ts';

const calls = 200;
const secretKey = randomBytes(32);
type Given = Record<string, unknown>;
interface Reply {
  isError: boolean;
  data: unknown;
}
interface World {
  lab: GatewayLab;
  use(name: string, route: Route, given: Given): Promise<Reply>;
}

/** Two controllers with the same past, so that the same calls find the same ids. */
const worlds: World[] = [];
const clients: Client[] = [];

const startWorld = async () => {
  const lab = await startGatewayLab({ secretKey });
  const same = { uuid: 'the same', name: 'the same', hostname: 'the same', machineId: 'the same' };
  await lab.controller.store.change({ userId: 1, address: '', requestId: '', operation: 'test' }, (tx) =>
    agents.update(tx, lab.agentId, same),
  );
  await lab.administrator.client.projects.create({ body: { name: 'parity' } as never });
  await lab.administrator.client.networks.create({
    body: { name: 'lab', type: 3, subnet: '127.0.0.0/24' } as never,
  });
  for (const comment of ['first', 'second']) await lab.newTask({}, { comment });
  return { lab, key: await lab.newKey() };
};

const restWorld = async (): Promise<World> => {
  const { lab, key } = await startWorld();
  const use: World['use'] = async (_, { method, path, body }, given) => {
    const inPath = new Set([...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string));
    const own = path
      .replace('/ai/gateway', '')
      .replace(/:(\w+)/g, (_, name) => encodeURIComponent(String(given[name])));
    const rest = Object.entries(given).filter(([name]) => !inPath.has(name));
    const search = body ? '' : `?${new URLSearchParams(rest.map(([name, value]) => [name, String(value)]))}`;
    const { status, data } = await key.call(method, own + search, body ? Object.fromEntries(rest) : undefined);
    return { isError: status !== 200, data };
  };
  return { lab, use };
};

const mcpWorld = async (): Promise<World> => {
  const { lab, key } = await startWorld();
  for (const mode of ['legacy', 'auto'] as const) {
    const client = new Client({ name: 'parity', version: '1' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: `Bearer ${key.secret}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${lab.controller.url}/mcp`), { requestInit }));
    clients.push(client);
  }
  let round = 0;
  const use: World['use'] = async (_, { ai }, given) => {
    round += 1;
    const client = clients[round % clients.length] as Client;
    const found = await client.callTool({ name: ai?.tool as string, arguments: given });
    const reply = found.structuredContent ?? JSON.parse((found.content as { text: string }[])[0]?.text ?? '{}');
    return { isError: found.isError === true, data: (reply as { data: unknown }).data };
  };
  return { lab, use };
};

beforeAll(async () => {
  worlds.push(await restWorld(), await mcpWorld());
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(worlds.map(({ lab }) => lab.close()));
});

const id = fc.integer({ min: 1, max: 4 });
const values = (rate: number) => ({
  ...{ sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 1 } }], requestsPerSecond: rate },
  duration: { mode: 'time', seconds: 60 },
});
const task = fc.oneof(
  fc.integer({ min: 1, max: 50 }).map((rate) => ({ configuration: [{ plugin: { id: 1 }, values: values(rate) }] })),
  fc.constant({ configuration: 'nonsense' }),
  fc.constant({ configuration: [{ plugin: { id: 12 }, values: { ipsecPsk: 'not allowed' } }] }),
);
const from = fc.oneof(fc.record({ taskId: id }), fc.record({ draftId: id }), fc.record({ templateId: id }));
const ops = fc.array(
  fc.record({
    op: fc.constantFrom('add', 'replace', 'remove', 'test', 'copy'),
    path: fc.constantFrom('/comment', '/configuration/0/values/requestsPerSecond', '/nowhere/else'),
    from: fc.constant('/comment'),
    value: fc.constantFrom(7, 'text'),
  }),
  { minLength: 1, maxLength: 3 },
);
const reason = fc.constantFrom('a good reason', 'no');
const list = fc.record(
  { count: fc.integer({ min: 0, max: 30 }), page: fc.integer({ min: 0, max: 2 }), order: fc.constantFrom('asc', 'up') },
  { requiredKeys: [] },
);
/** Stands for the token that was handed out last, which is another in each world. */
const lastToken = 'the last token';

const written: Record<string, fc.Arbitrary<Given>> = {
  createDraft: fc.oneof(fc.record({ task, name: fc.constant('d') }), fc.record({ from }), fc.record({ task, from })),
  updateDraft: fc.oneof(
    fc.record({ id, revision: id, ops }),
    fc.record({ id, revision: id, merge: fc.constant({ comment: 'merged' }) }),
  ),
  removeDraft: fc.record({ id }),
  validateTask: fc.oneof(fc.record({ task }), fc.record({ taskId: id }), fc.record({ draftId: id }), fc.constant({})),
  createTask: fc.oneof(fc.record({ task }), fc.record({ draftId: id, revision: id })),
  start: fc.record({ taskId: id, reason }),
  confirmStart: fc.record({ approvalToken: fc.constantFrom(lastToken, 'rh_aat_none') }),
  act: fc.record({
    ...{ action: fc.constantFrom('stop', 'pause', 'delete', 'restart', 'explode'), reason },
    taskIds: fc.array(id, { minLength: 1, maxLength: 2 }),
  }),
  confirmAct: fc.record({ approvalToken: fc.constant(lastToken) }),
  cancelApproval: fc.record({ id }),
};
const read: Record<string, fc.Arbitrary<Given>> = {
  ...{ tasks: list, agents: list, drafts: list, approvals: list, capabilities: fc.constant({}) },
  task: fc.record({ id, view: fc.constantFrom('full', 'summary', 'all') }),
  draft: fc.record({ id }),
  approval: fc.record({ id }),
  agent: fc.record({ id, view: fc.constantFrom('full', 'summary') }),
  ...{ taskResults: fc.record({ id }), taskEvents: fc.record({ id }), taskReport: fc.record({ id }) },
  resources: fc.record({ kind: fc.constantFrom('network', 'project', 'template', 'nothing') }),
  resource: fc.record({ kind: fc.constantFrom('network', 'project', 'template'), id }),
  schema: fc.record({ name: fc.constantFrom('task', 'network', 'plugin.http', 'nothing') }),
};
const operations = { ...written, ...read };
const requests = fc
  .constantFrom(...Object.keys(operations))
  .chain((name) => fc.tuple(fc.constant(name), operations[name] as fc.Arbitrary<Given>));

const stamp = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** Without what differs from world to world: times and what is made of them, tokens, ids of requests. */
const worldly = (value: unknown, name = ''): unknown => {
  if (Array.isArray(value)) return value.map((item) => worldly(item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, worldly(inner, member)]));
  if (name === 'fingerprint' || (typeof value === 'string' && stamp.test(value))) return 'a time';
  if (typeof value === 'string') return value.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a time');
  if (name === 'revision' && Number(value) > 1e9) return 'a time';
  return value;
};
const compared = ({ isError, data }: Reply) => {
  const { requestId: _, approvalToken: token, ...rest } = (data ?? {}) as Given;
  return worldly({ isError, token: typeof token, data: Array.isArray(data) ? data : rest });
};

it(`${calls} generated calls, reads and writes, are answered alike over REST and MCP`, async () => {
  const outcomes = { good: 0, bad: 0 };
  const tokens = worlds.map(() => 'rh_aat_none');
  for (const [name, request] of fc.sample(requests, { numRuns: calls, seed: 11 })) {
    const route = (api.aiGateway.routes as Record<string, Route>)[name] as Route;
    const replies: Reply[] = [];
    for (const [i, world] of worlds.entries()) {
      const given = request['approvalToken'] === lastToken ? { ...request, approvalToken: tokens[i] } : request;
      const reply = await world.use(name, route, given);
      const { approvalToken } = (reply.data ?? {}) as { approvalToken?: string };
      if (approvalToken !== undefined) tokens[i] = approvalToken;
      replies.push(reply);
    }
    const [rest, mcp] = replies.map(compared);
    expect({ name, request, ...(mcp as object) }).toEqual({ name, request, ...(rest as object) });
    outcomes[replies[0]?.isError ? 'bad' : 'good'] += 1;
  }
  expect(outcomes.good).toBeGreaterThan(calls / 4);
  expect(outcomes.bad).toBeGreaterThan(calls / 8);
});
