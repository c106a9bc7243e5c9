import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refused } from '../../testing/refused.ts';
import { hostileTars } from '../archives/testing/hostile-tars.ts';
import { hostileZipNames } from '../archives/testing/hostile-zip-names.ts';
import { hostileZips } from '../archives/testing/hostile-zips.ts';
import { writeZip } from '../archives/write-zip.ts';
import { mappingOf, type Shop, startShop, userParameter } from './testing/shop.ts';
import { shopCapture } from './testing/shop-capture.ts';

const run = promisify(execFile);
const sha256 = createHash('sha256').update(shopCapture()).digest('hex');

let shop: Shop;
let elsewhere: Shop;
let folder: string;
let id: number;
beforeAll(async () => {
  [shop, elsewhere] = [await startShop(), await startShop()];
  await elsewhere.client.files.removeMany({ body: { array: [elsewhere.pcapFileId] } });
  folder = await mkdtemp(join(tmpdir(), 'rushhour-archive-'));
  const { data: dictionary } = await shop.client.dictionaries.create({
    body: { name: 'Carts', type: 'list', values: ['a'] },
  });
  const cart = {
    name: 'cart',
    source: 'dictionary' as const,
    defaultValue: `dict/${dictionary}/value`,
    stepsMappings: [mappingOf(3, 'cart')],
  };
  const parameters = [userParameter(mappingOf(0, 'anna')), cart];
  id = await shop.create('Shop', { tags: 'web', loop: true, parameters, sessions: [{ sessionIndex: 0, name: 'buy' }] });
});
afterAll(async () => {
  await shop.controller.close();
  await elsewhere.controller.close();
  await rm(folder, { recursive: true, force: true });
});

const exported = (query: { format?: 'zip' | 'json'; includePcap?: boolean } = {}) =>
  shop.applications.export({ params: { id }, query });
const zipOf = async (query = {}) => Buffer.from(await (await exported(query)).arrayBuffer());
const documentOf = async (includePcap: boolean) =>
  JSON.parse(await (await exported({ format: 'json', includePcap })).text());
type Fields = { dryRun?: boolean; onConflict?: 'rename' | 'skip' | 'replace' };
const importInto = async ({ applications }: Shop, bytes: Buffer<ArrayBuffer>, fields: Fields = {}) =>
  (await applications.import({ upload: { fields, file: new Blob([bytes]), filename: 'app.zip' } })).data;
const counts = async ({ client }: Shop) => [
  (await client.applications.all()).cursor.totalRows,
  (await client.files.all()).cursor.totalRows,
];
/** Takes an exported archive apart, lets `change` work on its texts, and packs it again. */
const repacked = async (change: (texts: Record<string, string | Buffer>) => void) => {
  const document = await documentOf(false);
  const manifest = { ...document.manifest, pcap: { ...document.manifest.pcap, path: `pcap/${sha256}.pcap` } };
  const texts: Record<string, string | Buffer> = {
    'manifest.json': JSON.stringify(manifest),
    'application.json': JSON.stringify(document.application),
    [`pcap/${sha256}.pcap`]: shopCapture(),
  };
  change(texts);
  const zip = writeZip(Object.entries(texts).map(([name, content]) => ({ name, content })));
  return Buffer.concat(await zip.toArray()) as Buffer<ArrayBuffer>;
};

describe('an exported application', () => {
  it('is a sound zip with the capture and the fingerprints', async () => {
    const response = await exported();
    expect(response.headers.get('content-type')).toBe('application/zip');
    expect(response.headers.get('content-disposition')).toContain('filename="Shop.zip"');
    const path = join(folder, 'shop.zip');
    await writeFile(path, Buffer.from(await response.arrayBuffer()));
    expect((await run('unzip', ['-t', path])).stdout).toContain('No errors detected');
    await run('unzip', ['-q', path, '-d', join(folder, 'shop')]);
    const pcap = await readFile(join(folder, 'shop', 'pcap', `${sha256}.pcap`));
    expect(pcap.equals(shopCapture())).toBe(true);
    const manifest = JSON.parse(await readFile(join(folder, 'shop', 'manifest.json'), 'utf8'));
    expect(manifest).toMatchObject({
      schema: 'rushhour.application/1',
      application: { name: 'Shop', fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) },
      pcap: { sha256, path: `pcap/${sha256}.pcap`, size: shopCapture().length },
      dictionaries: [{ name: 'Carts' }],
    });
    const application = JSON.parse(await readFile(join(folder, 'shop', 'application.json'), 'utf8'));
    expect(application).toMatchObject({ name: 'Shop', loop: true, sessions: [{ sessionIndex: 0, name: 'buy' }] });
    expect(application).not.toHaveProperty('id');
    expect(application.parameters[0]).not.toHaveProperty('applicationId');
  });

  it('is the same as long as nothing changes, and then need not be sent again', async () => {
    const first = await exported();
    const etag = first.headers.get('etag') ?? '';
    expect(Buffer.from(await first.arrayBuffer()).equals(await zipOf())).toBe(true);
    const again = await shop.applications.export({ params: { id } }, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    expect((await exported({ includePcap: false })).headers.get('etag')).not.toBe(etag);
    await expect(shop.applications.export({ params: { id: 999_999 } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('is JSON when that is wanted, with the capture inside or without', async () => {
    expect(await documentOf(false)).not.toHaveProperty('pcap');
    expect(Buffer.from((await documentOf(true)).pcap, 'base64').equals(shopCapture())).toBe(true);
  });
});

describe('an import', () => {
  it('brings the application to another controller, dictionaries by their name', async () => {
    const zip = await zipOf();
    const before = await counts(elsewhere);
    await expect(importInto(elsewhere, zip)).rejects.toMatchObject({
      data: { code: 'DICTIONARY_MISSING', issues: [{ path: '/application/parameters/1/defaultValue' }] },
    });
    await elsewhere.client.dictionaries.create({ body: { name: 'Filler', type: 'list', values: ['z'] } });
    const { data: carts } = await elsewhere.client.dictionaries.create({
      body: { name: 'Carts', type: 'list', values: ['b'] },
    });
    const dry = await importInto(elsewhere, zip, { dryRun: true });
    expect(dry).toEqual({ ids: [], report: [{ name: 'Shop', status: 'created', reason: '' }] });
    expect(await counts(elsewhere)).toEqual(before);
    const { ids, report } = await importInto(elsewhere, zip);
    expect(report).toEqual([{ name: 'Shop', status: 'created', reason: '' }]);
    const [model, copy] = [await shop.get(id), await elsewhere.get(ids[0] ?? 0)];
    const { id: _, pcapFileId, parameters, sessions, issuer: __, createdAt: ___, updatedAt: ____, ...rest } = copy;
    expect(model).toMatchObject(rest);
    expect(sessions[0]).toMatchObject({ name: 'buy', sessionIndex: 0 });
    expect(parameters[1]?.defaultValue).toBe(`dict/${carts}/value`);
    const file = async () => (await elsewhere.client.files.get({ params: { id: pcapFileId } })).data;
    expect(await file()).toMatchObject({ sha256, name: 'shop.pcap', source: 'import', category: 'pcap' });
    await expect.poll(async () => (await file()).syncReady).toBe(true);
  });

  it('renames, skips or replaces where the name is taken, and stores no capture twice', async () => {
    const zip = await zipOf();
    const [, files] = await counts(elsewhere);
    const renamed = await importInto(elsewhere, zip);
    expect(renamed.report).toMatchObject([
      { name: 'Shop (2)', status: 'renamed', reason: expect.stringContaining('Shop') },
    ]);
    expect((await importInto(elsewhere, zip)).report).toMatchObject([{ name: 'Shop (3)' }]);
    expect(await importInto(elsewhere, zip, { onConflict: 'skip' })).toMatchObject({
      ids: [],
      report: [{ status: 'skipped' }],
    });
    const [existing] = (await elsewhere.client.applications.list({ query: { key: 'name', order: 'asc' } })).data;
    await elsewhere.applications.update({ body: { id: existing?.id ?? 0, loop: false, parameters: [] } });
    const replaced = await importInto(elsewhere, zip, { onConflict: 'replace' });
    expect(replaced).toMatchObject({ ids: [existing?.id], report: [{ name: 'Shop', status: 'replaced' }] });
    expect(await elsewhere.get(existing?.id ?? 0)).toMatchObject({ loop: true, parameterCount: 2 });
    expect((await counts(elsewhere))[1]).toBe(files);
  });

  it('takes JSON, with the capture inside or already stored', async () => {
    const { applications } = shop;
    const without = await documentOf(false);
    const { data } = await applications.import({ body: { ...without, onConflict: 'rename' } });
    expect((await shop.get(data.ids[0] ?? 0)).pcapFileId).toBe(shop.pcapFileId);
    const absent = {
      ...without,
      manifest: { ...without.manifest, pcap: { ...without.manifest.pcap, sha256: 'a'.repeat(64) } },
    };
    await expect(applications.import({ body: absent })).rejects.toEqual(refused(400, 'PCAP_MISSING'));
    const inside = { ...(await documentOf(true)), onConflict: 'rename' };
    expect((await applications.import({ body: inside })).data.report).toMatchObject([{ status: 'renamed' }]);
    await expect(applications.import({ body: { ...inside, pcap: '???' } })).rejects.toEqual(refused(400, 'BAD_BASE64'));
  });

  it('refuses what is not what the manifest says, or no export at all, and keeps nothing', async () => {
    const before = await counts(elsewhere);
    const other = Buffer.from(shopCapture());
    other[100] = (other[100] ?? 0) ^ 1;
    const cases: [string, (texts: Record<string, string | Buffer>) => void][] = [
      ['HASH_MISMATCH', (texts) => Object.assign(texts, { [`pcap/${sha256}.pcap`]: other })],
      [
        'HASH_MISMATCH',
        (texts) => Object.assign(texts, { 'application.json': `${texts['application.json']}`.replace('web', 'abc') }),
      ],
      ['BAD_ARCHIVE', (texts) => Object.assign(texts, { 'application.json': '{"name":' })],
      ['BAD_ARCHIVE', (texts) => Object.assign(texts, { 'application.json': '{"name":"x","wrong":1}' })],
      ['BAD_ARCHIVE', (texts) => Object.assign(texts, { 'manifest.json': '{"schema":"other/9"}' })],
      ['BAD_ARCHIVE', (texts) => Object.assign(texts, { 'extra.txt': 'x' })],
      ['BAD_ARCHIVE', (texts) => delete texts['manifest.json'] && undefined],
    ];
    for (const [code, change] of cases) {
      await expect(importInto(elsewhere, await repacked(change))).rejects.toEqual(refused(400, code));
    }
    await expect(importInto(elsewhere, Buffer.from('no archive'))).rejects.toEqual(refused(400, 'NOT_AN_ARCHIVE'));
    expect((await importInto(elsewhere, await repacked(() => {}), { dryRun: true })).report).toHaveLength(1);
    expect(await counts(elsewhere)).toEqual(before);
  });

  it('refuses every hostile archive of the corpus', async () => {
    const before = await counts(elsewhere);
    const corpus = [...hostileZips, ...hostileZipNames, ...hostileTars];
    expect(corpus.length).toBeGreaterThanOrEqual(40);
    for (const { what, bytes } of corpus) {
      const refusal = await importInto(elsewhere, Buffer.from(await bytes())).catch((error) => error);
      expect([what, refusal.status]).toEqual([what, 400]);
      expect(refusal.data.code).toMatch(/^[A-Z_]+$/);
    }
    expect(await counts(elsewhere)).toEqual(before);
  });
});
