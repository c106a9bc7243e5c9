import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { administrator, launchBrowser, openPage, signIn } from '../browser/browser.ts';
import { startSystem, untilStatus } from '../system/system.ts';

// Runs inside the left namespace: controller, subscribers and browser are here, the other end of the links is elsewhere.
const [, , address = '', otherNamespace = '', gateway = ''] = process.argv;

const system = await startSystem({}, { RUSHHOUR_HOST: '0.0.0.0' });
const { client } = system;

const profileOf = async (protocol: string, config: object) => {
  const body = { name: `${protocol} ${randomUUID()}`, type: `protocol.${protocol}`, config };
  return (await client.dictionaries.create({ body: body as never })).data;
};

const interfaceOf = async (id: number, name: string) => {
  const { data } = await client.agents.get({ params: { id } });
  return data.interfaces?.find((one) => one.name === name)?.id ?? 0;
};

/** Subscribers that change channels, and two ends of a group of one link. */
const createTask = async (): Promise<number> => {
  const near = await system.addAgent('near');
  const far = await system.addAgent('far', { namespace: otherNamespace, url: system.url.replace('0.0.0.0', address) });
  const ipv4 = { method: 'static', addressStart: '10.99.0.50', gateway };
  const igmp = {
    host: { groupStart: '239.1.0.1', groupCount: 3, reportDelayMs: 100 },
    zapping: { intervalSec: 1, count: 0, waitMs: 900 },
  };
  const task = {
    comment: 'channels and links',
    configuration: [],
    accessPlane: [
      {
        agent: { id: near.id },
        interfaces: [await interfaceOf(near.id, 'l0')],
        sessions: [await profileOf('sessions', { load: { count: 1 }, traffic: { ipv4PacketsPerSec: 0 } })],
        ipoe: [await profileOf('ipoe', { ipv4 })],
        igmp: [await profileOf('igmp', igmp)],
        links: [await profileOf('links', { link: { sourceMac: '02:55:00:00:00:01' } })],
      },
      { agent: { id: near.id }, interfaces: [await interfaceOf(near.id, 'l1')], lag: [await profileOf('lag', {})] },
      {
        agent: { id: far.id },
        interfaces: [await interfaceOf(far.id, 'r1')],
        lag: [await profileOf('lag', { lacp: { mode: 'passive' } })],
      },
    ],
  };
  return (await client.tasks.create({ body: task as never })).data;
};

/** Cells of the row whose first cell has this text. */
const rowOf = async (page: Page, first: string): Promise<string[]> => {
  const row = page.getByRole('row', { name: new RegExp(`^${first} `) }).first();
  await row.waitFor();
  return row.getByRole('cell').allTextContents();
};

/** Takes the link of the second entry down as a user does. */
const takeLinkDown = async (page: Page) => {
  const form = page.locator('form').filter({ has: page.getByRole('button', { name: 'Send command' }) });
  await form.getByRole('combobox', { name: 'Apply to' }).click();
  await page.getByRole('option', { name: 'Access plane 2' }).click();
  await form.getByRole('combobox', { name: 'Action' }).click();
  await page.getByRole('option', { name: 'Link down' }).click();
  await form.getByRole('button', { name: 'Send command' }).click();
};

try {
  const id = await createTask();
  await client.tasks.start({ params: { id } });
  const browser = await launchBrowser();
  const { page, problems } = await openPage(browser);
  await page.goto(`http://127.0.0.1:${new URL(system.url).port}/tasks/${id}`);
  await signIn(page, administrator);
  await page.getByRole('heading', { name: 'Setup times and delays' }).waitFor();
  const delays = await Promise.all(['gateway', 'join of', 'leave of', 'whole setup'].map((name) => rowOf(page, name)));
  await page.getByRole('tab', { name: /^Ports/ }).click();
  await page.getByRole('checkbox', { name: 'distributing 2' }).waitFor({ state: 'attached' });
  const headers = await page.getByRole('columnheader').allTextContents();
  await takeLinkDown(page);
  await page.getByRole('checkbox', { name: 'down 1' }).waitFor({ state: 'attached' });
  await page.goto(`http://127.0.0.1:${new URL(system.url).port}/tasks/${id}?tab=events`);
  await page.getByText('l1: LACP down').waitFor();
  const events = await page.getByRole('row').allTextContents();
  await client.tasks.stop({ params: { id } });
  await untilStatus(client, id, [7, 8, 9]);
  await page.goto(`http://127.0.0.1:${new URL(system.url).port}/tasks/${id}`);
  const afterwards = await rowOf(page, 'join of');
  await browser.close();
  process.stdout.write(`${JSON.stringify({ delays, headers, events, afterwards, problems })}\n`);
} finally {
  await system.close();
}
process.exit(0);
