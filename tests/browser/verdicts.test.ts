import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureWeb } from '../../scripts/build-web.ts';
import { addresses, attack, createLab, type Lab } from '../security/lab.ts';
import { runToEnd, untilStatus } from '../system/system.ts';
import { administrator, launchBrowser, openPage, signIn, visit } from './browser.ts';

const port = 8080;
let lab: Lab;
let browser: Browser;

beforeAll(async () => {
  await ensureWeb();
  lab = await createLab();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await lab?.close();
});

const opened = async (path: string) => {
  const { page, problems, context } = await openPage(browser, { viewport: { width: 1440, height: 900 } });
  await page.goto(`${lab.system.url.replace('0.0.0.0', '127.0.0.1')}${path}`);
  await signIn(page, administrator);
  return { page, problems, context };
};

/** Refuses POST requests: the payload of a segment follows a TCP header of 32 bytes. */
const refusePosts = () => {
  lab.inDevice('nft', 'add table ip guard');
  lab.inDevice('nft', 'add chain ip guard forward { type filter hook forward priority 0 ; }');
  lab.inDevice('nft', `add rule ip guard forward tcp dport ${port} @th,256,32 0x504f5354 reject with tcp reset`);
};

/** The judgement of each attempt, by name and position of the payload, with the color of its dot. */
const judgementsIn = (rows: Locator) =>
  rows.evaluateAll((all) =>
    all.map((row) => {
      const badge = row.querySelector('.mantine-Badge-root') as HTMLElement;
      const [red = 0, green = 0] = (getComputedStyle(badge, '::before').backgroundColor.match(/\d+/g) ?? []).map(
        Number,
      );
      return { row: row.textContent ?? '', judgement: badge.textContent, isGreen: green > red };
    }),
  );

describe('the results of a security test', () => {
  it('are judged by what was expected: attacks that pass are red, harmless requests that pass are not', async () => {
    refusePosts();
    const positions = ['url-param', 'form'];
    const values = {
      wafModules: {
        modules: [{ name: 'xss', placeholders: positions, maxRequests: 8 }],
        benign: { enabled: true, sample: 8, placeholders: positions },
        http: { hosts: ['app.test'] },
        ...{ ratePerSecond: 100, concurrency: 4 },
        detection: { control: { everyAttempts: 10, timeoutMs: 1000, retries: 1 } },
      },
    };
    const { id, runId, attempts } = await attack(lab, { values, to: addresses.server, port });
    const countOf = (expected: string, outcome: string) =>
      attempts.filter((one) => (one.expected === 'allow') === (expected === 'allow') && one.outcome === outcome).length;
    const { page, problems, context } = await opened(`/tasks/${id}/runs/${runId}`);
    await page.getByRole('heading', { name: `Bypassed (${countOf('block', 'passed')})` }).waitFor();
    const rows = page.locator('#attempts tbody tr');
    await rows.first().waitFor();
    const shown = await judgementsIn(rows);
    const of = (judgement: string) => shown.filter((one) => one.judgement === judgement);
    expect(of('Bypassed').length).toBe(countOf('block', 'passed'));
    expect(of('Blocked').length).toBe(countOf('block', 'blocked'));
    expect(of('False positive').length).toBe(countOf('allow', 'blocked'));
    expect(of('OK').length).toBe(countOf('allow', 'passed'));
    for (const judgement of ['Bypassed', 'Blocked', 'False positive', 'OK']) {
      expect(of(judgement).length, judgement).toBeGreaterThan(0);
      const isGood = judgement === 'Blocked' || judgement === 'OK';
      expect(new Set(of(judgement).map(({ isGreen }) => isGreen)), judgement).toEqual(new Set([isGood]));
    }
    for (const { row } of [...of('Bypassed'), ...of('Blocked')]) expect(row).toMatch(/^xss/);
    for (const { row } of [...of('OK'), ...of('False positive')]) expect(row).not.toMatch(/^xss/);
    // Without its rule the device blocks nothing: what changed since the run before is said in words.
    lab.inDevice('nft', 'delete table ip guard');
    const { data } = await lab.system.client.tasks.start({ params: { id } });
    await untilStatus(lab.system.client, id, [7]);
    await visit(page, `/tasks/${id}/runs/${data.runId}`);
    const changes = page.getByRole('region', { name: 'Newly passed' });
    await changes.getByText(`Newly passed (${of('Blocked').length})`).waitFor();
    await changes
      .getByRole('row', { name: /^xss \d+ .*Form field Blocked \(TCP reset\) → Bypassed$/ })
      .first()
      .waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the result of RFC 2544', () => {
  it('shows the load of its trials', async () => {
    const trials = { frameSizes: [512], tests: ['throughput'], trialSec: 2, confirmSec: 2, resolutionPct: 50 };
    const { id, result } = await runToEnd(lab.system.client, {
      comment: 'frames',
      configuration: [
        {
          plugin: { id: 7 },
          values: {
            sources: [{ agent: { id: lab.client.id } }],
            targets: [{ agent: { id: lab.server.id }, ip: addresses.server }],
            packetsPerSecond: 2000,
            payload: { rfc2544: trials },
          },
        },
      ],
    });
    expect(result).toMatchObject({ status: 7, error: '' });
    const { page, problems, context } = await opened(`/tasks/${id}/runs/${result.id}`);
    await page.getByRole('heading', { name: 'RFC 2544' }).waitFor();
    const load = page.getByRole('figure', { name: 'Load' }).getByRole('row', { name: /^Actual/ });
    await load.waitFor();
    const highest = (await load.locator('td').last().textContent()) ?? '';
    expect(Number.parseFloat(highest), highest).toBeGreaterThan(0);
    expect(problems).toEqual([]);
    await context.close();
  });
});
