import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { useLab } from './lab.ts';

const lab = useLab();
const desk = { width: 1440, height: 900 };

const add = async (page: Page, plugin: string) => {
  await page.getByRole('button', { name: 'Add traffic' }).click();
  await page.getByRole('menuitem', { name: plugin, exact: true }).click();
  const form = page.getByRole('group', { name: `Entry 1 ${plugin}` });
  await form.locator('label').nth(1).waitFor();
  return form;
};

const optionsOf = async (page: Page, field: string, search: string) => {
  const input = page.getByRole('combobox', { name: field }).first();
  await input.fill(search);
  await page.getByRole('option').first().waitFor();
  return () => page.getByRole('option').allTextContents();
};

describe('the form of a plugin', () => {
  it('takes at most one and a half screens before more settings are shown', async () => {
    const { page, problems, context } = await lab.signedIn('/tasks/new');
    await page.setViewportSize(desk);
    const { data: plugins } = await lab.system.client.tasks.plugins();
    const heights: Record<string, number> = {};
    for (const { title } of plugins) {
      const form = await add(page, title);
      heights[title] = Math.round((await form.boundingBox())?.height ?? 0);
      await page.getByRole('button', { name: `Remove: 1 ${title}` }).click();
    }
    expect(Object.keys(heights).length).toBeGreaterThan(20);
    expect(Math.min(...Object.values(heights))).toBeGreaterThan(100);
    expect(Object.entries(heights).filter(([, height]) => height > 1.5 * desk.height)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('a field of the editor', () => {
  it('has its help behind an icon, its unit and its default inside, and the rest folded', async () => {
    const { page, problems, context } = await lab.signedIn('/tasks/new');
    const form = await add(page, 'HTTP');
    const duration = form.locator('[data-pointer$="/duration/seconds"]');
    await duration.getByText('Duration (s)', { exact: true }).waitFor();
    const help = form.locator('[data-pointer$="/requestsPerSecond"] [tabindex="0"]').first();
    await help.hover();
    await page.getByRole('tooltip').filter({ visible: true }).first().waitFor();
    await page.keyboard.press('Escape');
    const defaults = form.locator('input[placeholder]');
    const shown = await defaults.evaluateAll((all) => all.map((input) => input.getAttribute('placeholder') ?? ''));
    expect(shown.filter((text) => text.startsWith('Default: ')).length).toBeGreaterThan(0);
    const more = form.getByRole('button', { name: /^More settings \(\d+\)$/ });
    const [before, fields] = [await more.count(), await form.locator('[data-pointer]').count()];
    expect(before).toBeGreaterThan(0);
    await more.last().click();
    await expect.poll(() => form.locator('[data-pointer]').count()).toBeGreaterThan(fields + 4);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the fields of a row', () => {
  it('are equally high, whatever is entered there', async () => {
    const { page, problems, context } = await lab.signedIn('/tasks/new');
    const form = await add(page, 'HTTP');
    const fields = form.locator('[data-pointer*="/targets/0/"] :is(input, textarea).mantine-Input-input');
    const heights = await fields.evaluateAll((all) => all.map((field) => field.getBoundingClientRect().height));
    expect(heights.length).toBeGreaterThan(2);
    expect(new Set(heights.map(Math.round)).size, `${heights}`).toBe(1);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the choice of a record', () => {
  it('finds records beyond those that are listed, wherever a record is chosen', async () => {
    const { client } = lab.system;
    // The oldest of 160 is not among the newest 100.
    const numbers = Array.from({ length: 160 }, (_, n) => String(n).padStart(3, '0'));
    for (const [n, number] of numbers.entries()) {
      await client.networks.create({ body: { name: `lan-${number}`, subnet: `10.${n}.0.0/24` } as never });
      await client.projects.create({ body: { name: `plan-${number}` } as never });
    }
    const { page, problems, context } = await lab.signedIn('/tasks/new');
    await add(page, 'HTTP');
    await expect.poll(await optionsOf(page, 'Network', 'lan-000')).toEqual(['lan-000']);
    await page.goto(`${lab.system.url}/new?template=HTTP%20through%2010,000%20client%20addresses`);
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(await optionsOf(page, 'Client network', 'lan-000')).toEqual(['lan-000']);
    await page.goto(`${lab.system.url}/new`);
    await expect.poll(await optionsOf(page, 'Project', 'plan-000')).toEqual(['plan-000']);
    await page.goto(`${lab.system.url}/resources/tasks`);
    await page.getByRole('button', { name: 'Filters' }).click();
    await expect.poll(await optionsOf(page, 'Project', 'plan-000')).toEqual(['plan-000']);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('offers only connected agents for a new test', async () => {
    const { page, problems, context } = await lab.signedIn('/new?template=HTTP%20requests%20per%20second');
    await page.getByRole('combobox', { name: 'Client agent' }).fill('lab');
    await page.getByRole('option', { name: 'lab-server' }).waitFor();
    await expect.poll(() => page.getByRole('option').allTextContents()).toHaveLength(2);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the definition of a task', () => {
  it('names records and shows values with their units', async () => {
    const { client } = lab.system;
    const limit = { name: 'fast', metric: 'http.latency', aggregation: 'p99', operator: '<=', value: 250_000 };
    const { data: id } = await client.tasks.create({
      body: {
        comment: 'Read me',
        configuration: [
          {
            plugin: { id: 1 },
            values: {
              sources: [{ agent: { id: lab.client.id } }],
              targets: [{ agent: { id: lab.server.id } }],
              requestsPerSecond: 5,
              duration: { mode: 'time', seconds: 7 },
            },
          },
        ],
      } as never,
    });
    await client.tasks.setThresholds({ body: { id, thresholds: [limit] as never } });
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}?tab=definition`);
    await page.getByRole('row', { name: /^Sources Agent lab-client$/ }).waitFor();
    await page.getByRole('row', { name: /^Targets Agent lab-server$/ }).waitFor();
    await page.getByRole('row', { name: /^Duration Mode Time · Duration \(s\) 7$/ }).waitFor();
    await page.getByText('p99 of http.latency ≤ 250.0 ms').waitFor();
    expect(await page.locator('main').textContent()).not.toContain('{"');
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the topology of a task', () => {
  it('names agents, addresses and tunnels', async () => {
    const { client } = lab.system;
    const tunnel = { name: 'Head office', type: 'gre', endpoints: '10.0.0.1 > 10.9.0.1' };
    const { data: tunnelID } = await client.tunnels.create({ body: tunnel as never });
    const values = {
      sources: [{ agent: { id: lab.client.id }, ip: '10.0.0.1' }],
      targets: [{ agent: { id: lab.server.id }, ip: '10.9.0.1', ports: '80' }],
      requestsPerSecond: 5,
      tunnelID,
    };
    const body = { comment: 'Through a tunnel', configuration: [{ plugin: { id: 1 }, values }] };
    const { data: id } = await client.tasks.create({ body: body as never });
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}`);
    const topology = page.getByRole('region', { name: 'Topology' });
    for (const text of ['lab-client', '10.0.0.1', 'lab-server', '10.9.0.1:80', 'Tunnels: Head office'])
      await topology.getByText(text, { exact: true }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
