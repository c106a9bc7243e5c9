import { afterAll, beforeAll, expect, it } from 'vitest';
import { newTestKey } from '../collections/ai-gateway/testing/key.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { createBudgetAlert } from './budget-alert.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

it('tells the owner once when four fifths of a budget are spent', async () => {
  const { key } = await newTestKey(controller, administrator, { scopes: ['tasks:start'] });
  const { data: me } = await administrator.client.users.me();
  const alert = createBudgetAlert(controller.store, controller.bus);
  const facts = (startsPerDay: number) =>
    ({
      ...{ id: key.id, name: key.name, owner: { id: me.id } },
      limits: { startsPerDay, agentSecondsPerDay: 1000, bytesPerDay: null },
    }) as never;
  const told = async () =>
    (await administrator.client.notifications.list({ query: {} })).data.filter(({ kind }) => kind === 'ai.budget')
      .length;
  await alert(facts(50));
  expect(await told()).toBe(0);
  await alert(facts(0));
  await alert(facts(0));
  expect(await told()).toBe(1);
});
