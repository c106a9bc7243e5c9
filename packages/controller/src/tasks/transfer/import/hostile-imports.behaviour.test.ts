import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { TaskExportPlan } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deflatedZeros } from '../../../assets/archives/testing/bombs.ts';
import { hostileTars } from '../../../assets/archives/testing/hostile-tars.ts';
import { hostileZipNames } from '../../../assets/archives/testing/hostile-zip-names.ts';
import { hostileZips } from '../../../assets/archives/testing/hostile-zips.ts';
import { zipBytes } from '../../../assets/archives/testing/zip-bytes.ts';
import { writeZip } from '../../../assets/archives/write-zip.ts';
import { statement } from '../../../store/engine/statement.ts';
import { type Lab, letter, passphrase, type RichTask, startLab, storeRichTask } from '../testing/lab.ts';
import { edit, editManifest, type Members, membersOf, repacked, withTrueFingerprints } from '../testing/repacked.ts';

const assign = (target: object | undefined, members: object) => Object.assign(target ?? {}, members);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

let lab: Lab;
let elsewhere: Lab;
let plain: Buffer<ArrayBuffer>;
let sealed: Buffer<ArrayBuffer>;
let task: RichTask;
let agents: Record<string, number>;
beforeAll(async () => {
  [lab, elsewhere] = [await startLab(), await startLab()];
  task = await storeRichTask(lab);
  agents = { [task.near]: await elsewhere.agent('near'), [task.far]: await elsewhere.agent('far') };
  plain = await lab.exported(task.id);
  sealed = await lab.exported(task.id, { secrets: 'encrypted' }, { 'x-export-passphrase': passphrase });
});
afterAll(async () => {
  await lab.controller.close();
  await elsewhere.controller.close();
});

const rows = statement((db, _: object) => db.selectFrom('taskImports').select('id'));
/** Everything that an import could leave. */
const traces = async () => {
  const { store, config } = elsewhere.controller;
  const files = readdirSync(join(config.dataDir, 'files'), { recursive: true, encoding: 'utf8' }).sort();
  return { counts: await elsewhere.counts(), plans: await rows.all(store.read, {}), files };
};
const refusalOf = async (bytes: Buffer<ArrayBuffer>) => {
  const refusal = await elsewhere.plan(bytes).catch((error) => error);
  return [refusal.status, refusal.data?.code, refusal.data?.issues?.[0]?.path];
};
const changed = async (change: (members: Members) => void) => refusalOf(await repacked(plain, change));
const network = (plan: { dependencies: { networks: object[] } }) =>
  plan.dependencies.networks[0] as { network: Record<string, unknown>; fingerprint: string; sourceId: number };

describe('an archive that is not what it says', () => {
  let before: Awaited<ReturnType<typeof traces>>;
  beforeAll(async () => {
    // The folder for temporary contents comes with the first upload.
    await elsewhere.plan(Buffer.from('nothing') as Buffer<ArrayBuffer>).catch(() => undefined);
    before = await traces();
  });
  const untouched = async () => expect(await traces()).toEqual(before);

  it('is refused when members are missing, too many or no JSON', async () => {
    const cases: [string, string, (members: Members) => void][] = [
      ['BAD_ARCHIVE', '/file', (members) => members.delete('manifest.json')],
      ['BAD_ARCHIVE', '/file', (members) => members.delete('task.json')],
      ['BAD_ARCHIVE', '/file', (members) => members.set('task.json', Buffer.from('{"comment":'))],
      ['BAD_ARCHIVE', '/file', (members) => members.set('notes.txt', Buffer.from('x'))],
      ['BAD_ARCHIVE', '/file', (members) => members.set('payload/short', Buffer.from('x'))],
      ['BAD_ARCHIVE', '/file', (members) => members.set('task.json', Buffer.from('{"__proto__":{"a":1}}'))],
      ['BAD_ARCHIVE', '/file', (members) => members.set('task.json', Buffer.from('['.repeat(100) + ']'.repeat(100)))],
      ['BAD_ARCHIVE', '/manifest', (members) => members.set('manifest.json', Buffer.from('[]'))],
      ['UNSUPPORTED_SCHEMA', '/manifest/schema', editManifest((plan) => Object.assign(plan, { schema: 'other/9' }))],
    ];
    for (const [code, path, change] of cases) expect(await changed(change)).toEqual([400, code, path]);
    await untouched();
  });

  it('is refused with every problem of its shape at once', async () => {
    const bytes = await repacked(plain, (members) => {
      editManifest((plan) => {
        Object.assign(network(plan).network, { subnet: 5, colour: 'red' });
        Object.assign(plan.dependencies.files[0] ?? {}, { payloadPath: '../../etc/passwd' });
        Object.assign(plan.dependencies.files[1]?.file ?? {}, { sha256: 'x', name: 'a\u0000b' });
      })(members);
      edit('task.json', (task) => Object.assign(task, { configuration: {}, owner: 'me' }))(members);
    });
    await expect(elsewhere.plan(bytes)).rejects.toMatchObject({
      status: 400,
      data: {
        issues: expect.arrayContaining([
          expect.objectContaining({ path: '/manifest/dependencies/networks/0/network/subnet', code: 'TYPE' }),
          expect.objectContaining({ path: '/manifest/dependencies/networks/0/network/colour' }),
          expect.objectContaining({ path: '/manifest/dependencies/files/0/payloadPath', code: 'PATTERN' }),
          expect.objectContaining({ path: '/manifest/dependencies/files/1/file/sha256', code: 'PATTERN' }),
          expect.objectContaining({ path: '/manifest/dependencies/files/1/file/name', code: 'PATTERN' }),
          expect.objectContaining({ path: '/task/configuration', code: 'TYPE' }),
          expect.objectContaining({ path: '/task/owner', code: 'UNKNOWN_MEMBER' }),
        ]),
      },
    });
    await untouched();
  });

  it('is refused when contents are others, missing, or belong to nothing', async () => {
    const path = `payload/${sha256(letter)}`;
    const other = Buffer.from('x');
    const cases: [string, string, (members: Members) => void][] = [
      ['BAD_CHECKSUM', '/file', (members) => members.set(path, Buffer.from(`${letter}!`))],
      ['PAYLOAD_MISSING', `/${path}`, (members) => members.delete(path)],
      ['PAYLOAD_UNKNOWN', `/payload/${sha256(other)}`, (members) => members.set(`payload/${sha256(other)}`, other)],
      [
        'HASH_MISMATCH',
        `/${path}`,
        editManifest((plan) => Object.assign(plan.dependencies.files[0]?.file ?? {}, { size: 1 })),
      ],
    ];
    for (const [code, path, change] of cases) expect(await changed(change)).toEqual([400, code, path]);
    await untouched();
  });

  it('is refused when records are not what their fingerprints say', async () => {
    const path = '/manifest/dependencies/networks/0/fingerprint';
    const tamper = editManifest((plan) => Object.assign(network(plan).network, { subnet: '10.0.0.0/8' }));
    expect(await changed(tamper)).toEqual([400, 'HASH_MISMATCH', path]);
    const exchange = editManifest((plan) => {
      const [first, second] = plan.dependencies.macs;
      Object.assign(network(plan).network, { gatewayMacId: second?.sourceId });
      Object.assign(plan.dependencies.networks[0] ?? {}, { macPolicy: { mode: 'shared', macId: first?.sourceId } });
    });
    expect(await changed(exchange)).toEqual([400, 'HASH_MISMATCH', path]);
    await untouched();
  });

  it('is refused when ids are explained twice, by themselves, or not at all', async () => {
    const twice = editManifest((plan) => {
      const [first, second] = plan.dependencies.macs;
      Object.assign(second ?? {}, { sourceId: first?.sourceId });
    });
    expect((await changed(twice))[1]).toBe('DUPLICATE');
    const circle = editManifest((plan) => {
      const [authority, leaf] = plan.dependencies.certificates;
      Object.assign(authority?.certificate ?? {}, { issuerCertificateID: leaf?.sourceId });
    });
    expect(await changed(circle)).toEqual([400, 'CIRCULAR', '/manifest/dependencies/certificates/0']);
    const unexplained = editManifest((plan) => {
      plan.dependencies.macs = [];
      plan.dependencies.tunnels = [];
    });
    expect((await changed(unexplained))[0]).toBe(400);
    const odd = editManifest((plan) => plan.missing.push({ kind: 'constructor', sourceId: 1, reason: '' }));
    expect(await changed(odd)).toEqual([400, 'UNKNOWN_KIND', '/manifest/missing/0/kind']);
    const absent = edit<{ configuration: { values: Record<string, unknown> }[] }>('task.json', (task) => {
      Object.assign(task.configuration[0]?.values ?? {}, { tunnelID: 77 });
    });
    expect(await changed(absent)).toEqual([400, 'UNEXPLAINED', '/task/configuration/0/values/tunnelID']);
    await untouched();
  });

  it('is refused when the task could not be made here', async () => {
    const wrong = edit<{ configuration: { values: Record<string, unknown> }[] }>('task.json', (task) => {
      Object.assign(task.configuration[0]?.values ?? {}, { requestsPerSecond: 0, colour: 1 });
    });
    expect((await changed(wrong))[0]).toBe(400);
    await untouched();
  });

  it('is refused when its secrets belong to another archive or cost too much to open', async () => {
    const header = { 'x-export-passphrase': passphrase };
    const moved = await repacked(
      sealed,
      edit('task.json', (task) => Object.assign(task, { comment: 'Other' })),
    );
    await expect(elsewhere.plan(moved, header)).rejects.toMatchObject({ data: { code: 'BAD_PASSPHRASE' } });
    const costly = await repacked(
      sealed,
      edit<{ kdf: object }>('secrets.json', ({ kdf }) => Object.assign(kdf, { N: 2 ** 30 })),
    );
    expect(await refusalOf(costly)).toEqual([400, 'BAD_ARCHIVE', '/secrets/kdf/N']);
    await untouched();
  });

  it('is refused when it is a bomb under the name of a content', async () => {
    const members = await membersOf(plain);
    const zeros = 64;
    const texts = ['manifest.json', 'task.json'].map((name) => ({ name, content: members.get(name) as Buffer }));
    const bomb = { name: `payload/${'a'.repeat(64)}`, method: 8, packed: deflatedZeros(zeros) };
    const honest = zipBytes([...texts, { ...bomb, declaredSize: zeros * 1_048_576 }]);
    expect((await refusalOf(honest as Buffer<ArrayBuffer>))[1]).toBe('ARCHIVE_BOMB');
    const lying = zipBytes([...texts, { ...bomb, declaredSize: 100 }]);
    expect((await refusalOf(lying as Buffer<ArrayBuffer>))[1]).toBe('SIZE_MISMATCH');
    const long = writeZip([{ name: 'manifest.json', content: () => Readable.from(blanks(80)), isStored: true }]);
    expect((await refusalOf((await buffer(long)) as Buffer<ArrayBuffer>))[1]).toBe('TOO_LARGE');
    await untouched();
  });

  it('is refused whatever is wrong with it: the whole corpus', async () => {
    const corpus = [...hostileZips, ...hostileZipNames, ...hostileTars];
    expect(corpus.length).toBeGreaterThanOrEqual(40);
    for (const { what, bytes } of corpus) {
      const [status, code] = await refusalOf(Buffer.from(await bytes()));
      expect([what, status]).toEqual([what, 400]);
      expect(code).toMatch(/^[A-Z_]+$/);
    }
    await untouched();
  });
});

describe('an archive that is true to itself', () => {
  type Plan = TaskExportPlan['dependencies'];
  const cases: [string, string, (dependencies: Plan, members: Members) => void][] = [
    ['a multicast MAC', 'macs/0/mac/address', ({ macs }) => assign(macs[0]?.mac, { address: '01:00:5e:00:00:01' })],
    ['no subnet', 'networks/0/network/subnet', ({ networks }) => assign(networks[0]?.network, { subnet: 'nowhere' })],
    [
      'parameters that no tunnel has',
      'tunnels/0/tunnel/params/colour',
      ({ tunnels }) => assign(tunnels[0]?.tunnel, { params: { authMethod: 'psk', colour: 'red' } }),
    ],
    [
      'a certificate that is none',
      'certificates/0/certificate/public',
      ({ certificates }) => assign(certificates[0]?.certificate, { public: 'trust me' }),
    ],
    ['a text as a capture', 'files/0/file/category', ({ files }) => assign(files[0]?.file, { category: 'pcap' })],
    ['malware', 'files/0/file/category', ({ files }) => assign(files[0]?.file, { category: 'malware' })],
    [
      'rows that are no texts',
      'dictionaries/0/dictionary/values/0',
      ({ dictionaries }, members) => {
        const rowsOf = Buffer.from('{"a":1}\n5\n');
        members.delete(dictionaries[0]?.dictionary.rowsPath ?? '');
        members.set(`payload/${sha256(rowsOf)}`, rowsOf);
        assign(dictionaries[0]?.dictionary, { rowsPath: `payload/${sha256(rowsOf)}`, rowsBytes: rowsOf.length });
      },
    ],
    [
      'a mapping outside its capture',
      'applications/0/application/parameters/0/stepsMappings/0',
      ({ applications }) => {
        const [parameter] = applications[0]?.application.parameters ?? [];
        assign(parameter?.stepsMappings?.[0], { offset: 1_000_000 });
      },
    ],
  ];

  const at = (path: string) => expect.stringContaining(`/manifest/dependencies/${path}`);
  let standIn: number;
  beforeAll(async () => {
    const generate = { kind: 'self-signed', subject: 'CN=x', keyType: 'ecdsa-p256' } as const;
    standIn = (await elsewhere.client.certificates.create({ body: { name: 'Stand-in', generate } })).data;
  });

  it.each(cases)('still brings nothing in that could not be made by hand: %s', async (_, path, change) => {
    const bytes = await repacked(plain, (members) =>
      editManifest((plan) => {
        change(plan.dependencies, members);
        withTrueFingerprints(plan);
      })(members),
    );
    const before = await elsewhere.counts();
    const { importId } = await elsewhere.plan(bytes);
    // The key of the certificate is not in the archive, so another one stands in for it.
    const mapping = { agents, certificates: { [task.leaf]: standIn } };
    const secrets = { '/configuration/3/values/ipsecPsk': 'a word' };
    await expect(elsewhere.client.tasks.import({ body: { importId, mapping, secrets } })).rejects.toMatchObject({
      status: 400,
      data: { issues: expect.arrayContaining([expect.objectContaining({ path: at(path) })]) },
    });
    expect(await elsewhere.counts()).toEqual(before);
  });

  it('is refused with the problems of all its records at once', async () => {
    const bytes = await repacked(
      plain,
      editManifest((plan) => {
        assign(plan.dependencies.macs[0]?.mac, { address: '01:00:5e:00:00:01' });
        assign(plan.dependencies.files[0]?.file, { category: 'har' });
        withTrueFingerprints(plan);
      }),
    );
    const { importId } = await elsewhere.plan(bytes);
    const mapping = { agents, certificates: { [task.leaf]: standIn } };
    const refusal = await elsewhere.client.tasks.import({ body: { importId, mapping } }).catch((error) => error);
    expect(refusal.data.issues.map(({ path }: { path: string }) => path).sort()).toEqual([
      at('files/0/file/category'),
      at('macs/0/mac/address'),
    ]);
  });
});

async function* blanks(mebibytes: number) {
  for (let i = 0; i < mebibytes; i++) yield Buffer.alloc(1_048_576, 0x20);
}
