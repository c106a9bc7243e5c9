import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFailed } from 'vitest';
import { ensureWeb } from '../../scripts/build-web.ts';
import { type AgentProcess, type System, startSystem } from '../system/system.ts';
import { administrator, launchBrowser, openPage, signIn } from './browser.ts';

/** A controller with two agents and a browser, shared by the tests of a file. */
class Lab {
  system!: System;
  browser!: Browser;
  client!: AgentProcess;
  server!: AgentProcess;

  async open(): Promise<void> {
    await ensureWeb();
    this.system = await startSystem();
    [this.client, this.server] = await Promise.all([
      this.system.addAgent('lab-client'),
      this.system.addAgent('lab-server'),
    ]);
    this.browser = await launchBrowser();
  }

  async close(): Promise<void> {
    await this.browser?.close();
    await this.system?.close();
  }

  /** A page, signed in as administrator. */
  async signedIn(path: string) {
    const opened = await openPage(this.browser);
    explainFailures(opened.page);
    await opened.page.goto(`${this.system.url}${path}`);
    await signIn(opened.page, administrator);
    return opened;
  }
}

const maxShown = 6000;

/** A step that never comes says nothing about the reason: a failed test shows the page and what the controller refused. */
const explainFailures = (page: Page) => {
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
  });
  page.on('requestfailed', (request) => refused.push(`${request.failure()?.errorText} ${request.url()}`));
  onTestFailed(async () => {
    const shown = await page.locator('body').ariaSnapshot({ timeout: 10_000 }).catch(String);
    console.error([page.url(), shown.slice(0, maxShown), ...refused].join('\n'));
    await page
      .context()
      .close()
      .catch(() => {});
  });
};

/** Opens the lab before the first test of a file and closes it after the last. */
export const useLab = (): Lab => {
  const lab = new Lab();
  beforeAll(() => lab.open());
  afterAll(() => lab.close());
  return lab;
};
