import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { httpTask, runToEnd, untilStatus } from '../system/system.ts';
import { visit } from './browser.ts';
import { useLab } from './lab.ts';

const lab = useLab();

const requests = (seconds: number, values: object = {}) =>
  httpTask(lab.client, lab.server, { requestsPerSecond: 50, duration: { mode: 'time', seconds }, ...values });

const device = { name: 'edge-fw', vendor: 'Example', model: 'E-4000', version: '9.1' };
const chart = (page: Page) => page.getByRole('figure', { name: 'Load' });

/** Downloads what an item of the menu of a chart saves. */
const saved = async (page: Page, item: string) => {
  await page.getByRole('button', { name: 'Options of the chart Load' }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: item }).click();
  const download = await downloading;
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
};

/** The numbers beside the vertical axis are drawn: a chart is compared by its picture. */
const pictureOf = (page: Page) =>
  chart(page)
    .locator('canvas')
    .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());

describe('a chart', () => {
  it('is saved as a table and a picture, fills the screen, and has a logarithmic scale', async () => {
    const { id, result } = await runToEnd(lab.system.client, requests(4));
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}/runs/${result.id}`);
    await chart(page)
      .getByRole('row', { name: /^Actual/ })
      .waitFor();
    const table = await saved(page, 'Save as CSV');
    expect(table.name).toBe('load.csv');
    const [header, ...rows] = table.bytes.toString().split('\n');
    expect(header).toBe('time,"Actual","Target"');
    expect(rows.length).toBeGreaterThan(2);
    expect(rows[1]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z,[\d.]+,50$/);
    const picture = await saved(page, 'Save as PNG');
    expect([picture.name, picture.bytes.subarray(1, 4).toString()]).toEqual(['load.png', 'PNG']);
    expect(picture.bytes.length).toBeGreaterThan(1000);
    const linear = await pictureOf(page);
    await page.getByRole('button', { name: 'Options of the chart Load' }).click();
    await page.getByRole('menuitem', { name: 'Logarithmic scale' }).click();
    await expect.poll(async () => (await pictureOf(page)) === linear).toBe(false);
    await page.getByRole('button', { name: 'Options of the chart Load' }).click();
    await page.getByRole('menuitem', { name: 'Full screen' }).click();
    await page.waitForFunction(() => document.fullscreenElement?.getAttribute('aria-label') === 'Load');
    await page.evaluate(() => document.exitFullscreen());
    expect(problems).toEqual([]);
    await context.close();
  });

  it('has bands where the load is ramped', async () => {
    const duration = { mode: 'time', seconds: 5, rampUpSec: 2, rampDownSec: 1 };
    const { id } = await runToEnd(lab.system.client, requests(5, { duration }));
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}`);
    const time = '\\d\\d:\\d\\d:\\d\\d';
    const bands = `Ramp-up ${time}–${time}; Ramp-down ${time}–${time}$`;
    await page.getByRole('img', { name: new RegExp(`^Load: Actual .*; ${bands}`) }).waitFor();
    await page.getByRole('img', { name: new RegExp(`^Latency .*; ${bands}`) }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the topology of a run', () => {
  it('shows networks, the device and the rates of the moment on its arrows', async () => {
    const { client } = lab.system;
    const { data: network } = await client.networks.create({
      body: { name: 'Clients of the run', subnet: '127.9.0.0/24' } as never,
    });
    const values = {
      sources: [{ agent: { id: lab.client.id }, network: { id: network } }],
      duration: { mode: 'time', seconds: 240 },
    };
    const { data: id } = await client.tasks.create({ body: { ...requests(240, values), device } as never });
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}`);
    const topology = page.getByRole('region', { name: 'Topology' });
    await topology.getByText('Clients of the run 127.9.0.0/24').waitFor();
    await client.tasks.start({ params: { id } });
    await topology.getByRole('link', { name: 'edge-fw' }).waitFor();
    await topology.getByText('Example E-4000 9.1').waitFor();
    // Both directions on both sides of the device.
    const rates = topology.getByText(/[\d.]+ [kM]?bit\/s/);
    await expect.poll(() => rates.count(), { timeout: 180_000 }).toBe(4);
    await client.tasks.stop({ params: { id } });
    await untilStatus(client, id, [7, 8, 9]);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the runs of a task', () => {
  it('have their trend, by device, and are compared in the units of their metrics', async () => {
    const { client } = lab.system;
    const { id } = await runToEnd(client, { ...requests(3), device });
    await client.tasks.update({
      body: { ...requests(3, { requestsPerSecond: 20 }), id, device: { ...device, version: '9.2' } } as never,
    });
    await client.tasks.start({ params: { id } });
    await untilStatus(client, id, [7]);
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}?tab=runs`);
    await page.getByRole('heading', { name: 'Trend of the last runs' }).waitFor();
    await page.getByRole('link', { name: /^Run 1: [2-5]\d(\.\d+)? \/s, edge-fw/ }).waitFor();
    await page.getByRole('link', { name: /^Run 2: (\d|1\d|20)(\.\d+)? \/s, edge-fw/ }).waitFor();
    await page.getByRole('link', { name: /^Run 1: [\d.]+ (µs|ms|s), edge-fw/ }).waitFor();
    await visit(page, '/devices?device=edge-fw');
    await page.getByRole('cell', { name: '9.2', exact: true }).first().waitFor();
    await page.getByRole('cell', { name: '9.1', exact: true }).first().waitFor();
    // One bar for each run, over all versions or those of one.
    const bars = (version: string) => page.getByRole('link', { name: new RegExp(`^Run \\d: .* ${version}$`) });
    await bars('9.1').first().waitFor();
    await bars('9.2').first().waitFor();
    await page.getByRole('combobox', { name: 'Version' }).click();
    await page.getByRole('option', { name: '9.1' }).click();
    await page.getByRole('cell', { name: '9.2', exact: true }).first().waitFor({ state: 'detached' });
    expect(await bars('9.2').count()).toBe(0);
    await visit(page, `/tasks/${id}?tab=runs`);
    const compare = page.getByRole('button', { name: 'Compare' });
    await page.getByRole('checkbox', { name: 'Select Run 1' }).check();
    expect(await compare.isDisabled()).toBe(true);
    await page.getByRole('checkbox', { name: 'Select Run 2' }).check();
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.getByRole('heading', { name: 'Run 2 compared with Run 1' }).waitFor();
    const cells = (metric: string) => page.getByRole('row', { name: metric }).first().locator('td').allTextContents();
    expect((await cells('achievedLoad')).slice(1, 3).join(' ')).toMatch(
      /^[2-5]\d(\.\d+)? \/s (\d|1\d|20)(\.\d+)? \/s$/,
    );
    expect((await cells('http.latency')).slice(1, 3).join(' ')).toMatch(/^[\d.]+ (µs|ms|s) [\d.]+ (µs|ms|s)$/);
    // What says how busy the agents were decides nothing, and comes last.
    const metrics = await page
      .getByRole('row')
      .filter({ hasText: /%/ })
      .evaluateAll((rows) => rows.map((row) => row.querySelector('td')?.textContent ?? ''));
    expect(metrics.findIndex((name) => name.startsWith('agent'))).toBeGreaterThan(metrics.indexOf('achievedLoad'));
    // The difference of the definitions is in words.
    await page.getByText('Requests per second:').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
