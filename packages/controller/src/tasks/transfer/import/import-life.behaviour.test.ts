import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cookieJar, createClient } from '@rushhour/client';
import type { ImportPlan } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startController } from '../../../controller.ts';
import { statement } from '../../../store/engine/statement.ts';
import { admin } from '../../../testing/controller.ts';
import { createDatabase } from '../../../testing/postgres.ts';
import { refused } from '../../../testing/refused.ts';
import { storeAgent } from '../../testing/stored-agent.ts';
import { sweepTaskImports } from '../release.ts';
import { type Lab, passphrase, type RichTask, startLab, storeRichTask } from '../testing/lab.ts';

const headers = { 'x-export-passphrase': passphrase };
let lab: Lab;
let elsewhere: Lab;
let task: RichTask;
let bytes: Buffer<ArrayBuffer>;
let agents: Record<string, number>;
beforeAll(async () => {
  [lab, elsewhere] = [await startLab(), await startLab()];
  task = await storeRichTask(lab);
  bytes = await lab.exported(task.id, { secrets: 'encrypted' }, headers);
  agents = { [task.near]: await elsewhere.agent('near'), [task.far]: await elsewhere.agent('far') };
});
afterAll(async () => {
  await lab.controller.close();
  await elsewhere.controller.close();
});

/** Contents in the data folder, by hash; temporary ones do not count. */
const blobsOf = ({ controller }: Lab) =>
  readdirSync(join(controller.config.dataDir, 'files'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /[0-9a-f]{64}/.test(name))
    .sort();
const stagedIn = ({ controller }: Lab) => readdirSync(join(controller.config.dataDir, 'files', '.staging'));
const apply = (target: Lab, { importId }: ImportPlan, body = {}) =>
  target.client.tasks.import({ body: { importId, ...body } }, { headers });
const imports = statement((db, _: object) => db.selectFrom('taskImports').select(['id', 'sha256']));
const expire = statement((db, p: { id: string; expiresAt: string }) =>
  db.updateTable('taskImports').set({ expiresAt: p.expiresAt }).where('id', '=', p.id),
);
const setExpiry = ({ controller }: Lab, id: string, expiresAt: Date) =>
  controller.store.database.transaction((tx) => expire.all(tx, { id, expiresAt: expiresAt.toISOString() }));
const sweep = ({ controller: { store, files } }: Lab) => sweepTaskImports({ store, blobs: files.blobs });

describe('an import that is planned', () => {
  it('is unknown to others', async () => {
    const plan = await elsewhere.plan(bytes);
    const other = await elsewhere.controller.signInWith(elsewhere.administrator, [1]);
    const body = { importId: plan.importId, mapping: { agents } };
    await expect(other.client.tasks.import({ body }, { headers })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    await expect(other.client.tasks.import({ body: { importId: 'nonsense' } })).rejects.toEqual(
      refused(404, 'NOT_FOUND'),
    );
  });

  it('is gone after an hour, and its archive with it', async () => {
    const before = blobsOf(elsewhere);
    const marked = await lab.exported(task.id);
    const plan = await elsewhere.plan(marked);
    expect(blobsOf(elsewhere)).toHaveLength(before.length + 1);
    await sweep(elsewhere);
    expect(blobsOf(elsewhere)).toHaveLength(before.length + 1);
    await setExpiry(elsewhere, plan.importId, new Date(Date.now() - 1));
    await expect(apply(elsewhere, plan)).rejects.toEqual(refused(410, 'IMPORT_EXPIRED'));
    await sweep(elsewhere);
    expect(blobsOf(elsewhere)).toEqual(before);
    await expect(apply(elsewhere, plan)).rejects.toEqual(refused(410, 'IMPORT_EXPIRED'));
    await setExpiry(elsewhere, plan.importId, new Date(Date.now() - 25 * 3_600_000));
    await sweep(elsewhere);
    await expect(apply(elsewhere, plan)).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('keeps an archive that two plans and a file share until the last of them is over', async () => {
    const marked = await lab.exported(task.id);
    const before = blobsOf(elsewhere);
    const upload = { fields: { category: 'archive' as const }, file: new Blob([marked]), filename: 'a.zip' };
    const { data: fileId } = await elsewhere.client.files.create({ upload });
    const plans = [await elsewhere.plan(marked), await elsewhere.plan(marked)];
    expect(blobsOf(elsewhere)).toHaveLength(before.length + 1);
    await elsewhere.client.files.removeMany({ body: { array: [fileId] } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(blobsOf(elsewhere)).toHaveLength(before.length + 1);
    for (const [index, { importId }] of plans.entries()) {
      await setExpiry(elsewhere, importId, new Date(0));
      await sweep(elsewhere);
      expect(blobsOf(elsewhere)).toHaveLength(before.length + (index === 0 ? 1 : 0));
    }
  });

  it('outlives a restart', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-restart-'));
    const databaseUrl = await createDatabase();
    const base = { host: '127.0.0.1', port: 0, logLevel: 'fatal', dataDir, admin };
    const start = async () => {
      const controller = await startController({ ...base, ...(databaseUrl && { databaseUrl }) });
      const client = createClient(controller.url, cookieJar());
      await client.auth.login({ body: admin });
      return { controller, client };
    };
    const first = await start();
    const { store } = first.controller;
    const mapping = { agents: { [task.near]: await storeAgent(store), [task.far]: await storeAgent(store) } };
    const upload = { fields: {}, file: new Blob([bytes]), filename: 'task.zip' };
    const { importId } = (await first.client.tasks.importPlan({ upload })).data;
    await first.controller.close();
    const second = await start();
    // What a start sweeps away must not be an archive that is waited for.
    await second.controller.files.recover();
    const { data } = await second.client.tasks.import({ body: { importId, mapping } }, { headers });
    expect(data.created).toMatchObject({ networks: [1] });
    expect(await imports.all(second.controller.store.read, {})).toEqual([]);
    await second.controller.close();
    rmSync(dataDir, { recursive: true });
  });

  it('relies on what it found: when that has changed it must be made anew', async () => {
    const third = await startLab();
    try {
      const mapping = { agents: { [task.near]: await third.agent('near'), [task.far]: await third.agent('far') } };
      await apply(third, await third.plan(bytes), { mapping });
      const plan = await third.plan(bytes);
      const before = await third.counts();
      const id = (await third.client.networks.all()).data[0]?.id ?? 0;
      await third.client.networks.updateMacPolicy({ body: { id, macOverrides: [] } });
      await expect(apply(third, plan, { mapping })).rejects.toMatchObject({
        status: 409,
        data: { code: 'IMPORT_CHANGED', kind: 'networks', id },
      });
      expect(await third.counts()).toEqual(before);
      const { data } = await apply(third, await third.plan(bytes), { mapping });
      expect(data.created).toEqual({ networks: [id + 1] });
    } finally {
      await third.controller.close();
    }
  });
});

describe('an import that fails', () => {
  it('leaves neither records nor contents, however far it came', async () => {
    const before = { counts: await elsewhere.counts(), blobs: blobsOf(elsewhere) };
    const plan = await elsewhere.plan(bytes);
    const withArchive = blobsOf(elsewhere);
    // A certificate without a key is found only when the task itself is checked, after everything else was written.
    const { client } = elsewhere;
    const generate = { kind: 'self-signed', subject: 'CN=x', keyType: 'ecdsa-p256' } as const;
    const { data: id } = await client.certificates.create({ body: { name: 'Without a key', generate } });
    await client.certificates.update({ body: { id, private: null } });
    const certificates = { [task.leaf]: id };
    await expect(apply(elsewhere, plan, { mapping: { agents, certificates } })).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [{ path: '/task/configuration/0/values/tlsParams/certificateID', code: 'CERTIFICATE_WITHOUT_KEY' }],
      },
    });
    await client.certificates.removeMany({ body: { array: [id] } });
    expect(await elsewhere.counts()).toEqual(before.counts);
    expect(blobsOf(elsewhere)).toEqual(withArchive);
    expect(stagedIn(elsewhere)).toEqual([]);
    await expect(apply(elsewhere, plan, { mapping: { agents }, projectID: 999_999 })).rejects.toEqual(
      refused(404, 'NOT_FOUND'),
    );
    expect(await elsewhere.counts()).toEqual(before.counts);
    expect(blobsOf(elsewhere)).toEqual(withArchive);
  });

  it('is one that makes what its user may not make', async () => {
    const operator = await elsewhere.controller.signInWith(elsewhere.administrator, [41, 42, 47, 62, 82, 92, 112, 192]);
    const upload = { fields: {}, file: new Blob([bytes]), filename: 'task.zip' };
    const { data: plan } = await operator.client.tasks.importPlan({ upload });
    expect(plan.problems).toEqual(
      expect.arrayContaining([
        'making what the archive brings needs the permission certificates.write',
        'making what the archive brings needs the permission tunnels.write',
      ]),
    );
    const body = { importId: plan.importId, mapping: { agents } };
    await expect(operator.client.tasks.import({ body }, { headers })).rejects.toMatchObject({
      status: 403,
      data: { code: 'FORBIDDEN', permissions: ['certificates.write', 'tunnels.write'] },
    });
    const stranger = await elsewhere.controller.signInWith(elsewhere.administrator, [41, 42]);
    await expect(stranger.client.tasks.importPlan({ upload })).rejects.toEqual(refused(403, 'FORBIDDEN'));
  });
});
