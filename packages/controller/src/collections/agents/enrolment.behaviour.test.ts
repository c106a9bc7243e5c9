import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectTestAgent } from '../../testing/agent.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const newToken = async (more: object = {}) =>
  (
    await administrator.client.agents.createToken({
      body: { name: 'for tests', ttlSec: 600, maxUses: 1, ...more },
    })
  ).data;
const agentOf = async (id: number) => (await administrator.client.agents.get({ params: { id } })).data;

describe('enrolment tokens', () => {
  it('are shown once, with the command that uses them', async () => {
    const made = await newToken({ tags: 'lab,rack-1' });
    expect(made).toMatchObject({ controllerUrl: controller.url, fingerprint: '' });
    expect(made.command).toBe(`rushhour agent --controller ${controller.url} --token ${made.token}`);
    const { data } = await administrator.client.agents.tokens({ query: {} });
    expect(data.find(({ id }) => id === made.id)).toMatchObject({ usesLeft: 1, tags: 'lab,rack-1', issuer: { id: 1 } });
    expect(JSON.stringify(data)).not.toContain(made.token);
  });

  it('let an agent in that is online from then on, with what it said about its machine', async () => {
    const { token } = await newToken({ tags: 'lab' });
    const agent = await connectTestAgent({ url: controller.url, token, name: 'first' });
    expect(await agentOf(agent.agentId)).toMatchObject({
      ...{ name: 'first', status: 1, tags: 'lab', uuid: agent.identity.uuid, hostname: 'test-host', issuerID: 1 },
      ...{ cpuCores: 2, reservation: null, activeTaskIDs: [], interfaces: [{ name: 'lo' }], isBlocked: false },
    });
    await agent.close();
  });
});
