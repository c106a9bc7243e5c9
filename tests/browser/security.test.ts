import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { runToEnd, untilStatus } from '../system/system.ts';
import { contrastViolations, seriousViolations } from './browser.ts';
import { useLab } from './lab.ts';

const lab = useLab();
const phone = { width: 390, height: 844 };

const wafTask = () => ({
  comment: 'attacks',
  configuration: [
    {
      plugin: { id: 15 },
      values: {
        sources: [{ agent: { id: lab.client.id } }],
        targets: [{ agent: { id: lab.server.id }, ports: String(lab.server.port) }],
        wafModules: {
          modules: [{ name: 'xss', placeholders: ['url-param'], encoders: ['plain', 'url'], maxRequests: 6 }],
          benign: { enabled: true, sample: 4, placeholders: ['url-param'] },
          ...{ ratePerSecond: 50, concurrency: 4 },
        },
      },
    },
  ],
});

const template = (id: string, path: string) =>
  `id: ${id}\ninfo:\n  name: ${id}\n  author: us\n  severity: high\nhttp:\n  - method: GET\n    path:\n      - "${path}"\n`;

describe('the page of a security test', () => {
  it('shows rates, categories, changes from the baseline, and every attempt', async () => {
    const { id } = await runToEnd(lab.system.client, wafTask());
    const { data } = await lab.system.client.tasks.start({ params: { id } });
    await untilStatus(lab.system.client, id, [7]);
    const { page, problems, context } = await lab.signedIn(`/tasks/${id}/runs/${data.runId}`);
    const panel = page.getByRole('region', { name: 'Security results' });
    // What got through comes first, then everything else.
    await page.getByRole('heading', { name: 'Bypassed (6)' }).waitFor();
    const bypasses = page.getByRole('button', { name: /^Copy the command that reproduces xss/ });
    expect(await bypasses.count()).toBe(5);
    // Each with the payload that got through, and a command that sends it again.
    const payloads = await page
      .getByRole('row')
      .filter({ has: page.getByRole('button', { name: /^Copy the command/ }) })
      .locator('code')
      .allTextContents();
    expect(payloads).toHaveLength(5);
    for (const payload of payloads) expect(payload).toMatch(/[<(%]/);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await bypasses.first().click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/^curl /);
    const grid = panel.locator('xpath=.').getByRole('table').filter({ hasText: 'URL encoding' });
    await grid.getByRole('row', { name: /^Cross-site scripting \(XSS\) 0 of \d+ 0 of \d+$/ }).waitFor();
    await panel.getByText('Block rate', { exact: true }).first().waitFor();
    await panel
      .getByRole('listitem')
      .filter({ hasText: /^T\d{4}/ })
      .first()
      .waitFor();
    await panel.getByText(/^95 % CI 0\.0–\d+\.\d %, n = 6/).waitFor();
    await panel.getByText('No change from the baseline').waitFor();
    await panel.getByRole('row', { name: /^Cross-site scripting \(XSS\) .*6 0 0 6 0 0 %$/ }).waitFor();
    await panel.getByText('10 of 10', { exact: true }).waitFor();
    const attack = panel.getByRole('button', { name: /^xss \d+$/ }).first();
    const name = (await attack.textContent()) ?? '';
    await panel.getByLabel('Search attempts').fill(name);
    await panel.getByText(/^[1-6] of 10$/).waitFor();
    expect(page.url()).toContain('find=xss');
    await attack.click();
    const dialog = page.getByRole('dialog', { name });
    await dialog.getByText('Bypassed', { exact: true }).waitFor();
    expect(await dialog.getByRole('region', { name: 'Request' }).textContent()).toContain('GET /');
    // What each end saw is in words.
    await dialog.getByRole('row', { name: /^Server [\d.]+:\d+ · Arrived unchanged · [\d,]+ bytes sent/ }).waitFor();
    await dialog.getByRole('row', { name: /^Client [\d.]+:\d+ · Response received · / }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.setViewportSize(phone);
    await page.waitForFunction(() => document.documentElement.scrollWidth <= window.innerWidth);
    expect(await seriousViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => contrastViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the signatures page', () => {
  it('imports templates and reports the result of each', async () => {
    const { page, problems, context } = await lab.signedIn('/resources/cve');
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import signatures' });
    const good = template('a-good-one', '{{BaseURL}}/?q=1');
    await dialog.locator('input[type=file]').setInputFiles({
      name: 'good.yaml',
      mimeType: 'application/yaml',
      buffer: Buffer.from(good),
    });
    await dialog.getByRole('button', { name: 'Import' }).click();
    await dialog.getByRole('row', { name: /a-good-one imported/ }).waitFor();
    await dialog.locator('input[type=file]').setInputFiles({
      name: 'bad.yaml',
      mimeType: 'application/yaml',
      buffer: Buffer.from(template('a-bad-one', 'http://victim.com/?q=1')),
    });
    await dialog.getByRole('button', { name: 'Import' }).click();
    await dialog.getByRole('row', { name: /a-bad-one refused .*victim\.com/ }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('link', { name: 'a-good-one' }).click();
    // Its page says in words what it sends, without members of the API.
    await page.getByRole('heading', { name: 'Request', exact: true }).waitFor();
    await page.getByText('GET /?q=1').waitFor();
    for (const title of ['Severity', 'Classification', 'Origin']) {
      await page.getByRole('heading', { name: title, exact: true }).waitFor();
    }
    await page.getByRole('row', { name: /^Direction Client → server$/ }).waitFor();
    // biome-ignore lint/performance/useDomNodeTextContent: the text of styles is not shown
    expect(await page.locator('main').innerText()).not.toMatch(/[{}]|c2s|cvssScore|\bbatteringram/);
    expect(await seriousViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the malware page', () => {
  it('imports sample metadata and reports the result of each row', async () => {
    const { page, problems, context } = await lab.signedIn('/resources/malware');
    await page.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import samples' });
    const known = randomBytes(32).toString('hex');
    await dialog.locator('input[type=file]').setInputFiles({
      name: 'known.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`sha256,family\n${known},test\nnonsense,test\n`),
    });
    await dialog.getByRole('button', { name: 'Import' }).click();
    await dialog.getByRole('row', { name: new RegExp(`${known} created`) }).waitFor();
    await dialog.getByText(/1 created, 1 skipped/).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the campaigns page', () => {
  it('lists them by technique and shows their steps', async () => {
    const { page, problems, context } = await lab.signedIn('/campaigns?technique=T1071');
    await page.getByRole('heading', { name: 'Campaigns' }).waitFor();
    await page
      .getByRole('cell', { name: /T1071\.004/ })
      .first()
      .waitFor();
    expect(await page.getByRole('cell', { name: 'T1046', exact: true }).count()).toBe(0);
    await page.getByRole('table').getByRole('button').first().click();
    const steps = page.getByRole('dialog').getByRole('table', { name: 'Steps' });
    await steps.getByRole('row').nth(1).waitFor();
    expect(await steps.textContent()).not.toMatch(/[{}"]|-beacon|-query|\bundefined/);
    expect(await seriousViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => contrastViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });
});
