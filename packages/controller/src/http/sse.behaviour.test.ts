import { setTimeout as sleep } from 'node:timers/promises';
import { aiScopes } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertActiveRun } from '../agents/testing/active-run.ts';
import { newTestKey } from '../ai/gateway/testing/key.ts';
import { statement } from '../store/engine/statement.ts';
import { storeAgent } from '../tasks/testing/stored-agent.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';

let controller: TestController;
let administrator: SignedIn;
let taskId: number;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  const agentId = await storeAgent(controller.store, {});
  taskId = (await insertActiveRun(controller.store, [agentId])).taskID;
});
afterAll(() => controller.close());

const limitMs = 5000;
/** A busy machine may be late; a stream that goes on is not ended at all. */
const slackMs = 10_000;

type User = Awaited<ReturnType<TestController['signInWith']>>;

/** The end of a stream. */
const endOf = (stream: AsyncIterable<unknown>) =>
  (async () => {
    for await (const _ of stream);
    return 'ended' as const;
  })();
const within = <T>(ending: Promise<T>) => Promise.race([ending, sleep(limitMs + slackMs, 'goes on')]);

const expire = statement((db, p: { id: number; past: string }) =>
  db.updateTable('sessions').set({ accessExpiresAt: p.past }).where('userID', '=', p.id),
);

const streams: Record<string, (user: User) => Promise<AsyncIterable<unknown>>> = {
  notifications: ({ client }) => client.notifications.stream(),
  'a task': ({ client }) => client.tasks.stream({ params: { id: taskId } }),
};

const endings: Record<string, (user: User) => Promise<unknown>> = {
  'the user signs out': ({ client }) => client.auth.logout({ body: {} }),
  'the user is blocked': ({ id }) => administrator.client.users.block({ body: { array: [id] } }),
  'the user is deleted': ({ id }) => administrator.client.users.remove({ params: { id } }),
  'the group loses a permission': ({ groupID }) =>
    administrator.client.groups.update({ body: { id: groupID, permissions: [{ value: 201 }] } }),
  'the access token expires': ({ id }) =>
    controller.store.database.transaction((tx) => expire.all(tx, { id, past: '2020-01-01T00:00:00.000Z' })),
};

describe.for(Object.entries(streams))('an event stream of %s ends when', ([, open]) => {
  it.concurrent.for(Object.entries(endings))('%s', async ([, end]) => {
    const user = await controller.signInWith(administrator, [41, 201]);
    const ending = endOf(await open(user));
    await end(user);
    expect(await within(ending)).toBe('ended');
  });
});

it('an event stream goes on while its session does, whatever its tokens', async () => {
  const user = await controller.signInWith(administrator, [41]);
  const abort = new AbortController();
  const ending = endOf(await user.client.notifications.stream({}, { signal: abort.signal })).catch(() => 'aborted');
  await user.client.auth.refresh();
  expect(await Promise.race([ending, sleep(limitMs, 'goes on')])).toBe('goes on');
  abort.abort();
});

describe('a stream of MCP', () => {
  it('ends when its key is revoked', async () => {
    const { key, secret } = await newTestKey(controller, administrator, { scopes: [...aiScopes] });
    const response = await fetch(`${controller.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' },
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' },
        params: {
          notifications: { toolsListChanged: true },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    });
    expect(response.headers.get('content-type')).toMatch('text/event-stream');
    const ending = endOf(response.body as AsyncIterable<unknown>).catch(() => 'ended');
    expect(await Promise.race([ending, sleep(3000, 'goes on')])).toBe('goes on');
    await administrator.client.aiAdmin.updateKey({ body: { id: key.id, revoked: true } });
    expect(await within(ending)).toBe('ended');
  });
});
