import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureWeb } from '../../scripts/build-web.ts';
import { type System, startSystem } from '../system/system.ts';
import { administrator, launchBrowser, openPage, signIn } from './browser.ts';

const firstLoadBytes = 400_000;
let system: System;
let browser: Browser;

beforeAll(async () => {
  await ensureWeb();
  system = await startSystem();
  await system.addAgent('lab-client');
  await system.addAgent('lab-server');
  browser = await launchBrowser();
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await system?.close();
});

const mostTabs = 80;

/** Goes on with Tab alone until the control has the focus, as somebody without a mouse does. */
const tabTo = async (page: Page, control: Locator) => {
  await control.waitFor();
  for (let presses = 0; presses < mostTabs; presses += 1) {
    if (await control.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${control}`);
};

const signedIn = async () => {
  const { page, context } = await openPage(browser);
  await page.goto(system.url);
  await signIn(page, administrator);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return { page, context };
};

describe('the first load', () => {
  it('is small: less than 400 kB from the empty cache to the overview', async () => {
    const { page, context } = await openPage(browser);
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (!request.url().includes('/v1/')) sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto(system.url);
    await signIn(page, administrator);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    console.log(`first load: ${sizes.length} files, ${bytes} bytes`);
    expect(sizes.length).toBeGreaterThan(5);
    expect(bytes).toBeGreaterThan(100_000);
    expect(bytes).toBeLessThan(firstLoadBytes);
    await context.close();
  });
});

describe('the keyboard', () => {
  it('is enough from the overview to running traffic', { retry: 1 }, async () => {
    const { page, context } = await signedIn();
    await tabTo(page, page.getByRole('link', { name: 'New test' }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('button', { name: /^HTTP requests per second/ }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('button', { name: 'Next' }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('button', { name: 'Start', exact: true }));
    await page.keyboard.press('Enter');
    await page.waitForURL('**/tasks/*');
    await tabTo(page, page.getByRole('button', { name: 'Stop', exact: true }));
    await page.keyboard.press('Enter');
    await context.close();
  });

  it('opens the palette anywhere, which finds pages and records', async () => {
    await system.client.networks.create({ body: { name: 'Remote office', subnet: '10.66.0.0/24' } });
    const { page, context } = await signedIn();
    await page.goto(`${system.url}/settings`);
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: /Go to/ });
    await palette.getByRole('textbox').fill('remote');
    await palette.getByText('Remote office').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Remote office' }).waitFor();
    await page.keyboard.press('Control+k');
    await palette.getByRole('textbox').fill('dicti');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Dictionaries' }).waitFor();
    await context.close();
  });

  it('reaches the search of a page with /, and the palette where there is none', async () => {
    const { page, context } = await signedIn();
    await page.keyboard.press('/');
    await page.getByRole('dialog', { name: /Go to/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${system.url}/resources/networks`);
    await page.getByRole('textbox', { name: 'Search' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('office');
    await page.waitForURL('**search=office**');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await context.close();
  });
});
