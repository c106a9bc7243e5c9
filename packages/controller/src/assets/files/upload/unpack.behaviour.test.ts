import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { refused } from '../../../testing/refused.ts';
import { useTestController } from '../../../testing/use-controller.ts';
import { hostileTars } from '../../archives/testing/hostile-tars.ts';
import { hostileZipNames } from '../../archives/testing/hostile-zip-names.ts';
import { hostileZips } from '../../archives/testing/hostile-zips.ts';
import { writeZip } from '../../archives/write-zip.ts';
import { smallCapture } from '../testing/captures.ts';

const controller = await useTestController();
const user = await controller.signIn();

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const zip = async (members: Record<string, string | Uint8Array>) =>
  Buffer.from(await buffer(writeZip(Object.entries(members).map(([name, content]) => ({ name, content })))));
const unpack = (bytes: Buffer, category: 'pcap' | 'payload' | 'csv' = 'payload', filename = 'a.zip') =>
  user.client.files.create({
    upload: { fields: { category, unpack: true }, file: new Blob([new Uint8Array(bytes)]), filename },
  });
const recordOf = async (id: number) => (await user.client.files.get({ params: { id } })).data;
const totalsOf = async () => (await user.client.files.categories()).totals;
const stored = () =>
  readdirSync(join(controller.config.dataDir, 'files'), { recursive: true }).filter((name) =>
    /[0-9a-f-]{36,64}$/.test(String(name)),
  );

describe('an archive that is unpacked', () => {
  it('becomes one file for each member, which remembers the archive', async () => {
    const builtin = stored().length;
    const bytes = await zip({ 'a/one.pcap': smallCapture('one.example'), 'two.pcap': smallCapture('two.example') });
    const { data, duplicate, files = [] } = await unpack(bytes, 'pcap');
    expect([data, duplicate, files.length]).toEqual([files[0], false, 2]);
    const [one, two] = await Promise.all(files.map(recordOf));
    expect([one?.name, two?.name]).toEqual(['a/one.pcap', 'two.pcap']);
    expect(one).toMatchObject({
      sha256: sha256(smallCapture('one.example')),
      original_sha256: sha256(bytes),
      syncReady: true,
    });
    expect(stored()).toHaveLength(builtin + 2);
  });

  it('is a gzip too, and an archive in an archive where the category takes none', async () => {
    const table = Buffer.from('a,b\n1,2\n');
    const { data } = await unpack(gzipSync(table), 'csv', 'table.csv.gz');
    expect(await recordOf(data)).toMatchObject({ name: 'table.csv', sha256: sha256(table) });
    const inner = await zip({ 'x.csv': 'c,d\n3,4\n' });
    const { files = [] } = await unpack(await zip({ 'inner.zip': inner }), 'csv');
    expect(await recordOf(files[0] ?? 0)).toMatchObject({ name: 'x.csv', mime: 'text/csv' });
    const kept = await unpack(await zip({ 'inner.zip': inner }), 'payload');
    expect(await recordOf(kept.data)).toMatchObject({ name: 'inner.zip', mime: 'application/zip' });
  });

  it('with equal members and known ones stores each content once', async () => {
    const before = await totalsOf();
    const bytes = await zip({ 'a.bin': 'the same', 'b.bin': 'the same', 'c.bin': 'another' });
    const { files = [] } = await unpack(bytes);
    expect(files).toHaveLength(2);
    expect(await unpack(bytes)).toEqual({ data: files[0], duplicate: true, files });
    expect((await totalsOf()).files).toBe(before.files + 2);
  });

  it('with one member of the wrong kind is refused whole', async () => {
    const [before, content] = [await totalsOf(), stored()];
    const bytes = await zip({ 'good.pcap': smallCapture('good.example'), 'bad.pcap': 'no capture at all' });
    await expect(unpack(bytes, 'pcap')).rejects.toEqual(refused(400, 'CATEGORY_MISMATCH'));
    await expect(unpack(Buffer.from('no archive'))).rejects.toEqual(refused(400, 'NOT_AN_ARCHIVE'));
    expect([await totalsOf(), stored()]).toMatchObject([{ files: before.files }, content]);
  });
});

describe('hostile archives', () => {
  // Some are hostile only under a limit or a password that the API does not offer.
  const corpus = [...hostileTars, ...hostileZips, ...hostileZipNames].filter(({ options }) => options === undefined);

  it('are refused with 400, each with its reason, and leave nothing', async () => {
    expect(corpus.length).toBeGreaterThanOrEqual(40);
    await user.client.settings.update({ body: { limits: { rate: 1_000_000 } } });
    const [before, content] = [await totalsOf(), stored()];
    for (const { bytes, code, what } of corpus) {
      await expect(unpack(await bytes()), what).rejects.toEqual(refused(400, code));
    }
    expect([await totalsOf(), stored()]).toMatchObject([{ files: before.files }, content]);
  });
});
