import { permissions } from '@rushhour/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { refused } from '../testing/refused.ts';

let controller: TestController;
let administrator: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
});
afterAll(() => controller.close());

const newUser = () => controller.signInWith(administrator, [permissions['tasks.read']]);
const sessionsOf = async ({ client }: Pick<SignedIn, 'client'>) => (await client.users.me()).data.sessions;

it('lists the sessions of a user, with the current one marked', async () => {
  const first = await newUser();
  const second = await controller.signIn(first);
  const [newest, oldest, ...more] = await sessionsOf(first);
  expect(more).toEqual([]);
  expect([newest?.isCurrent, oldest?.isCurrent]).toEqual([false, true]);
  expect(newest).toMatchObject({ address: '127.0.0.1', client: expect.stringMatching(/^(node|undici)/) });
  expect(Date.parse(newest?.expiresAt ?? '')).toBeGreaterThan(Date.now());
  expect((await sessionsOf(second)).map(({ id, isCurrent }) => [id, isCurrent])).toEqual([
    [newest?.id, true],
    [oldest?.id, false],
  ]);
});

it('signs out another session of the user, and no session of another user', async () => {
  const first = await newUser();
  const second = await controller.signIn(first);
  const [other] = await sessionsOf(first);
  const foreign = (await sessionsOf(administrator))[0]?.id as number;
  const both = { endSessions: [other?.id as number, foreign] };
  await expect(first.client.users.updateMe({ body: both })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  expect(await sessionsOf(first)).toHaveLength(2);
  await first.client.users.updateMe({ body: { endSessions: [other?.id as number] } });
  await expect(second.client.users.me()).rejects.toMatchObject({ status: 401 });
  expect((await sessionsOf(first)).map(({ isCurrent }) => isCurrent)).toEqual([true]);
  expect(await sessionsOf(administrator)).not.toHaveLength(0);
});
