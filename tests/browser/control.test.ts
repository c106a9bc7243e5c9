import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureWeb } from '../../scripts/build-web.ts';
import { type System, startSystem } from '../system/system.ts';
import { administrator, launchBrowser, openPage, seriousViolations, signIn } from './browser.ts';

let system: System;
let browser: Browser;
let tasks: number[];

beforeAll(async () => {
  await ensureWeb();
  system = await startSystem();
  const agents = await Promise.all([system.addAgent('lab-client'), system.addAgent('lab-server')]);
  const [sources, targets] = agents.map(({ id }) => [{ agent: { id } }]);
  const values = { sources, targets, requestsPerSecond: 5, duration: { mode: 'time', seconds: 600 } };
  const made = ['Nightly', 'Morning'].map((comment) =>
    system.client.tasks.create({ body: { comment, configuration: [{ plugin: { id: 1 }, values }] } as never }),
  );
  tasks = (await Promise.all(made)).map(({ data }) => data);
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await system?.close();
});

const signedIn = async (path: string, options: object = {}) => {
  const opened = await openPage(browser, options);
  await opened.page.goto(`${system.url}${path}`);
  await signIn(opened.page, administrator);
  return opened;
};

const askToStart = async (secret: string, taskId: number, key: string) => {
  const answer = await fetch(`${system.url}/v1/ai/gateway/tasks/start`, {
    method: 'POST',
    headers: { 'x-api-key': secret, 'content-type': 'application/json' },
    body: JSON.stringify({ taskId, reason: 'the proxy was changed tonight', idempotencyKey: key }),
  });
  return (await answer.json()) as { data: { approval: { id: number }; reviewUrl: string; approvalToken: string } };
};

describe('schedules', () => {
  it('report conflicts when they are saved, and show them on the calendar', async () => {
    const { page, problems, context } = await signedIn('/schedules');
    const next = new Date();
    next.setUTCDate(next.getUTCDate() + 2);
    next.setUTCHours(3, 0, 0, 0);
    await system.client.tasks.schedule({ body: { id: tasks[0] ?? 0, at: next.toISOString() } });
    await page.getByRole('button', { name: 'New schedule' }).click();
    const dialog = page.getByRole('dialog', { name: 'New schedule' });
    await dialog.getByRole('combobox', { name: /^Task/ }).fill('Morn');
    await page.getByRole('option', { name: 'Morning' }).click();
    // A new schedule is enabled, and says so.
    expect(await dialog.getByRole('switch', { name: 'Enabled' }).isChecked()).toBe(true);
    await dialog.getByLabel(/^Start time( \*)?$/).fill(await page.evaluate(localText, next.getTime() + 300_000));
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Saved, with conflicts').waitFor();
    const { data: saved } = await system.client.tasks.schedules({ query: { count: 10 } });
    expect(saved.find(({ taskID }) => taskID === tasks[1])).toMatchObject({ enabled: true });
    await dialog.getByText(/lab-client is also reserved by Nightly/).waitFor();
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await page.goto(`${system.url}/schedules?month=${next.toISOString().slice(0, 7)}`);
    await page.getByRole('button', { name: /Morning, conflict$/ }).waitFor();
    expect(await page.getByText('2 conflicts').count()).toBe(2);
    expect(problems).toEqual([]);
    await context.close();
  });
});

/** Local time as in `datetime-local` inputs; runs in the browser. */
const localText = (ms: number) => {
  const at = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return at.toISOString().slice(0, 16);
};

describe('an AI key', () => {
  it('is shown once, requests a start, and continues after a user approved exactly that plan', async () => {
    const { page, problems, context } = await signedIn('/ai-keys');
    await page.getByRole('button', { name: 'New AI key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New AI key' });
    await dialog.getByLabel('Name').fill('Night shift');
    await dialog.locator('[data-pointer="/scopes"] .mantine-MultiSelect-input').click();
    for (const scope of ['Read tasks', 'Start tasks']) await page.getByRole('option', { name: scope }).click();
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: /^Policy/ }).click();
    await dialog.getByRole('combobox', { name: 'Traffic (R2)' }).click();
    await page.getByRole('option', { name: 'Approval by a person' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    const shown = page.getByRole('dialog', { name: 'Save this key now' });
    const secret = (await shown.locator('pre').first().textContent()) ?? '';
    await shown.getByText(`claude mcp add --transport http rushhour ${system.url}/mcp`).getByText(secret).waitFor();
    await shown.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'Night shift' }).waitFor();
    expect(await page.content()).not.toContain(secret);

    const { data } = await askToStart(secret, tasks[1] ?? 0, 'browser-approval-1');
    await page.getByRole('link', { name: 'AI approvals (1)' }).waitFor();
    await page.goto(data.reviewUrl);
    await page.getByText('the proxy was changed tonight').waitFor();
    await page.getByText('lab-client, lab-server').or(page.getByText('lab-server, lab-client')).waitFor();
    await page.getByText(/^sha256:[0-9a-f]{64}$/).waitFor();
    await page.getByLabel('Comment (visible to the key)').fill('go on');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('1 of 1 approvals').waitFor();
    const confirmed = await fetch(`${system.url}/v1/ai/gateway/tasks/start/confirm`, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'content-type': 'application/json' },
      body: JSON.stringify({ approvalToken: data.approvalToken, idempotencyKey: 'browser-approval-1' }),
    });
    expect([confirmed.status, await confirmed.text()]).toEqual([200, expect.any(String)]);
    await system.client.tasks.stop({ params: { id: tasks[1] ?? 0 }, body: { mode: 'abort' } });
    expect(problems).toEqual([]);
    await context.close();
  });

  it('is given to an assistant in the form of its client', async () => {
    const { page, problems, context } = await signedIn('/ai-keys');
    await page.getByRole('link', { name: 'Connect an assistant' }).click();
    await page.getByRole('heading', { name: 'Connect an assistant' }).waitFor();
    await page.getByRole('tab', { name: 'VS Code' }).click();
    const config = JSON.parse((await page.locator('pre').textContent()) ?? '');
    expect(config.servers.rushhour).toMatchObject({ type: 'http', url: `${system.url}/mcp` });
    expect(problems).toEqual([]);
    await context.close();
  });

  it('is rotated and revoked, and its actions are in the audit log', async () => {
    const { data: made } = await system.client.aiAdmin.createKey({
      body: { name: 'Short lived', scopes: ['tasks:read', 'tasks:start'], policy: { R2: 'human' } },
    });
    const { data } = await askToStart(made.secret, tasks[0] ?? 0, 'browser-approval-2');
    const { page, problems, context } = await signedIn(`/approvals/${data.approval.id}`);
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Rejected', { exact: true }).first().waitFor();
    await page.goto(`${system.url}/ai-keys`);
    await page.getByRole('button', { name: 'Actions for Short lived' }).click();
    await page.getByRole('menuitem', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Actions for Short lived' }).click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /Short lived.*Revoked/ }).waitFor();
    await page.getByRole('link', { name: 'Short lived' }).click();
    await page.getByRole('cell', { name: 'aiGateway.start' }).first().waitFor();
    await page.getByRole('button', { name: 'Verify chain' }).click();
    await page.getByText(/Chain intact: \d+ entries verified/).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('pages of single records', () => {
  it('have no serious accessibility violation, light or dark', async () => {
    const found: string[] = [];
    const { page, context } = await signedIn('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const path of ['/schedules', '/approvals/1', `/tasks/${tasks[0]}/edit`, `/tasks/${tasks[1]}?tab=definition`]) {
      await page.goto(`${system.url}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const violations = await seriousViolations(page);
        found.push(...violations.map((violation) => `${path}, ${colorScheme}: ${violation}`));
      }
    }
    expect(found).toEqual([]);
    await context.close();
  });
});
