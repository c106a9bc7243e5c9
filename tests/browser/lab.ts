import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
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
    await opened.page.goto(`${this.system.url}${path}`);
    await signIn(opened.page, administrator);
    return opened;
  }
}

/** Opens the lab before the first test of a file and closes it after the last. */
export const useLab = (): Lab => {
  const lab = new Lab();
  beforeAll(() => lab.open(), 180_000);
  afterAll(() => lab.close());
  return lab;
};
