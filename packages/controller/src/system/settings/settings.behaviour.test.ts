import { defaultSettings } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import type { SignedIn } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';
import { useTestController } from '../../testing/use-controller.ts';

const controller = await useTestController();
const administrator = await controller.signIn();

const get = async () => (await administrator.client.settings.get()).data;
const update = (body: Parameters<SignedIn['client']['settings']['update']>[0]['body']) =>
  administrator.client.settings.update({ body });

describe('settings', () => {
  it('start with the defaults of the contract', async () => {
    expect(await get()).toEqual(defaultSettings);
  });

  it('are merged, told and audited by pointer', async () => {
    await update({ tasks: { maxConcurrent: 3 }, retention: { runsDays: 7 } });
    expect(await get()).toMatchObject({
      tasks: { maxConcurrent: 3, prepareTimeoutSec: 120 },
      retention: { runsDays: 7 },
    });
    const rows = await controller.store.read.run(
      { name: '', sql: `select detail from audit where operation = 'settings.update'` },
      [],
    );
    expect(rows.map((row) => row['detail'])).toContain('{"changed":["/tasks/maxConcurrent","/retention/runsDays"]}');
    const { data } = await administrator.client.notifications.list();
    expect(data[0]).toMatchObject({
      kind: 'settings.changed',
      message: 'Settings changed: /tasks/maxConcurrent, /retention/runsDays',
    });
  });

  it('keep secrets sealed and masked; the mask sent back keeps them', async () => {
    const hook = { url: 'https://hooks.example.test/a', events: ['settings.changed'], secret: 'hush-hush' };
    await update({ mail: { password: 'p4ss-mail' }, webhooks: [hook] });
    expect(await get()).toMatchObject({ mail: { password: '********' }, webhooks: [{ secret: '********' }] });
    await update({
      mail: { password: '********', host: 'mail.example.test' },
      webhooks: [{ ...hook, secret: '********' }],
    });
    const stored = JSON.stringify(await controller.store.read.run({ name: '', sql: 'select value from settings' }, []));
    expect(stored).not.toMatch(/hush-hush|p4ss-mail/);
    const { mail, webhooks } = controller.settings.current();
    expect(controller.settings.openSecret(mail.password)).toBe('p4ss-mail');
    expect(controller.settings.openSecret(webhooks[0]?.secret ?? '')).toBe('hush-hush');
  });

  it('are refused when members do not fit each other, and nothing changes', async () => {
    const before = await get();
    await expect(
      update({
        auth: { accessTtlSec: 3600, refreshTtlSec: 600 },
        tasks: { allowedTargets: ['10.0.0.0/8', '10.0.0.0/40', 'nowhere'] },
      }),
    ).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [
          { path: '/auth/refreshTtlSec' },
          { path: '/tasks/allowedTargets/1' },
          { path: '/tasks/allowedTargets/2' },
        ],
      },
    });
    expect(await get()).toEqual(before);
    expect(controller.settings.current().auth.accessTtlSec).toBe(900);
  });

  it('limit bodies and requests from the next request on', async () => {
    await update({ limits: { bodyBytes: 4096 } });
    const big = { name: 'x', description: 'y'.repeat(4080) };
    await expect(administrator.client.projects.create({ body: big })).rejects.toEqual(refused(413, 'BODY_TOO_LARGE'));
    await update({ limits: { bodyBytes: 1_048_576, rate: 60 } });
    const viewer = await controller.signInWith(await controller.signIn(), [201]);
    const answers = await Promise.allSettled(Array.from({ length: 70 }, () => viewer.client.projects.list()));
    const refusals = answers.filter((answer) => answer.status === 'rejected');
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals[0]?.reason).toEqual(refused(429, 'RATE_LIMITED'));
  });
});
