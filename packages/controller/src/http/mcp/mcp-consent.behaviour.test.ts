import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GatewayLab, startGatewayLab } from '../../ai/gateway/testing/gateway-lab.ts';

let lab: GatewayLab;
const clients: Client[] = [];
beforeAll(async () => {
  lab = await startGatewayLab();
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await lab.close();
});

type Asked = { mode?: string; message: string; url?: string };
type Action = 'accept' | 'decline' | 'cancel';

/** A client whose person is asked, and answers as told. */
const clientWith = async (secret: string, answer: (asked: Asked) => Promise<Action>) => {
  const client = new Client(
    { name: 'a desk', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {}, url: {} } } },
  );
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const action = await answer(params as Asked);
    return action === 'accept' && (params as Asked).mode !== 'url' ? { action, content: {} } : { action };
  });
  const requestInit = { headers: { authorization: `Bearer ${secret}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${lab.controller.url}/mcp`), { requestInit }));
  clients.push(client);
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what they expect
  return async (name: string, given: object): Promise<any> => {
    const { structuredContent, content } = await client.callTool({ name, arguments: { ...given } });
    return (structuredContent ?? JSON.parse((content as { text: string }[])[0]?.text ?? '{}')) as object;
  };
};
const reason = 'asks the person at the desk';

it('what a key may confirm itself is confirmed by the person at the client, and the audit says how', async () => {
  const key = await lab.newKey();
  const seen: Asked[] = [];
  const use = await clientWith(key.secret, async (asked) => {
    seen.push(asked);
    return 'accept';
  });
  const taskId = await lab.newTask();
  const { data } = await use('task_start_request', { taskId, reason, idempotencyKey: 'once' });
  expect(data).toMatchObject({ approval: { state: 'used', policy: 'same-key' }, task: { id: taskId } });
  expect(seen).toHaveLength(1);
  expect(seen[0]?.message).toMatch(/^start 1 task: 1 agents.*\nReason: asks the person/);
  expect(await lab.runsOf(taskId)).toBe(1);
  const audit = await lab.administrator.client.aiAdmin.activity({ query: { kind: 'audit', keyId: key.id } });
  expect(audit.data).toContainEqual(
    expect.objectContaining({ operationId: 'aiGateway.confirmStart', consent: 'client-elicitation' }),
  );
});

it.each(['decline', 'cancel'] as const)('a person who says %s withdraws the request', async (action) => {
  const { secret } = await lab.newKey();
  const use = await clientWith(secret, async () => action);
  const taskId = await lab.newTask();
  const { data } = await use('task_start_request', { taskId, reason });
  expect(data).toMatchObject({ state: 'revoked', stateReason: 'cancelled' });
  expect(await lab.runsOf(taskId)).toBe(0);
});

it('what a person of the house must approve is not approved at the client', async () => {
  const { secret } = await lab.newKey({ policy: { R2: 'human' } });
  const urls: string[] = [];
  const use = await clientWith(secret, async ({ url = '' }) => {
    urls.push(url);
    return 'accept';
  });
  const taskId = await lab.newTask();
  const { data } = await use('task_start_request', { taskId, reason });
  expect(urls).toEqual([`${lab.controller.url}/approvals/${data.approval.id}`]);
  expect(data).toMatchObject({ approval: { state: 'pending', decisions: [] }, nextStep: expect.any(String) });
  const { approvalToken } = data;
  expect((await use('task_start_confirm', { approvalToken })).data.code).toBe('HUMAN_APPROVAL_REQUIRED');
  expect(await lab.runsOf(taskId)).toBe(0);
  const { id, digest } = data.approval;
  await lab.administrator.client.aiAdmin.decide({
    body: { array: [id], decision: 'approve', digests: { [id]: digest } },
  });
  expect((await use('task_start_confirm', { approvalToken })).data.approval.state).toBe('used');
});

it('a state that nobody gave out is refused', async () => {
  const { secret } = await lab.newKey();
  const taskId = await lab.newTask();
  const [body] = [Buffer.from(JSON.stringify({ p: { approvalId: 1, approvalToken: 'x', isStart: true } }))];
  const response = await fetch(`${lab.controller.url}/mcp`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ authorization: `Bearer ${secret}`, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' },
      'mcp-name': 'task_start_request',
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: {
        ...{ name: 'task_start_request', arguments: { taskId, reason } },
        ...{
          requestState: `v1.${body?.toString('base64url')}.AAAA`,
          inputResponses: { consent: { action: 'accept' } },
        },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
        },
      },
    }),
  });
  expect(await response.text()).toContain('-32602');
  expect(await lab.runsOf(taskId)).toBe(0);
});
