/** How long the interface takes from a click or key to the next picture: with 10,000 tasks, and during a live run. */
import type { Page } from 'playwright-core';
import { ensureWeb } from '../scripts/build-web.ts';
import { administrator, launchBrowser, openPage, signIn } from '../tests/browser/browser.ts';
import { type AgentProcess, httpTask, startSystem, untilStatus } from '../tests/system/system.ts';
import { type Row, report } from './report.ts';

const taskCount = Number(process.argv[2] ?? 10_000);
const running = 4;

await ensureWeb();
const system = await startSystem({ limits: { rate: 100_000_000 } });
const { client } = system;
const [near, far] = [await system.addAgent('bench-client'), await system.addAgent('bench-server')];

const addTasks = async (count: number) => {
  for (let n = 0; n < count; n += 20) {
    const names = Array.from({ length: 20 }, (_, i) => `Task ${n + i}`);
    await Promise.all(
      names.map((comment) => client.tasks.create({ body: { ...httpTask(near, far), comment } as never })),
    );
  }
};

/** Four plugins with all of their charts. */
const manyCharts = (from: AgentProcess, to: AgentProcess) => {
  const ends = (ports: number) => ({
    sources: [{ agent: { id: from.id } }],
    targets: [{ agent: { id: to.id }, ports: String(ports) }],
    duration: { mode: 'time', seconds: 240 },
  });
  return {
    comment: 'Many charts',
    configuration: [
      { plugin: { id: 1 }, values: { ...ends(21_001), requestsPerSecond: 200 } },
      { plugin: { id: 2 }, values: { ...ends(21_002), sessionsPerSecond: 50 } },
      { plugin: { id: 3 }, values: { ...ends(21_003), packetsPerSecond: 200 } },
      { plugin: { id: 4 }, values: { ...ends(21_004), requestsPerSecond: 200, dnsParams: { names: ['a.test'] } } },
    ],
  };
};

const historySec = 3500;

interface SeriesReply {
  data: { t: number[]; series: { values: (number | null)[] }[] };
}

/** As if the run had begun an hour ago: its charts then draw as much as 50 charts of five minutes. */
const addHistory = (page: Page) =>
  page.route(/\/runs\/\d+\/series/, async (route) => {
    // A heat map has at most 300 points.
    if (route.request().url().includes('bands=')) return route.continue();
    const response = await route.fetch();
    const { data, ...rest } = (await response.json()) as SeriesReply;
    const [begin = 0] = data.t;
    const before = Array.from({ length: historySec }, (_, i) => begin - (historySec - i) * 1000);
    const series = data.series.map((one) => {
      const known = one.values.filter((value) => value !== null);
      const values = before.map((_, i) => known[i % Math.max(1, known.length)] ?? null);
      return { ...one, values: [...values, ...one.values] };
    });
    return route.fulfill({ response, json: { ...rest, data: { ...data, t: [...before, ...data.t], series } } });
  });

/** Collects the longest time from an input to the picture that shows its effect. */
const watchInteractions = (page: Page) =>
  page.evaluate(() => {
    const seen = globalThis as unknown as { slowestMs: number };
    seen.slowestMs = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { interactionId: number })[])
        if (entry.interactionId > 0) seen.slowestMs = Math.max(seen.slowestMs, entry.duration);
    }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
  });

const slowestOf = async (page: Page): Promise<number> => {
  await page.waitForTimeout(500);
  return page.evaluate(() => (globalThis as unknown as { slowestMs: number }).slowestMs);
};

const rows: Row[] = [];
const browser = await launchBrowser();
const { page } = await openPage(browser);
try {
  await addTasks(taskCount);
  await page.goto(`${system.url}/resources/tasks`);
  await signIn(page, administrator);
  await page.getByRole('link', { name: `Task ${taskCount - 1}` }).waitFor();
  await watchInteractions(page);
  await page
    .getByRole('textbox', { name: /search/i })
    .first()
    .pressSequentially('Task 77', { delay: 60 });
  await page
    .getByRole('link', { name: /^Task 77/ })
    .first()
    .waitFor();
  for (const sort of (await page.getByRole('button', { name: /^Sort by/ }).all()).slice(0, 3)) await sort.click();
  for (const box of (await page.getByRole('checkbox').all()).slice(0, 5)) await box.click();
  rows.push({ name: 'interaction-ms-10000-tasks', value: await slowestOf(page), goal: 100, better: 'lower' });

  const { data: id } = await client.tasks.create({ body: manyCharts(near, far) as never });
  await client.tasks.start({ params: { id } });
  await untilStatus(client, id, [running]);
  await addHistory(page);
  await page.goto(`${system.url}/tasks/${id}`);
  await page.locator('canvas').first().waitFor();
  await page.waitForTimeout(20_000);
  const lines = page.locator('figure tbody tr');
  console.log(
    `charts: ${await page.locator('canvas').count()}, lines: ${await lines.count()} of ${historySec} s and more`,
  );
  await watchInteractions(page);
  for (const menu of (await page.getByRole('button', { name: /^Options of the chart/ }).all()).slice(0, 6)) {
    await menu.click();
    await page.keyboard.press('Escape');
  }
  for (const tab of ['Events', 'Run']) await page.getByRole('tab', { name: tab, exact: true }).click();
  rows.push({ name: 'interaction-ms-live-run', value: await slowestOf(page), goal: 100, better: 'lower' });
} finally {
  await browser.close();
  await system.close();
}
process.exit(report(rows) ? 0 : 1);
