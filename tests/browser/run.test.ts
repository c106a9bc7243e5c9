import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { holdDefaultPorts } from '../process/free-port.ts';
import { httpTask } from '../system/system.ts';
import { administrator, openPage } from './browser.ts';
import { useLab } from './lab.ts';

const lab = useLab();

const requests = (seconds: number, requestsPerSecond = 50) =>
  httpTask(lab.client, lab.server, {
    requestsPerSecond,
    duration: { mode: 'time', seconds },
  });

const maxTabs = 80;

/** Presses Tab until an element of this name has the focus; fails if none gets it. */
const tabTo = async (page: Page, name: RegExp) => {
  for (let i = 0; i < maxTabs; i += 1) {
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

const load = (page: Page) => page.getByRole('img', { name: /^Load: Actual \d/ });

describe('a new test', () => {
  it('is started by keyboard alone, from the sign-in to live charts', async ({ onTestFinished }) => {
    onTestFinished(await holdDefaultPorts());
    const { page, problems, context } = await openPage(lab.browser);
    await page.goto(lab.system.url);
    await tabTo(page, /^Email/);
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
    await tabTo(page, /^Duration/);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('60');
    await tabTo(page, /^Start$/);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/tasks/*');
    await load(page).waitFor();
    await tabTo(page, /^Stop$/);
    await page.keyboard.press('Enter');
    await page.getByText('Verdict', { exact: true }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the page of a run', () => {
  it('changes the rate, pauses, resumes and stops it, and shows each as an event', async () => {
    const { data: id } = await lab.system.client.tasks.create({ body: requests(120) as never });
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}`);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await load(page).waitFor();
    await page.getByRole('button', { name: 'Change load' }).click();
    await page.getByLabel('1 HTTP: requests per second').fill('80');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('img', { name: /Target 80 / }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    // The pause has a color on the time axis.
    await page.getByRole('img', { name: /^Load: .*; Paused \d/ }).waitFor();
    await page.getByRole('table').getByRole('link', { name: 'lab-client' }).waitFor();
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('cell', { name: 'Load changed' }).first().waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('tab', { name: 'Run', exact: true }).click();
    await page.getByText('Stopped by user').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
