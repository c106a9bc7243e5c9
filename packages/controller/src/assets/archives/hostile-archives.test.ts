import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ArchiveError } from './archive-error.ts';
import { overlappingBomb } from './testing/bombs.ts';
import { hostileTars } from './testing/hostile-tars.ts';
import { hostileZipNames } from './testing/hostile-zip-names.ts';
import { hostileZips } from './testing/hostile-zips.ts';
import { verifyArchive } from './testing/verify-archive.ts';
import { zipBytes } from './testing/zip-bytes.ts';

const run = promisify(execFile);
const corpus = [...hostileZipNames, ...hostileZips, ...hostileTars];
let folder = '';
let spoolFolder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  spoolFolder = join(folder, 'spool');
  await mkdir(spoolFolder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function openFiles(): Promise<string[]> {
  return readdir('/proc/self/fd');
}

async function refusalOf(reading: Promise<unknown>): Promise<ArchiveError> {
  const error = await reading.then(
    () => new Error('it was read'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ArchiveError);
  return error as ArchiveError;
}

describe('hostile archives', () => {
  test('are many, and no two are the same', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(110);
    expect(new Set(corpus.map(({ what }) => what)).size).toBe(corpus.length);
  });

  test.each(corpus)('$what is refused as $code', async ({ bytes, code, member = '', options }) => {
    const path = join(folder, 'archive');
    const content = await bytes();
    await writeFile(path, content);
    const before = await openFiles();
    const fromFile = await refusalOf(verifyArchive({ path }, { ...options, spoolFolder }));
    const stream = Readable.from(pieces(content), { objectMode: false });
    const fromStream = await refusalOf(verifyArchive({ stream, size: content.length }, { ...options, spoolFolder }));
    for (const refusal of [fromFile, fromStream]) {
      expect([refusal.code, refusal.message]).toEqual([code, refusal.message]);
      if (member !== '') expect(refusal.member).toBe(member);
      expect(refusal.message).not.toMatch(/[\p{Cc}\u202e]/u);
    }
    expect(await readdir(spoolFolder)).toEqual([]);
    await expect.poll(openFiles).toHaveLength(before.length);
  });

  test('that unpack to gibibytes leave the memory flat', async () => {
    const bombs = corpus.filter(({ what }) => what.includes('gibibyte'));
    expect(bombs.length).toBeGreaterThanOrEqual(5);
    const paths = await Promise.all(
      bombs.map(async ({ bytes }, i) => {
        await writeFile(join(folder, `bomb-${i}`), await bytes());
        return join(folder, `bomb-${i}`);
      }),
    );
    await writeFile(join(folder, 'harmless'), zipBytes([{ name: 'a' }]));
    const harmless = await measure([join(folder, 'harmless')]);
    const hostile = await measure(paths);
    expect(harmless.outcomes).toEqual(['read']);
    expect(hostile.outcomes).toEqual(bombs.map(({ code }) => code));
    expect(hostile.peakKilobytes - harmless.peakKilobytes).toBeLessThan(64 * 1024);
  });

  test('of overlapping members are a bomb to unzip as well', async () => {
    await writeFile(join(folder, 'overlapping.zip'), overlappingBomb(200, 512));
    await expect(run('unzip', ['-t', join(folder, 'overlapping.zip')])).rejects.toMatchObject({
      stdout: expect.stringContaining('overlapped components'),
    });
  });
});

async function measure(paths: string[]): Promise<{ outcomes: string[]; peakKilobytes: number }> {
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'testing/measure-memory.ts'), ...paths]);
  return JSON.parse(stdout);
}

function* pieces(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += 10_000) yield content.subarray(at, at + 10_000);
}
