import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { requireProgram } from '../engines/programs.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The administrator that `startSystem` creates. */
export const administrator = { email: 'admin@example.test', password: 'quiet-Harbour-27-lamps' };

/** A real browser: Debian's Chromium. */
export const launchBrowser = async (): Promise<Browser> => {
  requireProgram('chromium');
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
};

const networkChanged = /ERR_NETWORK_CHANGED|chrome-error:/;
const navigations = 10;

/** Tests beside this one make and remove interfaces; Chromium then gives up what it loads, also from this machine. */
const loadInSpiteOfOthers = (page: Page): void => {
  const load = page.goto.bind(page);
  page.goto = async (...args) => {
    for (let left = navigations; ; left -= 1) {
      try {
        return await load(...args);
      } catch (error) {
        if (left === 0 || !networkChanged.test(String(error))) throw error;
        await page.waitForTimeout(500);
      }
    }
  };
};

/** A page, and the errors that its scripts throw. */
export const openPage = async (browser: Browser, options: object = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  loadInSpiteOfOthers(page);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.setDefaultTimeout(90_000);
  return { page, problems, context };
};

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

/** Waits for transitions of colors and dialogs; endless animations are ignored. */
export const settled = async (page: Page) => {
  // A change of the color scheme starts its transitions in the next frame.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(
        (one) => one.playState !== 'running' || one.effect?.getComputedTiming().endTime === Number.POSITIVE_INFINITY,
      ),
  );
};

/** Violations that axe rates serious or critical. Run by the debugger, to which the page's CSP does not apply. */
const violationsOf = async (page: Page, options: object): Promise<string[]> => {
  // A dialog that fades in, or a button that is busy no longer, has too little contrast for a moment.
  await settled(page);
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  const found = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as { violations: Violation[] };
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
};

const cheap = { resultTypes: ['violations'], iframes: false, ancestry: false };

export const seriousViolations = (page: Page) => violationsOf(page, cheap);

/** Contrast only, for another color scheme of the same page. */
export const contrastViolations = (page: Page) => violationsOf(page, { ...cheap, runOnly: ['color-contrast'] });

export const signIn = async (page: Page, { email, password }: { email: string; password: string }) => {
  const form = page.getByRole('textbox', { name: 'Email' });
  const explained = (what: string) => async (cause: unknown) => {
    const shown = (await page.locator('body').textContent()) ?? '';
    throw new Error(`${what} at ${page.url()}: ${shown.slice(0, 500)}`, { cause });
  };
  await form.waitFor().catch(explained('there is no sign-in form'));
  await form.fill(email);
  await page.getByLabel('Password', { exact: false }).first().fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  // Otherwise the next step would wait for a page that never comes, and its error would say nothing about the reason.
  await form.waitFor({ state: 'detached' }).catch(explained('the sign-in did not end'));
};

/** Navigates without reloading the interface, and waits until the page is rendered with its data. */
export const visit = async (page: Page, path: string) => {
  // Via a page that does not exist, so that nothing of the old page is mistaken for the new one.
  await page.evaluate(() => history.pushState({}, '', '/nowhere'));
  await page.waitForFunction(() => document.querySelector('main') === null);
  await page.evaluate((to) => history.pushState({}, '', to), path);
  try {
    await page.waitForFunction(
      () =>
        document.querySelector('main h1') !== null && document.querySelector('main .mantine-Skeleton-root') === null,
    );
  } catch (cause) {
    throw new Error(`${path} is not drawn: ${await page.locator('body').textContent()}`, { cause });
  }
};
