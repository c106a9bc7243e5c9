import { expect, it } from 'vitest';
import { startTestController } from '../../packages/controller/src/testing/controller.ts';
import { runChannelCampaign } from './agent-channel.ts';

it('mutated messages of agents are refused or handled, and disturb nothing else; what they report can be read', async () => {
  const controller = await startTestController();
  try {
    const { sent, handled, findings } = await runChannelCampaign(controller, { total: 3000, seed: 7 });
    expect(findings).toEqual([]);
    expect(sent).toBe(3000);
    expect(handled).toBeGreaterThan(0.6 * sent);
  } finally {
    await controller.close();
  }
});
