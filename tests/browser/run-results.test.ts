import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { httpTask, runToEnd, untilStatus } from '../system/system.ts';
import { useLab } from './lab.ts';

const lab = useLab();

const requests = (seconds: number, requestsPerSecond = 50) =>
  httpTask(lab.client, lab.server, {
    requestsPerSecond,
    duration: { mode: 'time', seconds },
  });

const load = (page: Page) => page.getByRole('img', { name: /^Load: Actual \d/ });

describe('the page of a run', () => {
  it('follows a start made elsewhere, and continues after the controller was killed and restarted', async () => {
    const { data: id } = await lab.system.client.tasks.create({ body: requests(12) as never });
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}`);
    // Started elsewhere, and the page follows.
    await page.getByText('Not run yet').waitFor();
    const { data } = await lab.system.client.tasks.start({ params: { id } });
    await page.getByText('Live', { exact: true }).waitFor();
    await load(page).waitFor();
    await lab.system.killController('SIGKILL');
    await page.getByText('Reconnecting …').waitFor();
    // The charts stay visible while the controller does not respond.
    expect(await load(page).count()).toBe(1);
    await lab.system.restartController();
    await page
      .getByText('Live', { exact: true })
      .or(page.getByText('Verdict', { exact: true }))
      .first()
      .waitFor();
    await page.getByText('Verdict', { exact: true }).waitFor();
    await untilStatus(lab.system.client, id, [7]);
    const series = await lab.system.client.tasks.series({
      params: { id, runId: data.runId },
      query: { metrics: 'achievedLoad' },
    });
    expect(series.data.series[0]?.values.slice(1, 11)).not.toContain(null);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('a finished run', () => {
  it('is compared with another one, and its report is available in every format', async () => {
    const task = requests(3);
    const { id, result: first } = await runToEnd(lab.system.client, task);
    const { data: second } = await lab.system.client.tasks.start({ params: { id } });
    await untilStatus(lab.system.client, id, [7]);
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}/runs/${second.runId}`);
    await page.getByRole('button', { name: 'Compare with' }).click();
    await page.getByRole('combobox', { name: 'Run', exact: true }).click();
    await page.getByRole('option', { name: /^Run 1,/ }).click();
    await page.getByRole('heading', { name: 'Run 2 compared with Run 1' }).waitFor();
    await page.getByRole('img', { name: /^Load: .*Actual \(other run\) \d/ }).waitFor();
    await page.getByRole('cell', { name: 'achievedLoad', exact: true }).first().waitFor();
    expect(page.url()).toContain(`with=${first.id}`);
    await page.getByRole('button', { name: 'Report' }).click();
    for (const item of await page.getByRole('menuitem').all()) {
      const answer = await page.request.get(`${lab.system.url}${await item.getAttribute('href')}`);
      expect([answer.status(), await item.textContent()]).toEqual([200, expect.any(String)]);
      expect((await answer.body()).length).toBeGreaterThan(100);
    }
    expect(problems).toEqual([]);
    await context.close();
  });
});
