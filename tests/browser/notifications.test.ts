import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { visit } from './browser.ts';
import { useLab } from './lab.ts';

const lab = useLab();

describe('the settings of notifications', () => {
  it('send a test to a webhook and a mail address, whose deliveries are listed', async () => {
    const received: unknown[] = [];
    const receiver = createServer(async (request, response) => {
      received.push(await json(request));
      response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    // No mail server listens there: the delivery says so.
    const mail = { host: '127.0.0.1', port: 9, from: 'rushhour@example.test' };
    const webhooks = [{ url: `http://${host}/hook`, events: ['delivery.test'], secret: 'sesame' }];
    const delivery = { allowPrivateTargets: true };
    await lab.system.client.settings.update({ body: { webhooks, mail, delivery } as never });
    const { page, problems, context } = await lab.signedIn('/settings?tab=webhooks');
    await page.getByRole('button', { name: `Send a test to ${host}` }).click();
    await page.getByText('Test sent. Its delivery is listed under Notifications.').waitFor();
    await expect.poll(() => received).toMatchObject([{ severity: 'info' }]);
    await visit(page, '/settings?tab=mail');
    await page.getByLabel('Test recipient').fill('lab@example.test');
    await page.getByRole('button', { name: 'Send a test mail' }).click();
    await visit(page, '/notifications');
    await page.getByText(`http://${host}/hook: delivered`).waitFor();
    await page.getByText(/^lab@example\.test: (waiting|failed).*/).waitFor();
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await page.getByRole('link', { name: 'Notifications', exact: true }).last().waitFor();
    expect(problems).toEqual([]);
    await context.close();
    receiver.close();
  });
});

describe('the list of notifications', () => {
  it('has pages', async () => {
    const change = (maxConcurrent: number) =>
      lab.system.client.settings.update({ body: { tasks: { maxConcurrent } } as never });
    for (let n = 1; n <= 60; n += 1) await change(n);
    const { page, problems, context } = await lab.signedIn('/notifications');
    const rows = page.locator('main tbody tr');
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByRole('button', { name: 'Page 2' }).click();
    await page.waitForURL('**page=2**');
    await expect.poll(() => rows.count()).toBeLessThan(50);
    expect(await rows.count()).toBeGreaterThanOrEqual(10);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the actions of an agent', () => {
  it('collect its logs and upgrade it, with the outcome among the notifications', async () => {
    const { page, problems, context } = await lab.signedIn(`/resources/agents/${lab.client.id}`);
    await page.getByRole('heading', { name: 'Logs' }).waitFor();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Collect logs' }).click();
    await page.getByText('Requested. The outcome is listed under Notifications.').waitFor();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Upgrade' }).click();
    const dialog = page.getByRole('dialog', { name: 'Upgrade' });
    expect(await dialog.getByRole('button', { name: 'Upgrade' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Version').fill('99.0.0');
    await dialog.getByRole('button', { name: 'Upgrade' }).click();
    // No package of this version is stored: the message names it.
    await page
      .getByText(/99\.0\.0/)
      .filter({ visible: true })
      .first()
      .waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
