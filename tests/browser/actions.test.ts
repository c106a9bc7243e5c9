import { describe, expect, it } from 'vitest';
import { httpTask } from '../system/system.ts';
import { useLab } from './lab.ts';

const lab = useLab();

const newTask = async (comment: string) =>
  (await lab.system.client.tasks.create({ body: { ...httpTask(lab.client, lab.server), comment } as never })).data;

describe('the list of tasks', () => {
  it('moves, starts and stops several at once, and restores deleted ones', async () => {
    const ids = [await newTask('Bulk one'), await newTask('Bulk two')];
    await lab.system.client.projects.create({ body: { name: 'Acceptance' } });
    const { page, problems, context } = await lab.signedIn('/resources/tasks?search=Bulk');
    const select = async () => {
      for (const name of ['Bulk one', 'Bulk two']) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    };
    await select();
    await page.getByRole('button', { name: 'Move to project' }).click();
    const dialog = page.getByRole('dialog', { name: 'Move to project' });
    await dialog.getByRole('combobox', { name: 'Project' }).click();
    await page.getByRole('option', { name: 'Acceptance' }).click();
    await dialog.getByRole('button', { name: 'Move to project' }).click();
    await page.getByText('Moved', { exact: true }).waitFor();
    const statuses = async () => {
      const found = await Promise.all(ids.map((id) => lab.system.client.tasks.get({ params: { id } })));
      return found.map(({ data }) => data.status);
    };
    await select();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    // Both are under way, one of them perhaps in the queue.
    await expect.poll(async () => (await statuses()).every((status) => status > 0)).toBe(true);
    await Promise.all(ids.map((id) => lab.system.client.tasks.stop({ params: { id } }).catch(() => {})));
    await expect.poll(async () => (await statuses()).every((status) => status >= 7), { timeout: 60_000 }).toBe(true);
    await page.reload();
    await select();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('Deleted tasks can be restored').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('2 deleted').waitFor();
    await page.getByRole('combobox', { name: 'Deleted tasks' }).click();
    await page.getByRole('option', { name: 'Only deleted' }).click();
    await select();
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('Done for 2').waitFor();
    const { data: one } = await lab.system.client.tasks.get({ params: { id: ids[0] ?? 0 } });
    expect(one).toMatchObject({ deletedAt: null, project: { name: 'Acceptance' } });
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('access tokens', () => {
  it('are created for some permissions, shown once, and revoked', async () => {
    const { page, problems, context } = await lab.signedIn('/profile');
    await page.getByRole('button', { name: 'New access token' }).click();
    const dialog = page.getByRole('dialog', { name: 'New access token' });
    await dialog.getByLabel('Name').fill('nightly');
    await dialog.getByRole('combobox', { name: 'Permissions' }).fill('Tasks: View');
    await page.getByRole('option', { name: 'Tasks: View', exact: true }).click();
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const token = (await dialog.getByText(/^rh_pat_/).textContent()) ?? '';
    const authorization = { headers: { authorization: `Bearer ${token}` } };
    const ask = async (path: string) => (await fetch(`${lab.system.url}/v1/${path}`, authorization)).status;
    expect([await ask('tasks'), await ask('networks')]).toEqual([200, 403]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'Revoke nightly' }).click();
    await page.getByText('Token revoked').waitFor();
    expect(await ask('tasks')).toBe(401);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('a dialog with a form', () => {
  it('asks before input is lost', async () => {
    const { page, problems, context } = await lab.signedIn('/resources/networks?edit=new');
    const dialog = page.getByRole('dialog', { name: 'New network' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New', exact: true }).click();
    await dialog.getByLabel('Name').fill('half-done');
    await page.keyboard.press('Escape');
    const question = page.getByRole('dialog', { name: 'Discard unsaved changes?' });
    await question.getByRole('button', { name: 'Keep editing' }).click();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('half-done');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await question.getByRole('button', { name: 'Discard' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('choices of records', () => {
  it('offer signatures where signatures are meant, found by the controller', async () => {
    const { client } = lab.system;
    const requests = [{ idx: 0, kind: 'http', method: 'GET', path: '/probe' }];
    await client.cve.create({ body: { name: 'Probe of the lab', requests } as never });
    await client.dictionaries.create({ body: { name: 'Words of the lab', type: 'list', values: ['a'] } as never });
    const { page, problems, context } = await lab.signedIn(
      '/new?template=IPS:%20one%20signature%20with%20its%20evasions',
    );
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('combobox', { name: 'Signature' }).fill('of the lab');
    await page.getByRole('option', { name: 'Probe of the lab' }).waitFor();
    await expect.poll(() => page.getByRole('option').allTextContents()).toEqual(['Probe of the lab']);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('choices of other records', () => {
  it('offer campaigns where campaigns are meant', async () => {
    const { client } = lab.system;
    const { data } = await client.compromisedHost.list({ query: { count: 1 } });
    const name = data[0]?.name ?? '';
    await client.dictionaries.create({ body: { name: `${name} of words`, type: 'list', values: ['a'] } as never });
    const { page, problems, context } = await lab.signedIn(
      '/new?template=Command%20and%20control%20of%20compromised%20hosts',
    );
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('combobox', { name: 'Campaign' }).fill(name);
    await page.getByRole('option', { name, exact: true }).waitFor();
    await expect.poll(() => page.getByRole('option').allTextContents()).toEqual([name]);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('offer files of the category that is meant', async () => {
    const { client } = lab.system;
    const recording = { log: { version: '1.2', creator: { name: 'lab', version: '1' }, entries: [] } };
    const upload = (name: string, category: string, text: string) =>
      client.files.create({ body: { name, category, content: Buffer.from(text).toString('base64') } as never });
    await upload('visit of the lab', 'har', JSON.stringify(recording));
    await upload('words of the lab', 'other', 'words');
    const { page, problems, context } = await lab.signedIn(
      '/new?template=Website%20visits%20from%20a%20HAR%20recording',
    );
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('combobox', { name: 'Recording' }).fill('of the lab');
    await page.getByRole('option', { name: 'visit of the lab' }).waitFor();
    await expect.poll(() => page.getByRole('option').allTextContents()).toEqual(['visit of the lab']);
    // The editor asks for the same.
    await page.goto(`${lab.system.url}/tasks/new`);
    await page.getByRole('button', { name: 'Add traffic' }).click();
    await page.getByRole('menuitem', { name: 'HAR replay', exact: true }).click();
    await page.getByRole('combobox', { name: 'File' }).first().fill('of the lab');
    await page.getByRole('option', { name: 'visit of the lab' }).waitFor();
    await expect.poll(() => page.getByRole('option').allTextContents()).toEqual(['visit of the lab']);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('labels', () => {
  it('are written as people write them', async () => {
    const { page, problems, context } = await lab.signedIn('/resources/cve?edit=new');
    const dialog = page.getByRole('dialog');
    // Some of them are folded.
    for (const label of ['CVE IDs', 'CWE IDs', 'CVSS score']) {
      await dialog.getByText(label, { exact: true }).waitFor({ state: 'attached' });
    }
    // Names split at their capitals end in single letters: “Cwe i ds”.
    expect(await dialog.locator('label').allTextContents()).not.toContainEqual(
      expect.stringMatching(/ [a-z] [a-z]{1,2}\b/),
    );
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the benchmark of RFC 2544', () => {
  it('is among the test types and takes less than an hour unless told otherwise', async () => {
    const { page, problems, context } = await lab.signedIn('/new');
    const benchmark = page.getByRole('button', { name: /^RFC 2544 throughput and latency/ });
    // Without scrolling through screens of other test types.
    expect((await benchmark.boundingBox())?.y).toBeLessThan(1.5 * 900);
    await benchmark.click();
    await page.getByRole('button', { name: 'Next' }).click();
    // Minutes and seconds, no hours.
    await page.getByText(/^2 agents .*· \d{1,2}:\d\d$/).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the test types', () => {
  it('have all templates, however many there are', async () => {
    const { client } = lab.system;
    const { data: known } = await client.taskTemplates.list({ query: { count: 100, key: 'id', order: 'asc' } });
    const { slots, parameters, task } = known.find(({ name }) => name === 'HTTP requests per second') as never;
    for (let n = known.length; n <= 105; n += 1) {
      const body = { name: `Template of the lab ${n}`, description: 'ours', tags: '', slots, parameters, task };
      await client.taskTemplates.create({ body: body as never });
    }
    const { page, problems, context } = await lab.signedIn('/new');
    await page.getByLabel('Search test types').fill('of the lab 105');
    await page.getByRole('button', { name: /^Template of the lab 105/ }).click();
    await page.getByRole('combobox', { name: 'Client agent' }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the list of templates', () => {
  it('is filtered by question, and shows what a template makes', async () => {
    const { page, problems, context } = await lab.signedIn('/resources/taskTemplates');
    await page.getByRole('combobox', { name: 'Question' }).click();
    await page.getByRole('option', { name: 'Does it survive?' }).click();
    await page.waitForURL('**tag=resilience**');
    await page.getByRole('button', { name: /^Preview Survive a peak/ }).click();
    const preview = page.getByRole('dialog', { name: /^Survive a peak/ });
    await preview.getByRole('row', { name: /^Peak rate 2,000 \/s/ }).waitFor();
    await preview.getByText('No failed connections').waitFor();
    await preview.getByRole('link', { name: 'New test' }).click();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('textbox', { name: 'Peak rate' }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
