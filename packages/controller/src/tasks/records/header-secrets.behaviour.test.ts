import type { ConfigurationEntry } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDefinition } from '../../runs/lifecycle/run-definition.ts';
import { type RunRecord, runs } from '../../store/runs/runs.ts';
import { sealStoredSecrets } from '../../store/tasks/seal-stored-secrets.ts';
import { openTask } from '../../store/tasks/tasks.ts';
import { storeRun } from '../testing/stored-run.ts';
import { type Lab, passphrase, startLab } from '../transfer/testing/lab.ts';

let lab: Lab;
let client: number;
let server: number;
beforeAll(async () => {
  lab = await startLab();
  client = await lab.agent('client');
  server = await lab.agent('server');
});
afterAll(() => lab.controller.close());

const mask = '********';
const pair = (name: string, value: string) => ({ name, value });
const entryOf = (headers: object[], cookies: object[] = []): ConfigurationEntry => ({
  plugin: { id: 1 },
  values: {
    ...{ sources: [{ agent: { id: client } }], targets: [{ agent: { id: server } }], requestsPerSecond: 1 },
    httpParams: { headers, cookies },
  },
});
const create = async (entry: ConfigurationEntry) =>
  (await lab.client.tasks.create({ body: { configuration: [entry] } })).data;
const paramsOf = async (id: number) => {
  const { read, secrets } = lab.controller.store;
  return (await openTask(read, secrets, id))?.configuration[0]?.values?.httpParams;
};
const rowsOf = async (table: string, id: number) =>
  JSON.stringify(await lab.controller.store.read.run({ name: '', sql: `select * from ${table} where id = ${id}` }, []));

describe('credentials in headers and cookies of a task', () => {
  it('are sealed, read back masked, and kept by the mask wherever the header moves', async () => {
    const headers = [pair('Authorization', 'Bearer heron'), pair('Accept', '*/*'), pair('x-api-key', 'osprey')];
    const id = await create(entryOf(headers, [pair('session', 'kestrel')]));
    expect(await rowsOf('tasks', id)).not.toMatch(/heron|osprey|kestrel/);
    const { data } = await lab.client.tasks.get({ params: { id } });
    const masked = [pair('Authorization', mask), pair('Accept', '*/*'), pair('x-api-key', mask)];
    expect(data.configuration).toEqual([entryOf(masked, [pair('session', mask)])]);

    const moved = [pair('X-API-Key', mask), pair('Cookie', 'merlin'), pair('Authorization', mask)];
    const configuration = [entryOf(moved, [pair('session', mask)])];
    await lab.client.tasks.update({ body: { id, configuration } });
    expect(await paramsOf(id)).toEqual({
      headers: [pair('X-API-Key', 'osprey'), pair('Cookie', 'merlin'), pair('Authorization', 'Bearer heron')],
      cookies: [pair('session', 'kestrel')],
    });
  });

  it('are not given to a header of another name', async () => {
    const id = await create(entryOf([pair('Authorization', 'Bearer heron')]));
    const configuration = [entryOf([pair('Proxy-Authorization', mask)])];
    await expect(lab.client.tasks.update({ body: { id, configuration } })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/configuration/0/values/httpParams/headers/0/value', code: 'SECRET_UNKNOWN' }] },
    });
  });

  it('are exported only sealed, and can be given at the import', async () => {
    const id = await create(entryOf([pair('Authorization', 'Bearer heron')]));
    const pointer = '/configuration/0/values/httpParams/headers/0/value';
    const mapping = { agents: { [client]: client, [server]: server } };
    const plain = await lab.exported(id);
    expect(plain.includes('heron')).toBe(false);
    const plan = await lab.plan(plain);
    expect(plan.problems).toContainEqual(expect.stringContaining(pointer));
    const filled = { importId: plan.importId, mapping, secrets: { [pointer]: 'Bearer egret' } };
    const given = await lab.client.tasks.import({ body: filled });
    expect(await paramsOf(given.data.id)).toMatchObject({ headers: [pair('Authorization', 'Bearer egret')] });

    const headers = { 'x-export-passphrase': passphrase };
    const sealed = await lab.exported(id, { secrets: 'encrypted' }, headers);
    expect(sealed.includes('heron')).toBe(false);
    const { importId } = await lab.plan(sealed, headers);
    const opened = await lab.client.tasks.import({ body: { importId, mapping } }, { headers });
    expect(await paramsOf(opened.data.id)).toMatchObject({ headers: [pair('Authorization', 'Bearer heron')] });
  });

  it('become parameters of a template', async () => {
    const id = await create(entryOf([pair('X-Auth-Token', 'heron')], [pair('sid', 'osprey')]));
    const { data } = await lab.client.taskTemplates.create({ body: { sourceTaskID: id, name: 'Of a task' } });
    const { data: template } = await lab.client.taskTemplates.get({ params: { id: data } });
    expect(template.parameters.map(({ name }) => name)).toEqual(['XAuthToken1', 'sid2']);
  });

  it('are sealed at the start if an earlier build stored them in clear', async () => {
    const { store } = lab.controller;
    const id = await create(entryOf([pair('Cookie', 'id=plover')]));
    const runId = await storeRun(store, id, {});
    const clear = JSON.stringify([entryOf([pair('Cookie', 'id=plover')])]);
    const run = (sql: string) => store.database.transaction((tx) => tx.run({ name: '', sql }, []));
    await run(`update tasks set "configuration" = '${clear}', "configurationSecrets" = '{}' where id = ${id}`);
    await run(`update runs set "definition" = '{"configuration":${clear}}' where id = ${runId}`);
    await run(`delete from installation where name = 'headersSealed'`);
    await sealStoredSecrets(store.database, store.secrets);
    expect((await rowsOf('tasks', id)) + (await rowsOf('runs', runId))).not.toContain('plover');
    expect(await paramsOf(id)).toEqual({ headers: [pair('Cookie', 'id=plover')], cookies: [] });
    const found = (await runs.find(store.read, runId)) as RunRecord;
    expect(JSON.stringify(openDefinition(found, store.secrets))).toContain('id=plover');
  });
});
