import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { httpTask, runToEnd, untilStatus } from '../system/system.ts';
import { useLab } from './lab.ts';

const lab = useLab();
const phone = { width: 390, height: 844 };

const requests = (seconds: number, more: object = {}) =>
  httpTask(lab.client, lab.server, { requestsPerSecond: 50, duration: { mode: 'time', seconds }, ...more });

const wafTask = (maxRequests: number, ratePerSecond: number) => ({
  comment: 'attacks',
  configuration: [
    {
      plugin: { id: 15 },
      values: {
        sources: [{ agent: { id: lab.client.id } }],
        targets: [{ agent: { id: lab.server.id }, ports: String(lab.server.port) }],
        wafModules: {
          modules: ['xss', 'sql-injection', 'path-traversal'].map((name) => ({
            ...{ name, placeholders: ['url-param'], maxRequests },
          })),
          benign: { enabled: true, sample: 4, placeholders: ['url-param'] },
          ...{ ratePerSecond, concurrency: 2 },
        },
      },
    },
  ],
});

const chart = (page: Page) => page.getByRole('figure', { name: 'Load' });
/** The time axis of a chart is drawn, not written: its data are read from the legend at the cursor. */
const timeAt = async (page: Page, share: number) => {
  const box = await chart(page).locator('.u-over').boundingBox();
  if (box === null) throw new Error('the chart has no plot');
  await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  return (await chart(page).locator('thead th').first().textContent()) ?? '';
};
const seconds = (time: string) => time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);

describe('the charts of a run', () => {
  it('keep the zoom when new samples arrive, share the cursor, and are reset', async () => {
    const { data: id } = await lab.system.client.tasks.create({ body: requests(120) as never });
    await lab.system.client.tasks.start({ params: { id } });
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}`);
    const load = chart(page);
    await load.waitFor();
    await expect
      .poll(async () => seconds(await timeAt(page, 0.99)) - seconds(await timeAt(page, 0.01)))
      .toBeGreaterThan(6);
    const box = await load.locator('.u-over').boundingBox();
    if (box === null) throw new Error('the chart has no plot');
    await page.mouse.move(box.x + box.width * 0.2, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + 40, { steps: 5 });
    await page.mouse.up();
    const reset = page.getByRole('button', { name: 'Reset zoom' });
    await reset.waitFor();
    const zoomed = await timeAt(page, 0.98);
    // Another chart shows the same second at its cursor.
    const others = page
      .getByRole('figure', { name: /^Latency/ })
      .locator('thead th')
      .first();
    expect(await others.textContent()).toBe(zoomed);
    await page.waitForTimeout(4000);
    expect(await timeAt(page, 0.98)).toBe(zoomed);
    await reset.click();
    await expect.poll(async () => seconds(await timeAt(page, 0.98))).toBeGreaterThan(seconds(zoomed));
    await lab.system.client.tasks.stop({ params: { id } });
    await untilStatus(lab.system.client, id, [7, 8, 9]);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('show the connection that is lost, and go on when it is back', async () => {
    const { id, result } = await runToEnd(lab.system.client, requests(3));
    const { page, context } = await lab.signedIn(`/tasks/${id}/runs/${result.id}`);
    await page.getByText('Verdict', { exact: true }).waitFor();
    await page.route('**/v1/**', (route) => route.abort('connectionrefused'));
    await page.getByRole('tab', { name: 'All runs' }).click();
    await page.getByRole('alert').filter({ hasText: 'Connection lost' }).waitFor();
    await page.unroute('**/v1/**');
    await page.getByRole('alert').filter({ hasText: 'Connection lost' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Run 1' }).waitFor();
    await context.close();
  });
});

describe('the page of a finished run', () => {
  it('shows verdict, key figures and the mean of each line, and fits a phone with its thresholds', async () => {
    const { data: id } = await lab.system.client.tasks.create({ body: requests(5) as never });
    const name = 'responses-in-time-of-the-whole-site-and-all-its-parts';
    const limit = { name, metric: 'http.latency', aggregation: 'p95', operator: '<', value: 1 };
    await lab.system.client.tasks.setThresholds({ body: { id, thresholds: [limit] as never } });
    await lab.system.client.tasks.start({ params: { id } });
    await untilStatus(lab.system.client, id, [7]);
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}`);
    const verdict = page.getByRole('region', { name: 'Verdict' });
    // On a machine too busy for its agents the same run is inconclusive.
    await verdict.getByRole('heading', { name: /^(Failed|Inconclusive)$/ }).waitFor();
    await verdict.getByText(/required: p95 of http\.latency < 1 µs$/).waitFor();
    const figures = page.getByRole('region', { name: 'Key figures' });
    await figures.getByText('Target 50 /s').waitFor();
    await figures.getByText('Latency p95').waitFor();
    // The last second is incomplete: the legend shows the mean, not the newest value.
    const row = chart(page).getByRole('row', { name: /^Actual/ });
    expect(await row.locator('td').first().textContent()).toBe('');
    expect(Number.parseFloat((await row.locator('td').nth(2).textContent()) ?? '')).toBeGreaterThan(40);
    expect(await page.getByRole('figure', { name: 'Errors' }).count()).toBe(0);
    // From what matters most to the details.
    const tops = await Promise.all(
      [
        verdict,
        figures,
        page.getByRole('region', { name: 'Topology' }),
        chart(page),
        page.getByRole('heading', { name: 'Thresholds' }),
      ].map(async (part) => (await part.boundingBox())?.y ?? 0),
    );
    expect(tops).toEqual(tops.toSorted((a, b) => a - b));
    await page.getByRole('img', { name: /^Distribution \(http\.latency\): most between/ }).waitFor();
    await page.getByRole('button', { name: 'Edit labels' }).click();
    const labels = page.getByRole('dialog', { name: 'Labels' });
    await labels.getByRole('button', { name: 'Add label' }).click();
    await labels.getByLabel('Label', { exact: true }).fill('rack');
    await labels.getByLabel('Value').fill('7b');
    await labels.getByRole('button', { name: 'Save' }).click();
    await verdict.getByText('rack: 7b').waitFor();
    await page.setViewportSize(phone);
    // The menu goes away in steps.
    const rowsOfTabs = () =>
      page
        .getByRole('tab')
        .evaluateAll((all) => new Set(all.map((tab) => Math.round(tab.getBoundingClientRect().top))).size);
    await expect.poll(rowsOfTabs).toBe(1);
    const shown = page
      .getByText(/µs, required|ms, required/)
      .filter({ visible: true })
      .last();
    await shown.waitFor();
    const rightEdge = () => shown.evaluate((element) => element.getBoundingClientRect().right);
    await expect.poll(rightEdge).toBeLessThanOrEqual(phone.width);
    await page.waitForFunction(() => document.documentElement.scrollWidth <= window.innerWidth);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('says that a deleted result is gone', async () => {
    const { id, result } = await runToEnd(lab.system.client, requests(2));
    await lab.system.client.tasks.removeRuns({ params: { id }, body: { array: [result.id] } });
    const { page, context } = await lab.signedIn(`/tasks/${id}/runs/${result.id}`);
    await page.getByText('This result was deleted, or never existed.').waitFor();
    expect(await page.getByRole('figure').count()).toBe(0);
    await context.close();
  });
});

describe('a security run', () => {
  it('counts attempts and shows progress while it runs, and keeps its place when an attempt is opened', async () => {
    const { data: id } = await lab.system.client.tasks.create({ body: wafTask(200, 2) as never });
    await lab.system.client.tasks.start({ params: { id } });
    await untilStatus(lab.system.client, id, [4]);
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}`);
    const attempts = page.getByRole('region', { name: 'Key figures' }).getByText(/^\d+ attacks, \d+ harmless$/);
    await attempts.waitFor();
    const first = Number.parseInt((await attempts.textContent()) ?? '', 10);
    await expect.poll(async () => Number.parseInt((await attempts.textContent()) ?? '', 10)).toBeGreaterThan(first + 4);
    const progress = page.getByRole('progressbar', { name: 'Progress' });
    await expect.poll(async () => Number(await progress.getAttribute('aria-valuenow'))).toBeGreaterThan(0);
    await lab.system.client.tasks.stop({ params: { id } });
    await untilStatus(lab.system.client, id, [7, 8]);
    const attempt = page.getByRole('button', { name: /^(xss|sql-injection|path-traversal) \d+$/ }).nth(3);
    await attempt.scrollIntoViewIfNeeded();
    const before = await page.evaluate(() => window.scrollY);
    expect(before).toBeGreaterThan(100);
    await attempt.click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(Math.abs((await page.evaluate(() => window.scrollY)) - before)).toBeLessThan(5);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('is started with a reason where the controller requires one', async () => {
    await lab.system.client.settings.update({ body: { tasks: { hazardRequiresReason: true } } as never });
    const { data: id } = await lab.system.client.tasks.create({ body: wafTask(4, 50) as never });
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}`);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Start a hazardous task' });
    await dialog.getByLabel('Reason').fill('Acceptance of the new rules');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Verdict', { exact: true }).waitFor();
    await lab.system.client.settings.update({ body: { tasks: { hazardRequiresReason: false } } as never });
    expect(problems).toEqual([]);
    await context.close();
  });
});

it('the page of a search shows its trials while it runs, and what was found', async () => {
  const goal = { start: 20, max: 40, resolutionPct: 50, trialSec: 2, settleSec: 0 };
  const { data: id } = await lab.system.client.tasks.create({
    body: httpTask(lab.client, lab.server, { requestsPerSecond: undefined, duration: { goal } }) as never,
  });
  await lab.system.client.tasks.start({ params: { id } });
  const { page, problems, context } = await lab.signedIn(`/tasks/${id}`);
  const searching = page.getByText('Searching', { exact: true });
  await page.getByRole('img', { name: /^Offered load of each trial: Trial 1: 20 \/s, passed/ }).waitFor();
  await searching.waitFor();
  // The next trials appear without reloading the page.
  await page.getByRole('img', { name: /Trial 2: 40 \/s, passed/ }).waitFor();
  await untilStatus(lab.system.client, id, [7]);
  await page.getByText('≥ 40 /s, requests').waitFor();
  await searching.waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Trials: Search for the limit' }).waitFor();
  await page.getByRole('cell', { name: 'passed, repeated' }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

it('the page of a run of access sessions shows how many are in which step', async () => {
  const { client } = lab.system;
  const profileOf = async (protocol: string, config: object) => {
    const body = { name: `${protocol} ${randomUUID()}`, type: `protocol.${protocol}`, config };
    return (await client.dictionaries.create({ body: body as never })).data;
  };
  const loopbackOf = async ({ id }: { id: number }) => {
    const { data } = await client.agents.get({ params: { id } });
    return { agent: { id }, interfaces: [data.interfaces?.find(({ name }) => name === 'lo')?.id ?? 0] };
  };
  const pppoe = await profileOf('pppoe', { server: { maxSessions: 3 } });
  const ppp = await profileOf('ppp', {});
  const sessions = await profileOf('sessions', { load: { count: 5 } });
  const links = await profileOf('links', { link: { sourceMac: '02:66:00:00:00:01' } });
  const body = {
    comment: 'access sessions',
    configuration: [],
    accessPlane: [
      { ...(await loopbackOf(lab.client)), sessions: [sessions], links: [links], pppoe: [pppoe], ppp: [ppp] },
      { ...(await loopbackOf(lab.server)), isServer: true, pppoe: [pppoe], ppp: [ppp] },
    ],
  };
  const { data: id } = await client.tasks.create({ body: body as never });
  await client.tasks.start({ params: { id } });
  const { page, problems, context } = await lab.signedIn(`/tasks/${id}`);
  const steps = page.getByRole('region', { name: 'Sessions by step' });
  const counts = async () =>
    Object.fromEntries(
      (await steps.getByRole('listitem').allTextContents()).map((item) => [
        item.replace(/ \d+$/, ''),
        Number(item.split(' ').at(-1)),
      ]),
    );
  await expect.poll(counts).toMatchObject({ up: 3, LCP: 0 });
  const all = Object.values(await counts()).reduce((sum, count) => sum + count, 0);
  expect(all).toBe(5);
  const figures = page.getByRole('region', { name: 'Key figures' });
  await figures.getByText('Sessions', { exact: true }).waitFor();
  await figures.getByText('3 up', { exact: true }).waitFor();
  await client.tasks.stop({ params: { id } });
  await untilStatus(client, id, [7, 8, 9]);
  await steps.waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
  await context.close();
});
