import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { smallCapture } from '../../packages/controller/src/assets/files/testing/captures.ts';
import { ensureWeb } from '../../scripts/build-web.ts';
import { type System, startSystem } from '../system/system.ts';
import { administrator, launchBrowser, openPage, signIn } from './browser.ts';

let system: System;
let browser: Browser;
let page: Page;
let problems: string[];

beforeAll(async () => {
  await ensureWeb();
  system = await startSystem();
  browser = await launchBrowser();
  ({ page, problems } = await openPage(browser));
  await page.goto(system.url);
  await signIn(page, administrator);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});
afterAll(async () => {
  await browser?.close();
  await system?.close();
});

const go = (path: string) => page.goto(`${system.url}${path}`);

/** Selects a word with the mouse, from its first to its last letter. */
const markWord = async (box: ReturnType<Page['getByLabel']>, text: string) => {
  const word = await box.evaluate((element, wanted) => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = (node.textContent ?? '').indexOf(wanted);
      if (at === -1) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      const { left, right, top, height } = range.getBoundingClientRect();
      return { left, right, middle: top + height / 2 };
    }
    throw new Error(`${wanted} is not shown`);
  }, text);
  await page.mouse.move(word.left + 1, word.middle);
  await page.mouse.down();
  await page.mouse.move(word.right - 1, word.middle, { steps: 4 });
  await page.mouse.up();
};

describe('a capture', () => {
  it('is uploaded by drag and drop, becomes an application, and selected bytes become a parameter', {
    retry: 1,
  }, async () => {
    const name = `shop-${Date.now()}`;
    await go('/resources/files');
    await page.getByRole('button', { name: 'Choose files' }).waitFor();
    const transfer = await page.evaluateHandle(
      ([bytes, called]) => {
        const data = new DataTransfer();
        data.items.add(new File([Uint8Array.from(bytes as number[])], `${called}.pcap`));
        return data;
      },
      [[...smallCapture(`${name}.example`)], name] as const,
    );
    await page.dispatchEvent('[data-drop]', 'drop', { dataTransfer: transfer });
    await page.getByRole('link', { name: `${name}.pcap` }).click();

    await page.getByRole('button', { name: `http ${name}.example` }).click();
    await page.getByLabel('Bytes of step 0').getByText('GET /cart').waitFor();
    await page.getByRole('link', { name: 'Create application' }).click();
    const dialog = page.getByRole('dialog', { name: 'New application' });
    await dialog.getByLabel(`Select http ${name}.example`).waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe(name);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();

    const bytes = page.getByLabel('Bytes of step 0');
    await bytes.getByText('GET /cart').waitFor();
    await bytes.scrollIntoViewIfNeeded();
    await markWord(bytes, '/cart');
    const parameter = page.getByRole('dialog', { name: 'Parameter', exact: true });
    expect(await parameter.getByLabel('Offset').inputValue()).toBe('4');
    expect(await parameter.getByLabel('Length (bytes)').inputValue()).toBe('5');
    await parameter.getByLabel('Name').fill('path');
    await parameter.getByLabel('Default value').fill('/lamp');
    await parameter.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('table', { name: 'Parameters' }).getByText('path').waitFor();
    await bytes.locator('mark', { hasText: '/cart' }).waitFor();

    const { data } = await system.client.applications.list({ query: { search: name } });
    const { data: stored } = await system.client.applications.get({ params: { id: data[0]?.id ?? 0 } });
    expect(stored.parameters).toMatchObject([
      { name: 'path', defaultValue: '/lamp', stepsMappings: [{ sessionIdx: 0, stepIdx: 0, offset: 4, length: 5 }] },
    ]);
    expect(problems).toEqual([]);
  });

  it('lists the records that use it, as does a rejected deletion', async () => {
    const file = new Blob([smallCapture('used.example')]);
    const { data: pcapFileId } = await system.client.files.create({
      upload: { fields: { category: 'pcap' }, file, filename: 'used.pcap' },
    });
    await system.client.applications.create({ body: { name: 'User of it', pcapFileId } });
    await go(`/resources/files/${pcapFileId}`);
    await page.getByRole('heading', { name: 'Used by' }).waitFor();
    await page.getByRole('link', { name: 'User of it' }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: /Delete/ });
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('alert').getByText('Change or delete the records that use it first.').waitFor();
    await dialog.getByRole('link', { name: 'User of it' }).click();
    await page.getByRole('heading', { name: 'User of it', level: 1 }).waitFor();
  });
});

describe('an upload', () => {
  it('resumes where it was interrupted when the same file is chosen again', { retry: 1 }, async () => {
    const size = 5 * 2 ** 20;
    const name = `large-${Date.now()}.bin`;
    const content = Buffer.alloc(size, 7);
    const choose = async () => {
      await page.getByRole('button', { name: 'Choose files' }).waitFor();
      await page
        .locator('input[type=file]')
        .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: content });
    };
    // The third chunk and all later ones are lost.
    let chunks = 0;
    await page.route('**/v1/files/*/content', (route) => (++chunks > 3 ? route.abort() : route.continue()));
    // Playwright gives the file a new modification time with each choice; the browser must see the same file.
    await page.addInitScript(() => {
      Object.defineProperty(File.prototype, 'lastModified', { get: () => 1_700_000_000_000 });
    });
    await go('/resources/files');
    await choose();
    await page.getByRole('button', { name: `Pause ${name}` }).waitFor();
    await expect.poll(() => chunks).toBeGreaterThan(3);
    await page.getByRole('button', { name: `Pause ${name}` }).click();
    const unfinished = (await system.client.files.list({ query: { search: name } })).data;
    expect(unfinished).toMatchObject([{ name, syncReady: false }]);
    const { data: before } = await system.client.files.get({
      params: { id: unfinished[0]?.id ?? 0 },
      query: { include: 'upload' },
    });
    expect(before.upload?.received).toBeGreaterThan(0);
    expect(before.upload?.received).toBeLessThan(size);

    await page.unroute('**/v1/files/*/content');
    await page.reload();
    await page.getByText('Choose the same file again').waitFor();
    const ranges: string[] = [];
    page.on('request', (request) => {
      const range = request.headers()['content-range'];
      if (range !== undefined && !range.includes('*')) ranges.push(range);
    });
    await choose();
    await page.getByText('Uploaded', { exact: true }).waitFor();
    expect(ranges[0]).toBe(`bytes ${before.upload?.received}-${Number(before.upload?.received) + 2 ** 20 - 1}/${size}`);
    const after = (await system.client.files.list({ query: { search: name } })).data;
    expect(after).toMatchObject([{ id: unfinished[0]?.id, size, syncReady: true }]);
  });
});

describe('a network', () => {
  it('shows addresses, MACs and issues while it is edited', async () => {
    await system.client.networks.create({ body: { name: 'taken', subnet: '10.77.0.0/16' } });
    await go('/resources/networks?edit=new');
    const dialog = page.getByRole('dialog', { name: 'New network' });
    const preview = dialog.getByRole('region', { name: 'Address preview' });
    await preview.getByText('Enter a subnet').waitFor();
    await dialog.getByLabel('Name').fill('clients');
    await dialog.getByLabel('Subnet').pressSequentially('10.77.1.0/29');
    await preview.getByText('10.77.1.1', { exact: true }).waitFor();
    await preview.getByText('6 usable of 8 addresses').waitFor();
    await preview.getByRole('link', { name: 'View network' }).waitFor();
    await dialog.getByLabel('Gateway', { exact: true }).fill('10.77.1.1');
    await preview.getByText('5 usable of 8 addresses').waitFor();
    await dialog.getByRole('switch', { name: 'MAC policy' }).click();
    await dialog.getByRole('combobox', { name: 'Mode' }).click();
    await page.getByRole('option', { name: 'One per IP address' }).click();
    await dialog.getByLabel('Start', { exact: true }).fill('02:00:00:00:00:10');
    // What another mode needs is not asked for.
    expect(await dialog.getByLabel('MAC records').count()).toBe(0);
    await preview.getByText('02:00:00:00:00:10').waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'clients' }).click();
    await page.getByRole('table', { name: 'Addresses' }).getByText('02:00:00:00:00:10').waitFor();
  });
});

describe('a list', () => {
  it('keeps search, filter, order and open form in the URL', async () => {
    for (const kind of ['address', 'range'] as const) {
      await system.client.macs.create({
        body: {
          name: `kept ${kind}`,
          kind,
          address: kind === 'range' ? '02:aa:00:00:00:00' : '02:bb:00:00:00:00',
          count: kind === 'range' ? 9 : 1,
        },
      });
    }
    await go('/resources/macs');
    await page.getByRole('textbox', { name: 'Search' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('kept');
    await page.waitForURL('**search=kept**');
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('dialog').getByLabel('Kind').first().click();
    await page.getByRole('option', { name: 'Range', exact: true }).click();
    await page.waitForURL('**kind=range**');
    await page.getByRole('link', { name: 'kept address' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Sort by Name' }).click();
    await page.waitForURL('**key=name**');
    await page.getByRole('button', { name: 'Edit kept range' }).click();
    await page.waitForURL('**edit=**');
    await page.reload();
    const dialog = page.getByRole('dialog', { name: 'kept range' });
    await dialog.getByLabel('Vendor').fill('Lab');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { data } = await system.client.macs.list({ query: { search: 'kept range' } });
    expect(data).toMatchObject([{ vendor: 'Lab' }]);
  });

  it('explains a conflicting change by another user', async () => {
    const { data: id } = await system.client.projects.create({ body: { name: 'Contested' } });
    await go(`/resources/projects?edit=${id}`);
    const dialog = page.getByRole('dialog', { name: 'Contested' });
    await dialog.getByLabel('Name').fill('Mine');
    await system.client.projects.update({ body: { ID: id, name: 'Theirs' } });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('Someone else changed this while you were editing').waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Mine');
  });
});
