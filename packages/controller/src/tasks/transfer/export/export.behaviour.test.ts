import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TaskExportPlan } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shopCapture } from '../../../assets/applications/testing/shop-capture.ts';
import { refused } from '../../../testing/refused.ts';
import { removeAgent } from '../../testing/stored-agent.ts';
import {
  type Lab,
  letter,
  passphrase,
  psk,
  type RichTask,
  startLab,
  storeRichTask,
  tunnelKey,
  unlink,
} from '../testing/lab.ts';

const run = promisify(execFile);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

let lab: Lab;
let task: RichTask;
let folder: string;
beforeAll(async () => {
  lab = await startLab();
  task = await storeRichTask(lab);
  folder = await mkdtemp(join(tmpdir(), 'rushhour-export-'));
});
afterAll(async () => {
  await lab.controller.close();
  await rm(folder, { recursive: true, force: true });
});

const { stringify } = JSON;
const fingerprints = (plan: TaskExportPlan) =>
  Object.fromEntries(
    Object.entries(plan.dependencies).map(([kind, items]) => [kind, items.map(({ fingerprint }) => fingerprint)]),
  );
const http = () => ({
  plugin: { id: 1 },
  values: { sources: [{ agent: { id: task.near } }], targets: [{ agent: { id: task.far } }], requestsPerSecond: 1 },
});
const createTask = async (values: object = {}) => {
  const entry = http();
  const configuration = [{ ...entry, values: { ...entry.values, ...values } }];
  return (await lab.client.tasks.create({ body: { configuration } })).data;
};
const unpack = async (bytes: Buffer, name: string) => {
  const path = join(folder, `${name}.zip`);
  await writeFile(path, bytes);
  expect((await run('unzip', ['-t', path])).stdout).toContain('No errors detected');
  await run('unzip', ['-q', path, '-d', join(folder, name)]);
  const read = (member: string) => readFile(join(folder, name, member));
  return { read, json: async (member: string) => JSON.parse((await read(member)).toString()) };
};

describe('an export plan', () => {
  it('names everything that the task needs, also through others', async () => {
    const plan = await lab.planOf(task.id);
    expect(plan).toMatchObject({ sourceTaskId: task.id, schema: 'rushhour.task/1', format: 'zip', missing: [] });
    expect(plan.options).toEqual({ includeFilePayloads: true, includeMalwarePayloads: false });
    const ids = Object.entries(plan.dependencies).map(([kind, items]) => [kind, items.map(({ sourceId }) => sourceId)]);
    const { files, dictionaries } = task;
    expect(Object.fromEntries(ids)).toEqual({
      agents: [task.near, task.far],
      applications: [task.application],
      certificates: [task.authority, task.leaf],
      compromisedHostCampaigns: [],
      cveSignatures: [],
      dictionaries: [dictionaries.carts, dictionaries.people, dictionaries.table, dictionaries.dot1x],
      files: [files.payload, files.capture, files.names],
      macs: task.macs,
      networks: [task.network],
      tunnels: [task.tunnel],
    });
    const fileBytes = letter.length + shopCapture().length + 'name,city\nanna,Riga\nbert,Oslo\n'.length;
    const rowBytes = '"cart-a"\n"cart-b"\n'.length + Buffer.byteLength('["1","ü"]\n["2","\\""]\n');
    expect(plan.summary).toEqual({
      ...{ agents: 2, applications: 1, certificates: 2, compromisedHostCampaigns: 0, cveSignatures: 0 },
      ...{ dictionaries: 4, files: 3, macs: 3, networks: 1, tunnels: 1 },
      ...{ fileBytes, payloadBytes: fileBytes + rowBytes },
    });
  });

  it('shows records without ids, authors and secrets, and says what is left behind', async () => {
    const plan = await lab.planOf(task.id);
    const [network] = plan.dependencies.networks;
    expect(network).toMatchObject({
      network: { name: 'Clients', subnet: '10.8.0.0/28', gatewayMacId: task.macs[0], excludes: ['10.8.0.5'] },
      macPolicy: { mode: 'shared', macId: task.macs[1] },
      macOverrides: [{ ip: '10.8.0.9', macId: task.macs[2] }],
    });
    expect(plan.dependencies.certificates).toMatchObject([
      { certificate: { issuerCertificateID: null }, hasPrivate: true },
      { certificate: { issuerCertificateID: task.authority }, hasPrivate: true },
    ]);
    expect(plan.dependencies.agents).toMatchObject([
      {
        agent: {
          name: 'near',
          interfaces: [
            { id: 5, name: 'eth5' },
            { id: 6, name: 'eth6' },
          ],
        },
      },
      { agent: { name: 'far', interfaces: [] } },
    ]);
    expect(plan.dependencies.files).toMatchObject([
      { file: { name: 'letter.txt', sha256: sha256(letter) }, payloadIncluded: true, payloadSkipped: '' },
      { payloadPath: `payload/${sha256(shopCapture())}` },
      {},
    ]);
    const text = stringify(plan);
    for (const secret of [psk, tunnelKey, 'PRIVATE KEY', 'issuerID', 'createdAt', '********']) {
      expect(text).not.toContain(secret);
    }
    expect(plan.warnings).toEqual([
      '1 secrets of the task are left out',
      expect.stringContaining('"Lab CA" leaves its private key behind'),
      expect.stringContaining('"Web" leaves its private key behind'),
      expect.stringContaining('"To the lab" leaves its secrets behind'),
    ]);
  });

  it('has fingerprints that stand for what records mean: not for names, and for what they use', async () => {
    const before = fingerprints(await lab.planOf(task.id));
    expect(fingerprints(await lab.planOf(task.id))).toEqual(before);
    const [mac] = task.macs as [number];
    await lab.client.macs.update({ body: { id: mac, name: 'Router of the lab', description: 'new', tags: 'x' } });
    expect(fingerprints(await lab.planOf(task.id))).toEqual(before);
    await lab.client.macs.update({ body: { id: mac, address: '02:00:00:00:00:77' } });
    const after = fingerprints(await lab.planOf(task.id));
    expect(Object.keys(before).filter((kind) => stringify(before[kind]) !== stringify(after[kind]))).toEqual([
      'macs',
      'networks',
    ]);
    await lab.client.macs.update({ body: { id: mac, address: '02:00:00:00:00:01' } });
    expect(fingerprints(await lab.planOf(task.id))).toEqual(before);
  });

  it('leaves contents out when they are not asked for', async () => {
    const query = { includeFilePayloads: false };
    const plan = await lab.client.tasks.exportPlan({ params: { id: task.id }, query });
    expect(plan.options.includeFilePayloads).toBe(false);
    expect(plan.summary.payloadBytes).toBeLessThan(100);
    expect(plan.dependencies.files[0]).toMatchObject({ payloadIncluded: false, payloadPath: '' });
    expect(plan.warnings.filter((warning) => warning.includes('has no content'))).toHaveLength(3);
  });

  it('is 400 for what is no id, and 500 for a task that is not there or deleted', async () => {
    const send = async (id: string) => {
      const response = await lab.administrator.send(`${lab.controller.url}/v1/tasks/${id}/export/plan`);
      return [response.status, ((await response.json()) as { data: { code: string } }).data.code];
    };
    expect(await send('abc')).toEqual([400, 'INVALID_REQUEST']);
    expect(await send('0')).toEqual([400, 'INVALID_REQUEST']);
    expect(await send('999999')).toEqual([500, 'TASK_NOT_FOUND']);
    const id = await createTask();
    await lab.client.tasks.removeMany({ body: { array: [id] } });
    expect(await send(String(id))).toEqual([500, 'TASK_NOT_FOUND']);
    await expect(lab.client.tasks.export({ params: { id } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('tells what is missing, and a strict export refuses it', async () => {
    const { data: network } = await lab.client.networks.create({ body: { name: 'Gone', subnet: '10.99.0.0/24' } });
    const gone = await lab.agent('gone');
    const id = await createTask({ sources: [{ agent: { id: gone }, network: { id: network } }] });
    await unlink(lab, 'task', id);
    await lab.client.networks.removeMany({ body: { array: [network] } });
    await removeAgent(lab.controller.store, gone);
    const missing = [
      { kind: 'agents', sourceId: gone, reason: 'the record does not exist' },
      { kind: 'networks', sourceId: network, reason: 'the record does not exist' },
    ];
    expect((await lab.planOf(id)).missing).toEqual(missing);
    await expect(lab.exported(id, { strict: true })).rejects.toMatchObject({
      status: 409,
      data: { code: 'MISSING_DEPENDENCIES', missing },
    });
    const { json } = await unpack(await lab.exported(id), 'missing');
    expect((await json('manifest.json')).missing).toEqual(missing);
  });
});

describe('an exported task', () => {
  it('is a sound zip: the plan, the task, and every content once', async () => {
    const response = await lab.client.tasks.export({ params: { id: task.id } });
    expect(response.headers.get('content-type')).toBe('application/zip');
    expect(response.headers.get('etag')).toMatch(/^"[0-9a-f]{64}"$/);
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="task-${task.id}.zip"`);
    const bytes = Buffer.from(await response.arrayBuffer());
    const { read, json } = await unpack(bytes, 'rich');
    const { generatedAt: _, ...plan } = await lab.planOf(task.id);
    expect(await json('manifest.json')).toMatchObject(plan);
    expect(await json('task.json')).toMatchObject({
      comment: 'Everything',
      configuration: [
        { values: { sources: [{ agent: { id: task.near }, network: { id: task.network } }] } },
        {},
        {},
        {},
      ],
      thresholds: [{ name: 'fast', scope: { agentID: task.near } }],
    });
    expect(await read(`payload/${sha256(letter)}`)).toEqual(letter);
    expect(await read(`payload/${sha256(shopCapture())}`)).toEqual(shopCapture());
    for (const secret of [psk, tunnelKey, 'PRIVATE KEY']) expect(bytes.includes(secret)).toBe(false);
    const listed = (await run('unzip', ['-Z1', join(folder, 'rich.zip')])).stdout.trim().split('\n');
    expect(listed.slice(0, 2)).toEqual(['manifest.json', 'task.json']);
    expect(listed).toHaveLength(2 + 3 + 2);
  });

  it('holds secrets only sealed, and only for a passphrase', async () => {
    const header = (value: string) => ({ 'x-export-passphrase': value });
    const query = { secrets: 'encrypted' } as const;
    await expect(lab.exported(task.id, query)).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/X-Export-Passphrase', in: 'header', code: 'REQUIRED' }] },
    });
    await expect(lab.exported(task.id, query, header('short'))).rejects.toMatchObject({ status: 400 });
    const bytes = await lab.exported(task.id, query, header(passphrase));
    for (const secret of [psk, tunnelKey, 'PRIVATE KEY', passphrase]) expect(bytes.includes(secret)).toBe(false);
    const { json } = await unpack(bytes, 'sealed');
    expect(await json('secrets.json')).toMatchObject({ schema: 'rushhour.secrets/1', cipher: 'aes-256-gcm' });
    expect((await json('manifest.json')).warnings).toEqual([]);
  });

  it('holds private keys only for those who may read them', async () => {
    const user = await lab.controller.signInWith(lab.administrator, [46, 49, 94]);
    const download = (query = {}) =>
      user.client.tasks.export({ params: { id: task.id }, query }, { headers: { 'x-export-passphrase': passphrase } });
    await expect(download({ secrets: 'encrypted' })).rejects.toMatchObject({
      status: 403,
      data: { permission: 'certificates.private' },
    });
    expect((await (await download()).arrayBuffer()).byteLength).toBeGreaterThan(1000);
  });

  it('holds secrets and contents only for those with the permissions for them', async () => {
    const user = await lab.controller.signInWith(lab.administrator, [46]);
    const download = (query: object) =>
      user.client.tasks.export({ params: { id: task.id }, query }, { headers: { 'x-export-passphrase': passphrase } });
    const refusal = (permission: string) => ({ status: 403, data: { permission } });
    await expect(download({ secrets: 'encrypted' })).rejects.toMatchObject(refusal('tasks.exportSecrets'));
    await expect(download({})).rejects.toMatchObject(refusal('files.download'));
    expect((await download({ includeFilePayloads: false })).status).toBe(200);
  });

  it('holds samples only for those who may download them', async () => {
    const user = await lab.controller.signInWith(lab.administrator, [46]);
    const request = { params: { id: task.id }, query: { includeMalwarePayloads: true } };
    const refusal = { status: 403, data: { permission: 'malware.download' } };
    await expect(user.client.tasks.exportPlan(request)).rejects.toMatchObject(refusal);
    await expect(user.client.tasks.export(request)).rejects.toMatchObject(refusal);
    expect((await lab.client.tasks.exportPlan(request)).options.includeMalwarePayloads).toBe(true);
  });

  it('is one of two that a user takes at once', async () => {
    const bytes = Buffer.alloc(24 * 1_048_576, 7);
    const upload = { fields: { category: 'payload' as const }, file: new Blob([bytes]), filename: 'large' };
    const { data: fileId } = await lab.client.files.create({ upload });
    const id = await createTask({ httpParams: { method: 'POST', body: { type: 'file', fileId } } });
    const begin = () => lab.client.tasks.export({ params: { id } });
    const [first, second] = [await begin(), await begin()];
    const refusal = await begin().catch((error) => error);
    expect(refusal).toEqual(refused(429, 'TOO_MANY_EXPORTS'));
    const other = await lab.controller.signInWith(lab.administrator, [46, 94]);
    const third = await other.client.tasks.export({ params: { id } });
    expect((await first.arrayBuffer()).byteLength).toBeGreaterThan(bytes.length);
    expect((await third.arrayBuffer()).byteLength).toBeGreaterThan(bytes.length);
    await second.body?.cancel();
    const again: Response[] = [];
    await expect.poll(async () => again.push(await begin())).toBe(2);
    for (const response of again) await response.arrayBuffer();
    // Connections that were opened for nothing are used up: a controller that closes would wait for them.
    await Promise.all(Array.from({ length: 10 }, () => lab.client.tasks.list()));
  });
});
