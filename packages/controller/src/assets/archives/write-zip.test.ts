import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyArchive } from './testing/verify-archive.ts';
import { writeZip, type ZipEntryInput } from './write-zip.ts';

const run = promisify(execFile);
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'write-zip-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function save(entries: Iterable<ZipEntryInput>, password?: string): Promise<string> {
  const path = join(folder, 'written.zip');
  await writeFile(path, await buffer(writeZip(entries, password === undefined ? {} : { password })));
  return path;
}

const random = randomBytes(3_000_000);
const entries: ZipEntryInput[] = [
  { name: 'manifest.json', content: '{"a":1}' },
  { name: 'payload/random', content: () => Readable.from([random]) },
  { name: 'payload/empty', content: '' },
  { name: 'payload/zeros', content: () => Readable.from([Buffer.alloc(2_000_000)]), isStored: true },
  { name: 'ünï.txt', content: Buffer.from('text '.repeat(100_000)), modifiedAt: new Date('2026-05-04T03:02:01Z') },
];

describe('a zip that is written', () => {
  test('is accepted by unzip and holds what was given, in that order', async () => {
    const path = await save(entries);
    expect((await run('unzip', ['-t', path])).stdout).toContain('No errors detected');
    const listed = (await run('unzip', ['-Z1', path])).stdout.trim().split('\n');
    expect(listed).toEqual(entries.map(({ name }) => name));
    const content = await run('unzip', ['-p', path, 'payload/random'], { encoding: 'buffer', maxBuffer: 10_000_000 });
    expect(content.stdout.equals(random)).toBe(true);
  });

  test('is read back by our own reader', async () => {
    expect((await verifyArchive({ path: await save(entries) })).members.map(({ name, size }) => [name, size])).toEqual([
      ['manifest.json', 7],
      ['payload/random', 3_000_000],
      ['payload/empty', 0],
      ['payload/zeros', 2_000_000],
      ['ünï.txt', 500_000],
    ]);
  });

  test('holds unpacked what packs too well to be let in again', async () => {
    const zeros = { name: 'zeros', content: Buffer.alloc(4_000_000) };
    await expect(verifyArchive({ path: await save([zeros]) })).rejects.toMatchObject({ code: 'ARCHIVE_BOMB' });
    const { members } = await verifyArchive({ path: await save([{ ...zeros, isStored: true }]) });
    expect(members).toMatchObject([{ size: 4_000_000 }]);
  });

  test('does not wait for others that are not read', async () => {
    const large = { name: 'large', content: () => Readable.from([random, random, random]) };
    const unread = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const zip = writeZip([large]);
        await once(zip, 'readable');
        return zip;
      }),
    );
    const path = join(folder, 'other.zip');
    await writeFile(path, await buffer(writeZip([large])));
    expect((await verifyArchive({ path })).members).toMatchObject([{ size: 9_000_000 }]);
    for (const zip of unread) zip.destroy();
  });

  test('is the same, byte for byte, every time and in every time zone', async () => {
    const first = await readFile(await save(entries));
    const program = `import { writeZip } from ${JSON.stringify(join(import.meta.dirname, 'write-zip.ts'))};
      process.stdout.write(Buffer.concat(await Array.fromAsync(writeZip([{ name: 'a', content: 'x', modifiedAt: new Date(1.7e12) }]))).toString('hex'));`;
    const outputs = await Promise.all(
      ['UTC', 'Asia/Tokyo'].map((TZ) =>
        run(process.execPath, ['--input-type=module', '-e', program], { env: { ...process.env, TZ } }),
      ),
    );
    expect(await readFile(await save(entries))).toEqual(first);
    expect(outputs[0]?.stdout).toBe(outputs[1]?.stdout);
  });

  test('has dates of 1980 unless others are given', async () => {
    const listing = (await run('unzip', ['-Z', '-T', await save(entries)])).stdout;
    expect(listing).toMatch(/19800101\.000000 manifest\.json/);
    expect(listing).toMatch(/20260504\.03020[0-2]/);
  });

  test('with a password opens with that only', async () => {
    const path = await save(entries, 'secret');
    expect((await verifyArchive({ path }, { password: 'secret' })).members).toHaveLength(5);
    await expect(verifyArchive({ path }, { password: 'wrong' })).rejects.toMatchObject({
      code: 'BAD_ARCHIVE_PASSWORD',
    });
    await expect(verifyArchive({ path })).rejects.toMatchObject({ code: 'ARCHIVE_PASSWORD_REQUIRED' });
  });

  test('streams: a large file passes without being held in memory', async () => {
    const program = (mebibytes: number) => `import { Readable } from 'node:stream';
      import { writeZip } from ${JSON.stringify(join(import.meta.dirname, 'write-zip.ts'))};
      const chunk = Buffer.alloc(65536, 'text');
      function* large() { for (let i = 0; i < ${mebibytes * 16}; i++) yield chunk; }
      for await (const piece of writeZip([{ name: 'large', content: () => Readable.from(large()) }]));
      process.stdout.write(String(process.resourceUsage().maxRSS));`;
    const peakOf = async (mebibytes: number) =>
      Number((await run(process.execPath, ['--input-type=module', '-e', program(mebibytes)])).stdout);
    expect((await peakOf(400)) - (await peakOf(1))).toBeLessThan(100 * 1024);
  });

  test('without entries is an empty zip', async () => {
    expect(await verifyArchive({ path: await save([]) })).toEqual({ format: 'zip', members: [] });
  });
});

describe('a zip that cannot be written', () => {
  test.each([
    ['an unsafe name', [{ name: '../a', content: '' }], 'leads out'],
    [
      'a name twice',
      [
        { name: 'a', content: '' },
        { name: 'a', content: '' },
      ],
      'occurs twice',
    ],
    ['a folder', [{ name: 'a/', content: '' }], 'not a plain name'],
    ['a content that cannot be read', [{ name: 'a', content: () => createReadStream('/nowhere/at/all') }], 'ENOENT'],
  ])('for %s fails the stream', async (_, bad, message) => {
    await expect(buffer(writeZip(bad))).rejects.toThrow(message);
  });
});
