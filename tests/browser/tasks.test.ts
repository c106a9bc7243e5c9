import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { administrator } from './browser.ts';
import { useLab } from './lab.ts';

const lab = useLab();

const addTraffic = async (page: Page, plugin: string, where: Page | Locator = page) => {
  await where.getByRole('button', { name: 'Add traffic' }).click();
  await page.getByRole('menuitem', { name: plugin, exact: true }).click();
};

const savedTask = async (page: Page) => {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.waitForURL(/\/tasks\/\d+\?tab=definition/);
  const id = Number(/\/tasks\/(\d+)/.exec(page.url())?.[1]);
  return { id, task: (await lab.system.client.tasks.get({ params: { id } })).data };
};

describe('the task editor', () => {
  it('shows issues at their fields while editing, and keeps the input when the session expires', async () => {
    const { page, problems, context } = await lab.signedIn('/tasks/new');
    await page.getByLabel('Name', { exact: true }).first().fill('Edited by hand');
    await addTraffic(page, 'HTTP');
    await page.getByText('Ready', { exact: true }).waitFor();
    const rate = page.getByRole('textbox', { name: 'Requests per second' });
    await rate.fill('0');
    await page.locator('[data-pointer="/configuration/0/values/requestsPerSecond"] [aria-invalid="true"]').waitFor();
    await page.getByRole('button', { name: /^Error Requests per second / }).waitFor();
    await rate.fill('70');
    await page.getByText('Ready', { exact: true }).waitFor();
    await page.getByRole('tab', { name: /^Thresholds/ }).click();
    await page.getByRole('button', { name: 'Add threshold' }).click();
    // Metrics are chosen, not typed; a duration is entered in milliseconds.
    await page.getByRole('combobox', { name: 'Metric' }).fill('no.such.metric');
    await page.getByText('No results').filter({ visible: true }).first().waitFor();
    await context.clearCookies();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign in' });
    await dialog.getByLabel('Password', { exact: false }).first().fill(administrator.password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Name', { exact: true }).first().inputValue()).toBe('Edited by hand');
    // The controller rejects the missing value, and the issue is shown at its field.
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('[aria-invalid="true"]').first().waitFor();
    await page.getByRole('combobox', { name: 'Metric' }).fill('http.latency');
    await page.getByRole('option', { name: 'http.latency', exact: true }).click();
    await page.getByRole('textbox', { name: 'Value' }).fill('250');
    expect(await page.getByRole('textbox', { name: 'Value' }).inputValue()).toBe('250 ms');
    const { id, task } = await savedTask(page);
    expect(task).toMatchObject({ comment: 'Edited by hand' });
    expect(task.configuration[0]?.values).toMatchObject({ requestsPerSecond: 70 });
    const { data: thresholds } = await lab.system.client.tasks.thresholds({ params: { id } });
    expect(thresholds).toMatchObject([{ metric: 'http.latency', aggregation: 'p99', value: 250_000 }]);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('asks before unsaved changes are lost', async () => {
    const { page, problems, context } = await lab.signedIn('/tasks/new');
    await page.getByLabel('Name', { exact: true }).first().fill('Not saved');
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Discard unsaved changes?' });
    await dialog.getByRole('button', { name: 'Keep editing' }).click();
    expect(await page.getByLabel('Name', { exact: true }).first().inputValue()).toBe('Not saved');
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await dialog.getByRole('button', { name: 'Discard and leave' }).click();
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it('names no record of its own accord: a recording is asked for', async () => {
    const { page, problems, context } = await lab.signedIn('/tasks/new');
    await addTraffic(page, 'HAR replay');
    await page.getByRole('button', { name: /^Error .*File is required$/ }).waitFor();
    expect(await page.getByText('Internal error').count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('puts rows into another order by dragging and by buttons', async () => {
    const { page, problems, context } = await lab.signedIn('/tasks/new');
    await addTraffic(page, 'HTTP');
    await page.getByRole('tab', { name: /^Thresholds/ }).click();
    for (const name of ['First', 'Second', 'Third']) {
      await page.getByRole('button', { name: 'Add threshold' }).click();
      await page.getByRole('textbox', { name: 'Name', exact: true }).last().fill(name);
    }
    const names = async () => {
      const fields = page.locator('[role=group] input').filter({ visible: true });
      const values = await fields.evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));
      return values.filter((value) => ['First', 'Second', 'Third'].includes(value));
    };
    const handle = page.getByRole('group', { name: 'Threshold 3' }).getByTitle('Drag to reorder');
    await handle.dragTo(page.getByRole('group', { name: 'Threshold 1' }).getByTitle('Drag to reorder'));
    expect(await names()).toEqual(['Third', 'First', 'Second']);
    await page.getByRole('button', { name: 'Move down: Threshold 1' }).click();
    expect(await names()).toEqual(['First', 'Third', 'Second']);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('builds a suite, and moves, duplicates and removes its stages', async () => {
    const { page, problems, context } = await lab.signedIn('/tasks/new');
    await addTraffic(page, 'Suite');
    const suite = page.getByRole('group', { name: 'Entry 1 Suite' });
    // A new stage moves the button, and with it the menu, out of view.
    await addTraffic(page, 'TCP', suite);
    await suite.getByRole('group', { name: 'Entry 1 TCP' }).waitFor();
    await addTraffic(page, 'DNS', suite);
    await suite.getByRole('group', { name: 'Entry 2 DNS' }).waitFor();
    await suite.getByRole('button', { name: 'Move up: 2 DNS' }).click();
    await suite.getByRole('button', { name: 'Duplicate: 2 TCP' }).click();
    await suite.getByRole('button', { name: 'Remove: 3 TCP' }).click();
    await page.getByText('Ready', { exact: true }).waitFor();
    const { task } = await savedTask(page);
    const stages = task.configuration[0]?.subplugins?.subplugins ?? [];
    expect(stages.map(({ plugin, order }) => [plugin.id, order])).toEqual([
      [4, 1],
      [2, 0],
    ]);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('a task', () => {
  it('is duplicated, exported as an archive, and imported again', async () => {
    const agents = (await lab.system.client.agents.all()).data.map(({ id }) => ({ agent: { id } }));
    const [sources, targets] = [agents.slice(0, 1), agents.slice(1)];
    const { data: id } = await lab.system.client.tasks.create({
      body: {
        comment: 'Traveller',
        configuration: [{ plugin: { id: 1 }, values: { sources, targets, requestsPerSecond: 5 } }],
      } as never,
    });
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: 'Edit Copy of Traveller' }).waitFor();
    await page.goto(`${lab.system.url}/tasks/${id}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Export' }).click();
    await page.getByText(/2 agents/).waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const archive = await (await downloading).path();
    expect(readFileSync(archive).subarray(0, 2).toString()).toBe('PK');
    await page.goto(`${lab.system.url}/resources/tasks`);
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import task' });
    await dialog.locator('input[type=file]').setInputFiles(archive);
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText('Included items').waitFor();
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await page.waitForURL(/\/tasks\/\d+\?tab=definition/);
    await page.getByRole('heading', { name: 'Traveller' }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
