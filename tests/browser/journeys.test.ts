import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Shop, startShop } from '../engines/http/shop.ts';
import { contrastViolations, seriousViolations } from './browser.ts';
import { useLab } from './lab.ts';

const lab = useLab();
const phone = { width: 390, height: 844 };
let shop: Shop;

beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop?.stop());

const steps = [
  {
    ...{ name: 'login', method: 'POST', path: '/login', body: { type: 'text', text: '{"name":"{{who}}"}' } },
    extract: [{ variable: 'token', from: 'json', expression: '$.token' }],
  },
  { kind: 'think', thinkMs: 60_000 },
  { name: 'list', path: '/list/{{token}}', checks: [{ kind: 'json', name: '$.items[0].id', value: '7' }] },
  { name: 'missing', path: '/broken', checks: [{ kind: 'status', value: '200' }] },
];
const journeyFile = {
  format: 'rushhour-journeys',
  version: 1,
  journeys: [{ name: 'shop', variables: [{ name: 'who', value: 'ada' }], steps }],
};

/** The editor of a task with traffic to the shop, with a journey from a file that is not saved yet. */
const openEditor = async () => {
  const { client } = lab.system;
  const values = {
    sources: [{ agent: { id: lab.client.id } }],
    targets: [{ ip: '127.0.0.1', ports: String(shop.port) }],
    requestsPerSecond: 5,
    httpParams: { connections: 2 },
  };
  const body = { comment: 'Shop', configuration: [{ plugin: { id: 1 }, values }] };
  const { data: id } = await client.tasks.create({ body: body as never });
  const opened = await lab.signedIn(`/tasks/${id}/edit`);
  const { page } = opened;
  await page.getByRole('button', { name: 'Add: Journeys' }).waitFor();
  await page.locator('[data-pointer="/configuration/0/values/httpParams/journeys"] input[type=file]').setInputFiles({
    ...{ name: 'shop.json', mimeType: 'application/json' },
    buffer: Buffer.from(JSON.stringify(journeyFile)),
  });
  await page.getByRole('group', { name: 'Step 4' }).waitFor();
  return { ...opened, id };
};

/** Ids of all tasks, deleted ones included. */
const taskIds = async () =>
  (await lab.system.client.tasks.list({ query: { deleted: 'all' } })).data.map(({ id }) => id).sort();

const tryOnce = async (page: Page): Promise<Locator> => {
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Result of journey 1 shop' });
  await dialog.waitFor();
  return dialog;
};

const close = async (page: Page, dialog: Locator) => {
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
};

describe('a journey in the editor', () => {
  it('is tried before it is saved: requests, answers, failed checks and variables are shown', async () => {
    const { page, problems, context, id } = await openEditor();
    const before = await taskIds();
    const dialog = await tryOnce(page);
    await dialog.getByRole('button', { name: /^200 login POST \/login / }).click();
    const login = dialog.getByRole('region', { name: /^200 login/ });
    await login.getByText('who = ada').waitFor();
    await login.getByText('token = empty').waitFor();
    await login.getByText('token = t-ada').waitFor();
    await login.getByText(/^POST \/login HTTP\/1\.1.*\{"name":"ada"\}$/s).waitFor();
    await dialog.getByRole('button', { name: /^200 list GET \/list\/t-ada / }).click();
    await dialog
      .getByRole('region', { name: /^200 list/ })
      .getByText(/^HTTP 200.*"items":\[\{"id":7\}/s)
      .waitFor();
    // What failed is shown in full at once.
    const missing = dialog.getByRole('region', { name: /^500 missing .*failed check: status 200$/ });
    await missing.getByText(/^HTTP 500.*broken$/s).waitFor();
    expect(shop.urls()).toEqual(['/login', '/list/t-ada', '/broken']);
    expect(await seriousViolations(page)).toEqual([]);
    await page.setViewportSize(phone);
    await page.waitForFunction(() => document.documentElement.scrollWidth <= window.innerWidth);
    const widths = await dialog.evaluate((element) => [element.scrollWidth, element.clientWidth, window.innerWidth]);
    expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0);
    expect(widths[1]).toBe(phone.width);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => contrastViolations(page)).toEqual([]);
    await close(page, dialog);
    // Nothing is left behind, and the task is as it was.
    expect(await taskIds()).toEqual(before);
    expect(JSON.stringify((await lab.system.client.tasks.get({ params: { id } })).data)).not.toContain('login');
    expect(problems).toEqual([]);
    await context.close();
  });

  it('is tried again with what was changed, up to a step', async () => {
    const { page, problems, context } = await openEditor();
    await page.getByRole('group', { name: 'Step 4' }).getByRole('textbox', { name: 'Value' }).fill('500');
    const dialog = await tryOnce(page);
    await dialog.getByRole('button', { name: /^500 missing/ }).waitFor();
    expect(await dialog.getByText(/failed check/).count()).toBe(0);
    await close(page, dialog);
    const before = shop.urls().length;
    await page.getByRole('combobox', { name: 'Up to step' }).click();
    await page.getByRole('option', { name: '1 login' }).click();
    const first = await tryOnce(page);
    await first.getByRole('button', { name: /^200 login/ }).waitFor();
    expect(await first.getByRole('button', { name: /^\d{3} / }).count()).toBe(1);
    expect(shop.urls().slice(before)).toEqual(['/login']);
    expect(problems).toEqual([]);
    await context.close();
  });
});
