import { get } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureWeb } from '../../scripts/build-web.ts';
import { fillWithDemoData } from '../../scripts/demo-data.ts';
import { type AgentProcess, httpTask, runToEnd, type System, startSystem } from '../system/system.ts';
import {
  administrator,
  contrastViolations,
  launchBrowser,
  openPage,
  seriousViolations,
  settled,
  signIn,
  visit,
} from './browser.ts';
import { examplesOf, pagesOf } from './pages.ts';

const desk = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
let system: System;
let browser: Browser;
let page: Page;
let problems: string[];
let paths: string[];

beforeAll(async () => {
  await ensureWeb();
  system = await startSystem();
  const [near, far] = [await system.addAgent('lab-client'), await system.addAgent('lab-server')];
  const values = { requestsPerSecond: 20, duration: { mode: 'time', seconds: 2 } };
  const device = { name: 'edge-fw', vendor: 'Example', model: 'E-4000', version: '9.1' };
  const [data, { id, result }, { id: attacks }] = await Promise.all([
    fillWithDemoData(system.client),
    runToEnd(system.client, { ...httpTask(near, far, values), device }),
    runToEnd(system.client, attackTask(near, far)),
  ]);
  const { data: signature } = await system.client.cve.create({ body: probe as never });
  const task = { of: 'tasks', id: String(id), runId: String(result.id) };
  const records = [
    { name: 'agents', id: String(near.id) },
    { name: 'malware', id: '1' },
    { name: 'cve', id: String(signature) },
  ];
  paths = [
    ...(await pagesOf([...examplesOf(data), ...records, task])),
    `/tasks/${attacks}`,
    ...['runs', 'events', 'logs', 'definition'].map((tab) => `/tasks/${id}?tab=${tab}`),
    '/devices?device=edge-fw',
    '/new?template=HTTP%20requests%20per%20second',
    ...['ai', 'mail', 'tasks'].map((tab) => `/settings?tab=${tab}`),
  ];
  browser = await launchBrowser();
  ({ page, problems } = await openPage(browser));
});
afterAll(async () => {
  await browser?.close();
  await system?.close();
});

const probe = { name: 'Probe', requests: [{ idx: 0, kind: 'http', method: 'GET', path: '/probe' }] };

const attackTask = (near: AgentProcess, far: AgentProcess) => ({
  comment: 'Attacks',
  configuration: [
    {
      plugin: { id: 15 },
      values: {
        sources: [{ agent: { id: near.id } }],
        targets: [{ agent: { id: far.id }, ports: '18080' }],
        wafModules: {
          modules: [{ name: 'xss', placeholders: ['url-param'], encoders: ['plain', 'url'], maxRequests: 6 }],
          benign: { enabled: true, sample: 4, placeholders: ['url-param'] },
          ...{ ratePerSecond: 50, concurrency: 4 },
        },
      },
    },
  ],
});

/** The layout may need a moment after the window is resized. */
const fitsScreen = (page: Page) =>
  page
    .waitForFunction(() => document.documentElement.scrollWidth <= window.innerWidth, undefined, { timeout: 15_000 })
    .then(() => true)
    .catch(() => false);

/** Bytes on the wire for a browser that accepts brotli. */
const transferredBytes = async (url: string): Promise<number> => {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  get(url, { headers: { 'accept-encoding': 'br, gzip' } }, (response) => {
    let bytes = 0;
    response.on('data', (chunk: Buffer) => (bytes += chunk.length));
    response.on('end', () => resolve(bytes));
  }).on('error', reject);
  return promise;
};

/** Texts that leave the window sideways, outside of what scrolls by itself. */
const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const scrolls = (element: Element | null): boolean => {
      if (element === null) return false;
      const { overflowX } = getComputedStyle(element);
      return overflowX === 'auto' || overflowX === 'scroll' || overflowX === 'hidden' || scrolls(element.parentElement);
    };
    const texts = [...document.querySelectorAll('main h1, main h2, main h3, main button, main a, main label, main td')];
    return texts
      .filter((element) => {
        const { right, width } = element.getBoundingClientRect();
        return width > 0 && right > window.innerWidth + 1 && !scrolls(element.parentElement);
      })
      .map((element) => `${element.tagName} ${element.textContent?.slice(0, 40)}`);
  });

/** Texts and controls that lie on one another; what belongs to a field, such as its arrow, is part of it. */
const overlapping = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const wanted = 'h1, h2, h3, button, a, label, p, time, figcaption, td, th, .mantine-Badge-root';
    const parts = [...document.querySelectorAll(`main :is(${wanted})`)].filter(
      (element) =>
        element.closest('.mantine-Input-section, .mantine-VisuallyHidden-root, [aria-hidden=true], .uplot') === null &&
        element.checkVisibility({ opacityProperty: true, visibilityProperty: true }),
    );
    const boxes = parts.map((element) => ({ element, box: element.getBoundingClientRect() }));
    const slack = 3;
    const meet = (a: DOMRect, b: DOMRect) =>
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > slack &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > slack;
    const found: string[] = [];
    for (const [i, { element, box }] of boxes.entries()) {
      for (const other of boxes.slice(i + 1)) {
        if (element.contains(other.element) || other.element.contains(element) || !meet(box, other.box)) continue;
        found.push(`“${element.textContent?.slice(0, 30)}” and “${other.element.textContent?.slice(0, 30)}”`);
      }
    }
    return found.slice(0, 3);
  });

/** What is cut off, lies on something else or makes the page wider than the window, on a desk and on a phone. */
const misplacedOn = async (page: Page): Promise<string[]> => {
  const found: string[] = [];
  for (const [name, size] of Object.entries({ desk, phone })) {
    await page.setViewportSize(size);
    await settled(page);
    if (!(await fitsScreen(page))) found.push(`${name}: wider than the window`);
    found.push(...(await cutOff(page)).map((text) => `${name}: cut off ${text}`));
    found.push(...(await overlapping(page)).map((texts) => `${name}: overlap of ${texts}`));
  }
  await page.setViewportSize(desk);
  return found;
};

describe('every page', () => {
  it('has no serious accessibility violation, no overflow and no overlap, light and dark, on a desk and on a phone', async () => {
    await page.goto(system.url);
    const found = (await seriousViolations(page)).map((violation) => `sign-in: ${violation}`);
    await signIn(page, administrator);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const path of paths) {
      await visit(page, path);
      found.push(...(await seriousViolations(page)).map((violation) => `${path}: ${violation}`));
      found.push(...(await misplacedOn(page)).map((what) => `${path}, light, ${what}`));
      await page.emulateMedia({ colorScheme: 'dark' });
      await settled(page);
      found.push(...(await contrastViolations(page)).map((violation) => `${path}, dark: ${violation}`));
      found.push(...(await misplacedOn(page)).map((what) => `${path}, dark, ${what}`));
      await page.emulateMedia({ colorScheme: 'light' });
    }
    console.log(`${paths.length} pages, each at 1440 × 900 and 390 × 844, light and dark`);
    expect(paths.length).toBeGreaterThanOrEqual(50);
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('loads with at most 250 kB of compressed scripts and styles', async () => {
    const { page: fresh, context } = await openPage(browser);
    const urls: string[] = [];
    fresh.on('response', (response) => void (response.url().includes('/assets/') && urls.push(response.url())));
    await fresh.goto(system.url);
    await signIn(fresh, administrator);
    await fresh.getByRole('heading', { name: 'Overview' }).waitFor();
    const sizes = await Promise.all(urls.map(transferredBytes));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(urls.length).toBeGreaterThan(3);
    expect(bytes).toBeLessThanOrEqual(250_000);
    await context.close();
  });

  it('has forms without serious accessibility violations', async () => {
    const found: string[] = [];
    for (const name of ['networks', 'certificates', 'applications', 'groups', 'tunnels', 'users']) {
      await page.goto(`${system.url}/resources/${name}?edit=new`);
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).waitFor();
      await settled(page);
      found.push(...(await seriousViolations(page)).map((violation) => `${name}: ${violation}`));
    }
    expect(found).toEqual([]);
  });
});
