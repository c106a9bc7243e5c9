import type { CampaignStep, ImportPlan } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCampaign } from '../../security/campaigns/campaigns.ts';
import { insertCampaign } from '../../store/security/campaigns.ts';
import { type Lab, startLab } from './testing/lab.ts';
import { editManifest, repacked, withTrueFingerprints } from './testing/repacked.ts';

let lab: Lab;
let elsewhere: Lab;
let ids: Awaited<ReturnType<typeof storeContent>>;
let bytes: Buffer<ArrayBuffer>;
let [here, there] = [0, 0];
beforeAll(async () => {
  lab = await startLab({ databaseUrl: undefined } as never);
  elsewhere = await startLab();
  ids = await storeContent(lab);
  bytes = await lab.exported(ids.task);
  [here, there] = [await elsewhere.agent('here'), await elsewhere.agent('there')];
  await elsewhere.client.cve.create({
    body: { ...probe, name: 'A filler, so that ids differ', payloads: [{ name: 'word', values: ['x'] }] },
  });
});
afterAll(async () => {
  await lab.controller.close();
  await elsewhere.controller.close();
});

const probe = {
  name: 'Probe of the shop',
  cveIDs: ['CVE-2026-12345'],
  requests: [{ idx: 0, kind: 'http' as const, method: 'GET', path: '/item?id={{word}}' }],
};
const origin = { userId: 1, address: '127.0.0.1', requestId: 'test', operation: 'test' };

const beaconOf = (params: CampaignStep['params']): CampaignStep => ({
  ...(findCampaign(2)?.steps.find(({ action }) => action === 'http-beacon') as CampaignStep),
  ...{ idx: 0, requires: [], params },
});

const sprayOf = (dictionaryId: number) => ({
  name: 'Of the task',
  steps: [{ ...beaconOf({ dictionaryId, attempts: 3 }), action: 'login-spray', protocol: 'ftp', port: 21 }],
});

const storeContent = async ({ client, controller, agent }: Lab) => {
  const [near, far] = [await agent('near'), await agent('far')];
  const { data: words } = await client.dictionaries.create({
    body: { name: 'Words', type: 'list', values: ['1 or 1=1', 'two'] },
  });
  const { data: drawn } = await client.cve.create({
    body: { ...probe, payloads: [{ name: 'word', dictionaryId: words }] },
  });
  const change = { idx: 0, kind: 'http' as const, method: 'PUT', path: '/a', body: 'x' };
  const { data: harmful } = await client.cve.create({
    body: { name: 'Writes a page', requests: [change], safety: 'benign', enabled: true },
  });
  const [builtin] = (await client.cve.list({ query: { source: ['builtin'], count: 1, order: 'asc' } })).data;
  const campaign = await controller.store.change(origin, (tx) =>
    insertCampaign(
      tx,
      {
        ...{ name: 'Of the house', description: 'brought along', version: 1, tags: 'own' },
        parameters: [{ name: 'every', type: 'integer', default: '5', min: '0', max: '100', description: '' }],
        steps: [beaconOf({ intervalMs: '{{every}}', uriPattern: '/house' })],
      },
      [],
    ),
  );
  const ends = { sources: [{ agent: { id: near } }], targets: [{ agent: { id: far } }] };
  const signatureIds = [drawn, harmful, builtin?.id ?? 0];
  const parameters = { [campaign]: { every: '7' }, 1: { interval: '10' } };
  const { data: task } = await client.tasks.create({
    body: {
      comment: 'Security',
      configuration: [
        { plugin: { id: 16 }, values: { ...ends, cveReplayParams: { signatureIds, filter: { kev: true } } } },
        {
          plugin: { id: 19 },
          values: {
            ...ends,
            compromisedHostParams: { campaignIds: [1, campaign], parameters, campaign: sprayOf(words) },
          },
        },
      ] as never,
    },
  });
  return { near, far, words, drawn, harmful, builtin: builtin?.id ?? 0, campaign, task };
};

const kinds = ['compromisedHostCampaigns', 'cveSignatures', 'dictionaries'];
const actionsOf = (plan: ImportPlan) =>
  plan.items.filter(({ kind }) => kinds.includes(kind)).map(({ kind, name, action }) => `${action} ${kind} ${name}`);
const mapping = () => ({ agents: { [ids.near]: here, [ids.far]: there } });
type Values = Record<string, Record<string, unknown>>;
const valuesOf = async (target: Lab, id: number) =>
  (await target.client.tasks.get({ params: { id } })).data.configuration.map(({ values }) => values as Values);

describe('signatures and campaigns of an exported task', () => {
  it('are in the archive, and what a filter would find is said not to be', async () => {
    const plan = await lab.planOf(ids.task);
    expect(plan.summary).toMatchObject({ cveSignatures: 3, compromisedHostCampaigns: 2, dictionaries: 1 });
    expect(plan.missing).toEqual([]);
    expect(plan.warnings.join()).toMatch('cveReplayParams/filter');
  });

  it('are used where they are already', async () => {
    const plan = await lab.plan(bytes);
    expect(plan.items.map(({ action }) => action)).toEqual(plan.items.map(() => 'reuse'));
  });

  it('are made where they are not, and the task plays the same', async () => {
    const plan = await elsewhere.plan(bytes);
    expect(actionsOf(plan)).toEqual([
      `reuse compromisedHostCampaigns ${findCampaign(1)?.name}`,
      'create compromisedHostCampaigns Of the house',
      expect.stringMatching(/^reuse cveSignatures /),
      'create cveSignatures Probe of the shop',
      'create cveSignatures Writes a page',
      'create dictionaries Words',
    ]);
    expect(plan.warnings).toContain(`signature ${ids.harmful} "Writes a page" is intrusive and arrives disabled`);
    const { data } = await elsewhere.client.tasks.import({
      body: { importId: plan.importId, mapping: mapping() },
    });
    const [replay, host] = await valuesOf(elsewhere, data.id);
    const [made = 0] = (replay?.['cveReplayParams']?.['signatureIds'] ?? []) as number[];
    const rendered = (from: Lab, id: number) => from.client.cve.test({ params: { id }, body: { mode: 'render' } });
    expect(await rendered(elsewhere, made)).toEqual(await rendered(lab, ids.drawn));
    const [, campaign = 0] = (host?.['compromisedHostParams']?.['campaignIds'] ?? []) as number[];
    expect(host?.['compromisedHostParams']?.['parameters']).toEqual({
      [campaign]: { every: '7' },
      1: { interval: '10' },
    });
    const { steps } = (host?.['compromisedHostParams']?.['campaign'] ?? {}) as { steps?: { params: object }[] };
    const [dictionaryId] = data.created['dictionaries'] ?? [];
    expect(steps?.[0]?.params).toEqual({ dictionaryId, attempts: 3 });
    const { data: campaigns } = await elsewhere.client.compromisedHost.list({
      query: { id: [campaign], include: 'steps' },
    });
    expect(campaigns[0]).toMatchObject({ name: 'Of the house', builtin: false, steps: [{ action: 'http-beacon' }] });
    const again = await elsewhere.planOf(data.id);
    const prints = ({ dependencies }: typeof again) =>
      [...dependencies.cveSignatures, ...dependencies.compromisedHostCampaigns].map((one) => one.fingerprint).sort();
    expect(prints(again)).toEqual(prints(await lab.planOf(ids.task)));
  });

  it('are judged anew: what may do harm arrives disabled, whatever the archive says', async () => {
    const { data } = await elsewhere.client.cve.list({ query: { search: 'Writes a page' } });
    expect(data).toEqual([expect.objectContaining({ safety: 'intrusive', enabled: false, source: 'user' })]);
  });

  it('are refused when they name hosts of others', async () => {
    const hostile = await repacked(
      bytes,
      editManifest((manifest) => {
        const { cveSignatures, compromisedHostCampaigns } = manifest.dependencies;
        const drawn = cveSignatures.find(({ sourceId }) => sourceId === ids.drawn);
        Object.assign(drawn?.signature.requests[0] ?? {}, { headers: [{ name: 'Host', value: 'victim.com' }] });
        const own = compromisedHostCampaigns.find(({ sourceId }) => sourceId === ids.campaign);
        Object.assign(own?.campaign.steps[0] ?? {}, { params: { uriPattern: '/to/victim.com' } });
        withTrueFingerprints(manifest);
      }),
    );
    const { importId } = await elsewhere.plan(hostile);
    const importing = elsewhere.client.tasks.import({ body: { importId, mapping: mapping() } });
    const { issues } = await importing.then(
      () => ({ issues: [] }),
      ({ data }) => data as { issues: { path: string; code: string }[] },
    );
    expect(issues.map(({ path, code }) => `${path} ${code}`).sort()).toEqual([
      expect.stringMatching(/compromisedHostCampaigns\/1\/campaign\/steps FOREIGN_HOST$/),
      expect.stringMatching(/cveSignatures\/\d\/signature\/requests\/0\/headers\/0 FOREIGN_HOST$/),
    ]);
  });

  it('need the permissions that making them by hand would need', async () => {
    const operator = await lab.controller.signInWith(lab.administrator, [41, 42, 47]);
    const upload = { fields: {}, file: new Blob([await foreignArchive()]), filename: 'task.zip' };
    const { data: plan } = await operator.client.tasks.importPlan({ upload });
    expect(plan.problems.filter((problem) => problem.includes('permission'))).toEqual([
      'making what the archive brings needs the permission compromisedHost.execute',
      'making what the archive brings needs the permission cve.write',
    ]);
  });
});

/** The archive with content that is nowhere yet. */
const foreignArchive = () =>
  repacked(
    bytes,
    editManifest((manifest) => {
      for (const { signature } of manifest.dependencies.cveSignatures) signature.name += ' elsewhere';
      for (const { campaign } of manifest.dependencies.compromisedHostCampaigns) {
        for (const step of campaign.steps) step.delayMs += 1;
      }
      withTrueFingerprints(manifest);
    }),
  );
