import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { httpTask } from '../system/system.ts';
import { administrator, openPage, signIn, visit } from './browser.ts';
import { useLab } from './lab.ts';

const lab = useLab();

/** A user with the permissions of administrators and a password of their own. */
const newUser = async (email: string) => {
  const { client } = lab.system;
  const { data: me } = await client.users.me();
  const { password } = await client.users.create({ body: { email, realName: 'Second Person', groupID: me.groupID } });
  return password;
};

describe('the profile page', () => {
  it('changes the own password', async () => {
    const email = 'second@example.test';
    const temporary = await newUser(email);
    const { page, problems, context } = await openPage(lab.browser);
    await page.goto(lab.system.url);
    await signIn(page, { email, password: temporary });
    const first = 'early-Morning-19-boats';
    await page.getByLabel('Temporary password').fill(temporary);
    await page.getByLabel('New password').first().fill(first);
    await page.getByLabel('Repeat new password').fill(first);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitem', { name: 'Profile' }).click();
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
    expect(await page.title()).toBe('Profile · Rushhour');
    await page.getByLabel('Current password').fill(first);
    for (const label of ['New password', 'Repeat new password']) await page.getByLabel(label).first().fill('short-1A');
    await page.getByRole('button', { name: 'Change password' }).click();
    // In words, by the label of the field, and with the length that the controller wants.
    const refused = page.getByRole('alert').filter({ hasText: 'at least 12 characters' });
    await refused.waitFor();
    expect(await refused.textContent()).not.toMatch(/\/newPassword|\^|\\/);
    const second = 'another-Harbour-64-lights';
    await page.getByLabel('New password').first().fill(second);
    await page.getByLabel('Repeat new password').fill(second);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed.').waitFor();
    const again = await openPage(lab.browser);
    await again.page.goto(lab.system.url);
    await signIn(again.page, { email, password: second });
    await again.page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(problems).toEqual([]);
    await Promise.all([context.close(), again.context.close()]);
  });
});

describe('sessions and the audit', () => {
  it('show where a user is signed in, sign a session out, and name who did it', async () => {
    const other = await openPage(lab.browser);
    await other.page.goto(lab.system.url);
    await signIn(other.page, administrator);
    await other.page.getByRole('heading', { name: 'Overview' }).waitFor();
    const { page, problems, context } = await lab.signedIn('/profile');
    const sessions = page.getByRole('table', { name: 'Sessions' });
    await sessions.getByText('This session').waitFor();
    const before = await sessions.getByRole('row').count();
    await sessions
      .getByRole('button', { name: /^Sign out the session from/ })
      .first()
      .click();
    await page.getByText('Session signed out').waitFor();
    await expect.poll(() => sessions.getByRole('row').count()).toBe(before - 1);
    await other.page.getByRole('dialog').getByLabel('Password').or(other.page.getByLabel('Password')).first().waitFor();
    await visit(page, '/audit?operation=users.updateMe');
    await page
      .getByRole('row', { name: /admin@example.test users\.updateMe ok/ })
      .first()
      .waitFor();
    await page.getByRole('combobox', { name: 'Actor' }).click();
    await page.getByRole('option', { name: 'AI keys' }).click();
    await page.getByText('No audit entries found').waitFor();
    expect(problems).toEqual([]);
    await Promise.all([context.close(), other.context.close()]);
  });

  it('show the last hours and the latest tests of an agent', async () => {
    const { page, problems, context } = await lab.signedIn(`/resources/agents/${lab.client.id}`);
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.getByRole('figure', { name: 'CPU' }).waitFor();
    await page.getByText('24 hours', { exact: true }).click();
    await page.getByRole('figure', { name: 'Traffic' }).waitFor();
    await page.getByRole('heading', { name: 'Latest tests' }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('every page', () => {
  it('has a title, counts unread notifications, and says when something does not exist', async () => {
    const { page, problems, context } = await lab.signedIn('/resources/agents');
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    expect(await page.title()).toBe('Agents · Rushhour');
    await lab.system.client.settings.update({ body: { tasks: { maxConcurrent: 7 } } as never });
    await page.getByRole('link', { name: /^Notifications \(\d+\)$/ }).waitFor();
    await visit(page, '/tasks/99999');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await visit(page, '/resources/networks/99999');
    await page.getByText('The page does not exist, or the record was deleted.').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it('has actions in the command palette', async () => {
    const { page, problems, context } = await lab.signedIn('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('ControlOrMeta+k');
    const palette = page.getByRole('dialog');
    await palette.getByRole('textbox').fill('new netw');
    await palette.getByText('New network').click();
    await page.getByRole('dialog', { name: 'New network' }).waitFor();
    expect(page.url()).toContain('/resources/networks?edit=new');
    expect(problems).toEqual([]);
    await context.close();
  });

  it('keeps lists within the screen when names are long', async () => {
    const name = 'n'.repeat(88) + randomUUID().replaceAll('-', '');
    await lab.system.client.networks.create({ body: { name, subnet: '10.9.0.0/24' } as never });
    await lab.system.client.tasks.create({ body: { ...httpTask(lab.client, lab.server), comment: name } as never });
    const { page, context } = await lab.signedIn('/resources/networks');
    for (const path of ['/resources/networks', '/resources/tasks']) {
      await visit(page, path);
      await page.getByRole('link', { name }).first().waitFor();
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 844 });
        await page.waitForFunction(() => document.documentElement.scrollWidth <= window.innerWidth);
        // What scrolls is around the table.
        const frame = page.getByRole('table').locator('xpath=..');
        const overflow = () => frame.evaluate((element) => element.scrollWidth - element.clientWidth);
        await expect.poll(overflow, { message: path }).toBeLessThanOrEqual(1);
      }
    }
    await context.close();
  });
});

describe('agents and samples', () => {
  it('are reserved and released, and an arriving agent is announced', async () => {
    const { page, problems, context } = await lab.signedIn(`/resources/agents/${lab.client.id}`);
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Reserve' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reserve' }).click();
    await page.getByText('Reserved', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Release' }).click();
    await page.getByText('Released', { exact: true }).waitFor();
    await visit(page, '/resources/agents');
    await page.getByRole('button', { name: 'Enrol agent' }).click();
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('Waiting for the agent …').waitFor();
    await lab.system.addAgent('late-comer');
    await page.getByText('late-comer is connected').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it('are generated, put into quarantine and released with a reason', async () => {
    const { page, problems, context } = await lab.signedIn('/resources/malware');
    await page.getByRole('button', { name: 'Generate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Generate inert test files' });
    await dialog.getByLabel('Name').fill('made-here');
    await dialog.getByRole('button', { name: 'Generate' }).click();
    await page.getByRole('link', { name: /made-here/ }).click();
    // Inert files need no release; put into quarantine they do.
    await page.getByRole('button', { name: 'Quarantine' }).click();
    await page.getByRole('button', { name: 'Release' }).click();
    const release = page.getByRole('dialog');
    await release.getByLabel('Reason').fill('Test of the gateway');
    await release.getByRole('button', { name: 'Release' }).click();
    await page.getByText('Sample released').waitFor();
    await page.getByRole('button', { name: 'Quarantine' }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('a new test', () => {
  it('takes a network by its name, refuses an emptied field, and keeps name and device', async () => {
    await lab.system.client.networks.create({ body: { name: 'Clients of the lab', subnet: '127.1.0.0/18' } as never });
    const { page, problems, context } = await lab.signedIn('/new');
    const fastest = page.getByRole('heading', { name: 'How fast is it?' });
    await fastest.waitFor();
    const question = page.getByRole('button', { name: 'Does it stop attacks?' });
    await question.click();
    await page.getByRole('heading', { name: 'Does it stop attacks?' }).waitFor();
    expect(await fastest.count()).toBe(0);
    await question.click();
    await fastest.waitFor();
    await page.getByLabel('Search test types').fill('client addresses');
    await page.getByLabel('Name', { exact: true }).fill('Ten thousand');
    await page.getByRole('combobox', { name: 'Device under test' }).fill('fw-2');
    await page.getByLabel('Version').fill('9.1');
    await page.getByRole('button', { name: /^HTTP through 10,000 client addresses/ }).click();
    await page.getByRole('button', { name: 'Next' }).click();
    const start = page.getByRole('button', { name: 'Save without starting' });
    expect(await start.isDisabled()).toBe(true);
    await page.getByRole('combobox', { name: 'Client network' }).fill('Clients of');
    await page.getByRole('option', { name: 'Clients of the lab' }).click();
    const rate = page.getByRole('textbox', { name: 'Requests per second' });
    await rate.fill('');
    await page.getByText('Required').waitFor();
    expect(await start.isDisabled()).toBe(true);
    await rate.fill('50');
    const seconds = page.getByRole('textbox', { name: 'Duration' });
    await seconds.fill('3');
    expect(await seconds.inputValue()).toBe('3 s');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL('**/tasks/*');
    await page.getByRole('heading', { name: 'Ten thousand' }).waitFor();
    const topology = page.getByRole('region', { name: 'Topology' });
    await topology.getByText('9.1').waitFor();
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.getByRole('textbox', { name: 'Note' }).fill('New cable');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('New cable').waitFor();
    await page.getByRole('button', { name: 'Pin as baseline' }).click();
    await page.getByRole('button', { name: 'Unpin' }).waitFor();
    await topology.getByRole('link', { name: 'fw-2' }).click();
    await page.getByRole('heading', { name: 'fw-2' }).waitFor();
    await page.getByRole('link', { name: 'Ten thousand' }).waitFor();
    await page.getByRole('cell', { name: '9.1', exact: true }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  it('has a load that can be dragged, and a topology before it has run', async () => {
    const { page, problems, context } = await lab.signedIn('/new');
    await page.getByLabel('Search test types').fill('HTTP requests per second');
    await page.getByRole('combobox', { name: 'Device under test' }).fill('fw-3');
    await page.getByRole('button', { name: /^HTTP requests per second/ }).click();
    await page.getByRole('button', { name: 'Next' }).click();
    const rate = page.getByRole('textbox', { name: 'Requests per second' });
    const seconds = page.getByRole('textbox', { name: 'Duration' });
    await rate.fill('1000');
    await seconds.fill('10');
    // The scale is twice the load: a quarter more of the frame is half as much again.
    const frame = await page.getByRole('region', { name: 'Load over time' }).boundingBox();
    const { x, y, width, height } = frame as { x: number; y: number; width: number; height: number };
    const drag = async (from: [number, number], to: [number, number]) => {
      await page.mouse.move(x + from[0] * width, y + from[1] * height);
      await page.mouse.down();
      await page.mouse.move(x + to[0] * width, y + to[1] * height, { steps: 4 });
      await page.mouse.up();
    };
    await drag([0.25, 0.5], [0.25, 0.25]);
    expect(Number((await rate.inputValue()).replaceAll(/\D/g, ''))).toBeCloseTo(1500, -2);
    await drag([0.5, 0.75], [0.75, 0.75]);
    expect(Number((await seconds.inputValue()).replaceAll(/\D/g, ''))).toBe(15);
    const thresholds = page.getByRole('region', { name: 'Thresholds' });
    await thresholds.getByText('sum of http.ko = 0').waitFor();
    await thresholds.getByText('p99 of http.latency ≤ 1.00 s').waitFor();
    await page.getByText(/^2 agents · .*bit\/s · 0:15$/).waitFor();
    await page.getByRole('slider', { name: 'Duration' }).press('ArrowRight');
    expect(await seconds.inputValue()).toBe('17 s');
    await page.getByRole('button', { name: 'Save without starting' }).click();
    await page.waitForURL('**/tasks/*');
    const topology = page.getByRole('region', { name: 'Topology' });
    await topology.getByText('lab-client').waitFor();
    await topology.getByText('lab-server').waitFor();
    await topology.getByRole('link', { name: 'fw-3' }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
