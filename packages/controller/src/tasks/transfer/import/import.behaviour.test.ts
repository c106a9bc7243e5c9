import { type ImportPlan, importKinds, type TaskExportPlan } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCertificate } from '../../../store/assets/certificates.ts';
import { openParams, tunnels } from '../../../store/assets/tunnels.ts';
import { openTask } from '../../../store/tasks/tasks.ts';
import { refused } from '../../../testing/refused.ts';
import {
  type Lab,
  letter,
  passphrase,
  psk,
  type RichTask,
  startLab,
  storeRichTask,
  tunnelKey,
} from '../testing/lab.ts';

let lab: Lab;
let elsewhere: Lab;
let task: RichTask;
let plain: Buffer<ArrayBuffer>;
let sealed: Buffer<ArrayBuffer>;
let [here, there] = [0, 0];
const header = { 'x-export-passphrase': passphrase };
beforeAll(async () => {
  // The archive always comes from SQLite: in the run for PostgreSQL it goes from one engine to the other.
  lab = await startLab({ databaseUrl: undefined } as never);
  elsewhere = await startLab();
  task = await storeRichTask(lab);
  plain = await lab.exported(task.id);
  sealed = await lab.exported(task.id, { secrets: 'encrypted' }, header);
  await elsewhere.agent('filler');
  [here, there] = [await elsewhere.agent('near', { interfaces: [6] }), await elsewhere.agent('other')];
});
afterAll(async () => {
  await lab.controller.close();
  await elsewhere.controller.close();
});

const byKind = (plan: ImportPlan, action?: string) =>
  Object.fromEntries(
    importKinds.map((kind) => [
      kind,
      plan.items
        .filter((item) => item.kind === kind && (!action || item.action === action))
        .map(({ action }) => action),
    ]),
  );
/** Without agents, which are others elsewhere. */
const fingerprints = ({ dependencies: { agents: _, ...others } }: TaskExportPlan) =>
  Object.fromEntries(
    Object.entries(others).map(([kind, items]) => [kind, items.map(({ fingerprint }) => fingerprint).sort()]),
  );
const agents = () => ({ [task.near]: here, [task.far]: there });
type Body = Parameters<Lab['client']['tasks']['import']>[0]['body'];
const apply = async (target: Lab, plan: ImportPlan, body: Partial<Body> = {}, headers = {}) =>
  (await target.client.tasks.import({ body: { importId: plan.importId, ...body } }, { headers })).data;

describe('the plan of an import', () => {
  it('says what would become of everything in the archive, and changes nothing', async () => {
    const before = await elsewhere.counts();
    const plan = await elsewhere.plan(plain);
    expect(plan).toMatchObject({ schema: 'rushhour.task/1', task: { comment: 'Everything' } });
    expect(Date.parse(plan.expiresAt) - Date.now()).toBeGreaterThan(3_500_000);
    expect(byKind(plan)).toEqual({
      agents: ['map', 'map'],
      applications: ['create'],
      certificates: ['create', 'map'],
      compromisedHostCampaigns: [],
      cveSignatures: [],
      dictionaries: ['create', 'create', 'create', 'create'],
      files: ['create', 'create', 'create'],
      macs: ['create', 'create', 'create'],
      networks: ['create'],
      tunnels: ['create'],
    });
    const [near, far] = plan.items.filter(({ kind }) => kind === 'agents');
    expect(near).toMatchObject({ name: 'near', sourceId: task.near, candidates: [{ id: here, name: 'near' }] });
    expect(far).toMatchObject({ name: 'far', candidates: [] });
    expect(plan.problems).toEqual([
      `agent ${task.near} "near" must be mapped to one here`,
      `agent ${task.far} "far" must be mapped to one here`,
      `certificate ${task.leaf} "Web" comes without its key and must be mapped to one here`,
      'the secret at /configuration/3/values/ipsecPsk is not in the archive: say it in `secrets`',
    ]);
    expect(await elsewhere.counts()).toEqual(before);
  });

  it('reuses what is here already, agents of the same identity too', async () => {
    const plan = await lab.plan(plain);
    expect(plan.items.map(({ action }) => action)).toEqual(plan.items.map(() => 'reuse'));
    expect(plan.items.map(({ targetId }) => targetId)).toEqual(plan.items.map(({ sourceId }) => sourceId));
  });

  it('is made of a stored file as well', async () => {
    const upload = { fields: { category: 'archive' as const }, file: new Blob([plain]), filename: 'task.zip' };
    const { data: fileId } = await elsewhere.client.files.create({ upload });
    const { data } = await elsewhere.client.tasks.importPlan({ body: { fileId } });
    expect(byKind(data)).toEqual(byKind(await elsewhere.plan(plain)));
    await elsewhere.client.files.removeMany({ body: { array: [fileId] } });
    await expect(elsewhere.client.tasks.importPlan({ body: { fileId } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    // The plan has the content still, though the file is gone.
    await expect(apply(elsewhere, data)).rejects.toEqual(refused(400, 'UNMAPPED'));
  });

  it('refuses a passphrase that does not open the secrets', async () => {
    await expect(elsewhere.plan(sealed, { 'x-export-passphrase': 'another passphrase' })).rejects.toEqual(
      refused(400, 'BAD_PASSPHRASE'),
    );
    const plan = await elsewhere.plan(sealed, header);
    expect(plan.warnings).toEqual([expect.stringContaining('X-Export-Passphrase')]);
    expect(plan.problems).toHaveLength(2);
  });
});

describe('an import', () => {
  it('names every agent that is not mapped, and stores nothing', async () => {
    const before = await elsewhere.counts();
    const plan = await elsewhere.plan(sealed);
    await expect(apply(elsewhere, plan, {}, header)).rejects.toMatchObject({
      status: 400,
      data: {
        code: 'UNMAPPED',
        issues: [
          { path: `/mapping/agents/${task.near}`, code: 'UNMAPPED' },
          { path: `/mapping/agents/${task.far}`, code: 'UNMAPPED' },
        ],
      },
    });
    const mapping = { agents: { [task.near]: here, 999: 1 }, networks: { [task.network]: 999_999 } };
    await expect(apply(elsewhere, plan, { mapping }, header)).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [
          { path: `/mapping/agents/${task.far}`, code: 'UNMAPPED' },
          { path: '/mapping/agents/999', code: 'UNKNOWN_SOURCE' },
          { path: `/mapping/networks/${task.network}`, code: 'UNKNOWN_TARGET' },
        ],
      },
    });
    expect(await elsewhere.counts()).toEqual(before);
  });

  it('brings the task and everything it needs to another controller, secrets included', async () => {
    const before = await elsewhere.counts();
    const plan = await elsewhere.plan(sealed);
    const mapping = { agents: agents() };
    const { id, created, warnings } = await apply(elsewhere, plan, { mapping }, header);
    expect(Object.fromEntries(Object.entries(created).map(([kind, ids]) => [kind, ids.length]))).toEqual({
      ...{ applications: 1, certificates: 2, dictionaries: 4, files: 3, macs: 3, networks: 1, tunnels: 1 },
    });
    const after = await elsewhere.counts();
    expect(after).toEqual(
      Object.fromEntries(
        Object.entries(before).map(([kind, count]) => [kind, Number(count) + (created[kind]?.length ?? 1)]),
      ),
    );
    expect(warnings).toEqual(['agent "near" has no interface "eth5": /accessPlane/0/interfaces/0 is left out']);
    expect(fingerprints(await elsewhere.planOf(id))).toEqual(fingerprints(await lab.planOf(task.id)));

    const { store } = elsewhere.controller;
    const stored = await openTask(store.read, store.secrets, id);
    expect(stored).toMatchObject({
      comment: 'Everything',
      configuration: [
        { values: { sources: [{ agent: { id: here }, interfaceId: 6 }] } },
        {},
        {},
        { values: { ipsecPsk: psk } },
      ],
      accessPlane: [{ agent: { id: here }, interfaces: [] }],
      thresholds: [{ name: 'fast', scope: { agentID: here } }],
      dumps: { enabled: true, savelen: 96 },
    });
    const [tunnelId = 0] = created['tunnels'] ?? [];
    const tunnel = await tunnels.find(store.read, tunnelId);
    expect(tunnel && openParams(tunnel, store.secrets)).toMatchObject({ psk: tunnelKey });
    const [authority = 0, leaf = 0] = [...(created['certificates'] ?? [])].sort((a, b) => a - b);
    const original = await openCertificate(lab.controller.store.read, lab.controller.store.secrets, task.leaf);
    expect(await openCertificate(store.read, store.secrets, leaf)).toEqual(original);
    expect((await elsewhere.client.certificates.get({ params: { id: leaf } })).data.issuerCertificateID).toBe(
      authority,
    );
    const content = await elsewhere.client.files.download({ params: { id: created['files']?.[0] ?? 0 } });
    expect(Buffer.from(await content.arrayBuffer()).equals(letter)).toBe(true);
    await expect(elsewhere.client.networks.removeMany({ body: { array: created['networks'] ?? [] } })).rejects.toEqual(
      refused(409, 'IN_USE'),
    );
  });

  it('makes nothing twice: the same archive again is only another task', async () => {
    const plan = await elsewhere.plan(plain);
    expect(byKind(plan, 'create')).toEqual(Object.fromEntries(importKinds.map((kind) => [kind, []])));
    const mapping = { agents: agents() };
    const secrets = { '/configuration/3/values/ipsecPsk': 'said anew' };
    await expect(apply(elsewhere, plan, { mapping })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/task/configuration/3/values/ipsecPsk', code: 'REQUIRED' }] },
    });
    const { data: projectID } = await elsewhere.client.projects.create({ body: { name: 'Imports' } });
    const { id, created } = await apply(elsewhere, plan, { mapping, secrets, comment: 'Again', projectID });
    expect(created).toEqual({});
    expect((await elsewhere.client.tasks.get({ params: { id } })).data).toMatchObject({ comment: 'Again', projectID });
    const { store } = elsewhere.controller;
    expect((await openTask(store.read, store.secrets, id))?.configuration[3]?.values?.ipsecPsk).toBe('said anew');
    await expect(apply(elsewhere, plan, { mapping, secrets })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('takes secrets only where secrets stand', async () => {
    const plan = await elsewhere.plan(plain);
    const secrets = {
      '/configuration/3/values/ipsecPsk': 'fine',
      '/comment': 'x',
      '/configuration/0/values/targets': 'y',
    };
    await expect(apply(elsewhere, plan, { mapping: { agents: agents() }, secrets })).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [
          { path: '/secrets/~1comment', code: 'UNKNOWN_SECRET' },
          { path: '/secrets/~1configuration~10~1values~1targets', code: 'UNKNOWN_SECRET' },
        ],
      },
    });
  });

  it('gives other names where they are taken by something else', async () => {
    const third = await startLab();
    try {
      await third.client.networks.create({ body: { name: 'Clients', subnet: '172.16.0.0/24' } });
      await third.client.macs.create({ body: { name: 'Pool', address: '02:00:00:00:09:09' } });
      const [one, two] = [await third.agent('near', { interfaces: [5, 6] }), await third.agent('far')];
      const plan = await third.plan(sealed);
      const taken = plan.items.filter(({ candidates, kind }) => candidates.length > 0 && kind !== 'agents');
      expect(taken.map(({ name, action }) => [name, action])).toEqual([
        ['Pool', 'create'],
        ['Clients', 'create'],
      ]);
      const mapping = { agents: { [task.near]: one, [task.far]: two } };
      const { id, created, warnings } = await apply(third, plan, { mapping }, header);
      expect(warnings).toEqual([]);
      const [network = 0] = created['networks'] ?? [];
      expect((await third.client.networks.get({ params: { id: network } })).data.name).toBe('Clients (2)');
      expect((await third.client.macs.all()).data.map(({ name }) => name).sort()).toEqual([
        'Odd one',
        'Pool',
        'Pool (2)',
        'Router',
      ]);
      expect(fingerprints(await third.planOf(id))).toEqual(fingerprints(await lab.planOf(task.id)));
    } finally {
      await third.controller.close();
    }
  });

  it('goes back to where it came from without any mapping', async () => {
    const plan = await lab.plan(plain);
    const secrets = { '/configuration/3/values/ipsecPsk': psk };
    const { id, created } = await apply(lab, plan, { secrets });
    expect(created).toEqual({});
    const [model, copy] = await Promise.all([lab.planOf(task.id), lab.planOf(id)]);
    expect(copy.dependencies).toEqual(model.dependencies);
  });

  it('uses the mapped record, and then needs nothing that the replaced one needs', async () => {
    const { data: network } = await elsewhere.client.networks.create({
      body: { name: 'Mine', subnet: '10.50.0.0/24' },
    });
    const third = await startLab();
    try {
      const [one, two] = [await third.agent('a'), await third.agent('b')];
      const { data: mine } = await third.client.networks.create({ body: { name: 'Mine', subnet: '10.50.0.0/24' } });
      const mapping = { agents: { [task.near]: one, [task.far]: two }, networks: { [task.network]: mine } };
      const { id, created } = await apply(third, await third.plan(sealed), { mapping }, header);
      expect(created).not.toHaveProperty('networks');
      expect(created).not.toHaveProperty('macs');
      expect((await third.planOf(id)).dependencies.networks.map(({ sourceId }) => sourceId)).toEqual([mine]);
    } finally {
      await third.controller.close();
      await elsewhere.client.networks.removeMany({ body: { array: [network] } });
    }
  });
});
