import { expect, it } from 'vitest';
import { startTestController } from '../../packages/controller/src/testing/controller.ts';
import { runChannelCampaign } from './agent-channel.ts';

it('mutated messages of agents are refused or handled, and disturb nothing else', async () => {
  const controller = await startTestController();
  try {
    const { client } = await controller.signIn();
    const token = async () =>
      (await client.agents.createToken({ body: { name: 'fuzz', ttlSec: 600, maxUses: 1 } })).data.token;
    const { sent, handled, findings } = await runChannelCampaign(controller, token, { total: 3000, seed: 7 });
    expect(findings).toEqual([]);
    expect(sent).toBe(3000);
    expect(handled).toBeGreaterThan(0.6 * sent);
  } finally {
    await controller.close();
  }
});
