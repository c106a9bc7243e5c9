import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GatewayLab, startGatewayLab } from '../gateway/testing/gateway-lab.ts';

let lab: GatewayLab;
beforeAll(async () => {
  lab = await startGatewayLab();
});
afterAll(() => lab.close());

const alerts = async () =>
  (await lab.administrator.client.notifications.list({ query: {} })).data.filter(({ kind }) => kind === 'ai.budget');

it('a key that has spent most of a budget: its owner gets one alert, and the refusal names the budget', async () => {
  const { call } = await lab.newKey({ limits: { startsPerDay: 5, approvalsPerHour: 100, pendingApprovals: 100 } });
  const start = async () => {
    const asked = await call('POST', '/tasks/start', { taskId: await lab.newTask(), reason: 'spends its budget' });
    if (asked.status !== 200) return asked;
    return call('POST', '/tasks/start/confirm', { approvalToken: asked.data.approvalToken });
  };
  for (let i = 0; i < 3; i += 1) expect((await start()).status).toBe(200);
  expect((await call('GET', '/whoami')).data.remaining.starts).toBe(2);
  expect(await alerts()).toHaveLength(0);
  expect((await start()).status).toBe(200);
  await expect.poll(alerts).toHaveLength(1);
  const [{ message = '' } = {}] = await alerts();
  expect(message).toMatch(/4 of its 5 starts of 24 hours/);
  expect((await start()).status).toBe(200);
  const refused = await start();
  expect(refused).toMatchObject({
    status: 429,
    data: { code: 'BUDGET_EXCEEDED', retryable: true, hint: expect.stringMatching(/24 hours.*whoami/) },
  });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused.headers.get('ratelimit-policy')).toMatch(/^"rpm";q=\d+;w=60$/);
  expect((await call('GET', '/whoami')).data.remaining.starts).toBe(0);
  expect(await alerts()).toHaveLength(1);
});
