import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureWeb } from '../../scripts/build-web.ts';
import { freePort, holdUsualPorts } from '../process/free-port.ts';
import { type AgentProcess, httpTask, type System, startSystem } from '../system/system.ts';
import { administrator, launchBrowser, openPage, signIn } from './browser.ts';

let system: System;
let browser: Browser;
let client: AgentProcess;
let server: AgentProcess;

beforeAll(async () => {
  await ensureWeb();
  system = await startSystem();
  [client, server] = await Promise.all([system.addAgent('lab-client'), system.addAgent('lab-server')]);
  browser = await launchBrowser();
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await system?.close();
});

/** Requests to a port that no other test uses. */
const requests = async (seconds: number, requestsPerSecond = 50) =>
  httpTask(client, server, {
    targets: [{ agent: { id: server.id }, ports: String(await freePort()) }],
    requestsPerSecond,
    duration: { mode: 'time', seconds },
  });

const signedIn = async (path: string) => {
  const opened = await openPage(browser);
  await opened.page.goto(`${system.url}${path}`);
  await signIn(opened.page, administrator);
  return opened;
};

const mostTabs = 80;

/** Goes on with Tab until something of this name has the focus: what cannot be reached so fails. */
const tabTo = async (page: Page, name: RegExp) => {
  for (let i = 0; i < mostTabs; i += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const at = document.activeElement as HTMLInputElement | null;
      const label = at?.labels?.[0]?.textContent ?? '';
      return (at?.getAttribute('aria-label') ?? (label || at?.textContent) ?? '').trim();
    });
    if (name.test(focused)) return;
  }
  throw new Error(`nothing called ${name} can be reached by Tab`);
};

const load = (page: Page) => page.getByRole('img', { name: /^Load: reached \d/ });

describe('a new test', () => {
  it('is begun without a mouse, from the sign-in to live charts', async ({ onTestFinished }) => {
    onTestFinished(await holdUsualPorts());
    const { page, problems, context } = await openPage(browser);
    await page.goto(system.url);
    await tabTo(page, /^E-mail/);
    await page.keyboard.type(administrator.email);
    await tabTo(page, /^Password/);
    await page.keyboard.type(administrator.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await tabTo(page, /^New test$/);
    await page.keyboard.press('Enter');
    await page.getByText('HTTP requests per second').waitFor();
    await tabTo(page, /^HTTP requests per second/);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Next' }).waitFor();
    await tabTo(page, /^Next$/);
    await page.keyboard.press('Enter');
    await tabTo(page, /^(Duration|Seconds)/);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('60');
    await tabTo(page, /^Start$/);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/tasks/*');
    await load(page).waitFor();
    await tabTo(page, /^Stop$/);
    await page.keyboard.press('Enter');
    await page.getByText('Verdict', { exact: true }).waitFor({ timeout: 60_000 });
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the page of a run', () => {
  it('steers it: another rate, a pause, a resumption and a stop, each marked and told', async () => {
    const { data: id } = await system.client.tasks.create({ body: (await requests(120)) as never });
    const { page, problems, context } = await signedIn(`/tasks/${id}`);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await load(page).waitFor();
    await page.getByRole('button', { name: 'Change load' }).click();
    await page.getByLabel('1 HTTP: requests a second').fill('80');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('img', { name: /wanted 80 / }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByRole('table').getByRole('link', { name: 'lab-client' }).waitFor();
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('cell', { name: 'load changed' }).first().waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('tab', { name: 'Run', exact: true }).click();
    await page.getByText('Ended by a person').waitFor({ timeout: 60_000 });
    expect(problems).toEqual([]);
    await context.close();
  });
});
