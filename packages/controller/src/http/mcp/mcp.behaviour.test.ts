import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { aiScopes } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newTestKey } from '../../ai/gateway/testing/key.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';

let controller: TestController;
let administrator: SignedIn;
let key: Awaited<ReturnType<typeof newTestKey>>;
const limits = { requestsPerMin: 100_000, writesPerMin: 100_000, parallel: 100 };
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  await administrator.client.projects.create({ body: { name: 'parity', description: 'seen alike' } });
  key = await newTestKey(controller, administrator, { scopes: [...aiScopes], limits });
});
afterAll(() => controller.close());

const eras = ['legacy', 'auto'] as const;

const connect = async (mode: (typeof eras)[number], secret = key.secret) => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${controller.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${secret}` } },
    }),
  );
  return client;
};

describe.each(eras)('a client of the era %s', (mode) => {
  it('finds every operation as a tool, with hints, in a list that is not too long', async () => {
    const client = await connect(mode);
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(29);
    expect(tools.map(({ name }) => name)).toEqual([...tools.map(({ name }) => name)].sort());
    expect(tools.find(({ name }) => name === 'task_start_request')?.annotations).toMatchObject({
      destructiveHint: true,
      openWorldHint: true,
    });
    expect(tools.find(({ name }) => name === 'whoami')?.annotations).toMatchObject({ readOnlyHint: true });
    expect(JSON.stringify(tools).length).toBeLessThanOrEqual(40 * 1024);
    const undescribed: string[] = [];
    const look = (schema: unknown, path: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      for (const [name, member] of Object.entries((schema as { properties?: object }).properties ?? {}))
        if (!('description' in member)) undescribed.push(`${path}.${name}`);
      for (const [name, part] of Object.entries(schema)) look(part, `${path}.${name}`);
    };
    for (const { name, inputSchema } of tools) look(inputSchema, name);
    expect(undescribed).toEqual([]);
    await client.close();
  });

  it('is answered like a client of REST, and refused in words a model can use', async () => {
    const client = await connect(mode);
    const me = await client.callTool({ name: 'whoami', arguments: {} });
    expect((me.structuredContent as { data: { id: number } }).data.id).toBe(key.key.id);
    const missing = await client.callTool({ name: 'task_get', arguments: { id: 999_999 } });
    expect(missing.isError).toBe(true);
    const [text] = missing.content as { text: string }[];
    expect(JSON.parse(text?.text ?? '')).toMatchObject({ data: { code: 'NOT_FOUND', hint: expect.any(String) } });
    const bad = await client.callTool({ name: 'resources_search', arguments: { kind: 'nothing' } });
    expect(bad.isError).toBe(true);
    await client.close();
  });

  it('is given instructions, titles and prompts for the common flows', async () => {
    const client = await connect(mode);
    expect(client.getInstructions()).toContain('task_validate');
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'task_start_request')?.title).toBe('Task start request');
    // Every tool that the texts name exists.
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['plan_test', 'explain_result', 'compare_runs']);
    const given = { goal: 'x', task: '7', baseline: '3' };
    const texts = [client.getInstructions() ?? ''];
    for (const { name, arguments: args = [] } of prompts) {
      const wanted = Object.fromEntries(args.map(({ name: arg }) => [arg, given[arg as keyof typeof given]]));
      const { messages } = await client.getPrompt({ name, arguments: wanted });
      texts.push(JSON.stringify(messages));
    }
    const named = texts.flatMap((text) => text.match(/\b[a-z]+(_[a-z]+)+\b/g) ?? []);
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !tools.some((tool) => tool.name === name))).toEqual([]);
    await client.close();
  });

  it('reads resources', async () => {
    const client = await connect(mode);
    const { contents } = await client.readResource({ uri: 'rushhour://schemas/task' });
    expect(JSON.parse((contents[0] as { text: string }).text).data.name).toBe('task');
    await client.close();
  });

  it('sees only what its scopes open', async () => {
    const reader = await newTestKey(controller, administrator, { scopes: ['agents:read'], limits });
    const client = await connect(mode, reader.secret);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('agents_list');
    expect(names).not.toContain('tasks_list');
    await expect(client.callTool({ name: 'tasks_list', arguments: {} })).rejects.toThrow();
    await client.close();
  });
});

it('without a valid key, and from pages of other origins, nothing is answered', async () => {
  const send = (headers: Record<string, string>) =>
    fetch(`${controller.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
  const stranger = await send({});
  expect([stranger.status, stranger.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="rushhour"']);
  expect((await send({ authorization: 'Bearer nonsense' })).status).toBe(401);
  expect((await send({ 'x-api-key': key.secret, origin: 'http://evil.example' })).status).toBe(403);
  const otherScheme = controller.url.replace('http:', 'https:');
  expect((await send({ 'x-api-key': key.secret, origin: otherScheme })).status).toBe(403);
  expect((await send({ 'x-api-key': key.secret, origin: controller.url })).status).toBe(200);
  expect((await send({ 'x-api-key': key.secret })).status).toBe(200);
  expect((await administrator.send(`${controller.url}/mcp`, { method: 'POST' })).status).toBe(401);
});
