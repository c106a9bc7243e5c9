import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureWeb } from '../../scripts/build-web.ts';
import { fillWithDemoData } from '../../scripts/demo-data.ts';
import { type System, startSystem } from '../system/system.ts';
import { launchBrowser, openPage, signIn, visit } from './browser.ts';
import { type Example, examplesOf, pagesOf } from './pages.ts';

const password = 'seven-Quiet-lanterns';
let system: System;
let browser: Browser;
let page: Page;
let examples: Example[];
const rejected: string[] = [];

beforeAll(async () => {
  await ensureWeb();
  system = await startSystem();
  examples = examplesOf(await fillWithDemoData(system.client));
  browser = await launchBrowser();
  ({ page } = await openPage(browser));
  const { data: groups } = await system.client.groups.list({ query: { count: 10, offset: 0 } });
  const credentials = await system.client.users.create({
    body: {
      email: 'viewer@example.test',
      realName: 'Vera View',
      groupID: groups.find(({ name }) => name === 'Viewers')?.id ?? 0,
    },
  });
  await page.goto(system.url);
  await signIn(page, credentials);
  await page.getByLabel('Temporary password').fill(credentials.password);
  await page.getByLabel('New password', { exact: false }).first().fill(password);
  await page.getByLabel('Repeat new password').fill(password);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  page.on('response', (response) => {
    if (response.status() === 403) rejected.push(`${response.request().method()} ${response.url()}`);
  });
});
afterAll(async () => {
  await browser?.close();
  await system?.close();
});

/** Labels of controls that change something. */
const changing =
  /^(New|New test|Edit.*|Delete.*|Save|Start|Run again|Stop|Block|Unblock|Archive|Choose files|Create .*|Add parameter|Suggest.*|Push.*|Enrol.*|Apply|Approve|Reject|Import.*|Reset password)$/;

describe('a viewer', () => {
  it('sees no control that changes anything, and causes no rejected request', async () => {
    const offered: string[] = [];
    for (const path of await pagesOf(examples)) {
      await visit(page, path);
      const controls = page.locator('main').locator('button, a[role=button], a.mantine-Button-root');
      for (const name of await controls.allInnerTexts())
        if (changing.test(name.trim())) offered.push(`${path}: ${name.trim()}`);
    }
    expect(offered).toEqual([]);
    expect(rejected).toEqual([]);
  });

  it('learns that a page needs another permission', async () => {
    await page.goto(`${system.url}/tasks/new`);
    await page.getByRole('heading', { name: "You don't have permission to view this page" }).waitFor();
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('cannot open a form by its URL', async () => {
    await page.goto(`${system.url}/resources/networks?edit=new`);
    await page.getByRole('heading', { name: 'Networks' }).waitFor();
    await page.getByRole('link', { name: 'Servers' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('gets an explanation when a permission is withdrawn while a form is open', async () => {
    const { data: groups } = await system.client.groups.list({ query: { count: 10, offset: 0 } });
    const viewers = groups.find(({ name }) => name === 'Viewers');
    const id = viewers?.id ?? 0;
    const permissions = viewers?.permissions ?? [];
    await system.client.groups.update({ body: { id, permissions: [...permissions, { value: 202 }] } });
    await page.goto(`${system.url}/resources/projects?edit=new`);
    const dialog = page.getByRole('dialog', { name: 'New project' });
    await dialog.getByLabel('Name').fill('Mine');
    await system.client.groups.update({ body: { id, permissions } });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('This requires the permission projects.write').waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Mine');
  });
});
