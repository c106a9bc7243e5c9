import { permissions } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { holdDefaultPorts } from '../process/free-port.ts';
import { administrator, openPage, signIn } from './browser.ts';
import { useLab } from './lab.ts';

const lab = useLab();

describe('the web interface', () => {
  it('leads from the sign-in to a running test and its verdict in a few clicks', async ({ onTestFinished }) => {
    onTestFinished(await holdDefaultPorts());
    const { page, problems, context } = await openPage(lab.browser);
    await page.goto(lab.system.url);
    await signIn(page, administrator);
    await page.getByRole('link', { name: 'New test' }).click();
    await page.getByText('HTTP requests per second').click();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL('**/tasks/*');
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    await page.getByText('Verdict', { exact: true }).waitFor();
    await page.getByText('http.requests').first().waitFor();
    const load = page.getByRole('img', { name: /^Load: Actual \d/ });
    await load.waitFor();
    await page.getByRole('button', { name: 'Report' }).click();
    const opened = context.waitForEvent('page');
    await page.getByRole('menuitem', { name: 'HTML' }).click();
    const report = await opened;
    await report.getByRole('heading', { name: 'Thresholds' }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it('requires a new user to set a password first', async () => {
    const { data } = await lab.system.client.groups.list({ query: { count: 10, offset: 0 } });
    const viewers = data.find(({ name }) => name === 'Viewers');
    const credentials = await lab.system.client.users.create({
      body: { email: 'new@example.test', realName: 'New Comer', groupID: viewers?.id ?? 0 },
    });
    const { page, context } = await openPage(lab.browser);
    await page.goto(`${lab.system.url}/resources/networks`);
    await signIn(page, credentials);
    await page.getByRole('heading', { name: 'Set your password' }).waitFor();
    await page.getByLabel('Temporary password').fill(credentials.password);
    await page.getByLabel('New password', { exact: false }).first().fill('seven-Quiet-lanterns');
    await page.getByLabel('Repeat new password').fill('seven-Quiet-lanterns');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    // Viewers see no controls that change anything.
    expect(await page.getByRole('link', { name: 'New test' }).count()).toBe(0);
    await page.goto(`${lab.system.url}/resources/networks`);
    await page.getByRole('heading', { name: 'Networks' }).waitFor();
    expect(await page.getByRole('button', { name: 'New', exact: true }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Users' }).count()).toBe(
      viewers?.permissions.some(({ value }) => value === permissions['users.read']) ? 1 : 0,
    );
    await context.close();
  });

  it('keeps the input of a form when the session expires', async () => {
    const { page, context } = await openPage(lab.browser);
    await page.goto(`${lab.system.url}/resources/projects`);
    await signIn(page, administrator);
    await page.getByRole('button', { name: 'New' }).click();
    const dialog = page.getByRole('dialog', { name: /New project/ });
    await dialog.getByLabel('Name').fill('Edge firewall');
    await context.clearCookies();
    await dialog.getByRole('button', { name: 'Save' }).click();
    const again = page.getByRole('dialog', { name: 'Sign in' });
    await again.getByLabel('Password', { exact: false }).first().fill(administrator.password);
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.waitFor({ state: 'hidden' });
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Edge firewall');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Edge firewall' }).waitFor();
    await context.close();
  });

  it('shows issues that the controller reports at their fields', async () => {
    const { page, context } = await openPage(lab.browser);
    await page.goto(`${lab.system.url}/resources/networks`);
    await signIn(page, administrator);
    await page.getByRole('button', { name: 'New' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('clients');
    await dialog.getByLabel('Subnet').fill('10.0.0.0/99');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('[aria-invalid="true"]').first().waitFor();
    await dialog.getByLabel('Subnet').fill('10.7.0.0/24');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'clients' }).waitFor();
    await context.close();
  });
});
