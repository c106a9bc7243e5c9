import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Blobs } from './blobs.ts';
import { createFolderBlobs } from './folder.ts';
import { createHashPool } from './hash-pool.ts';
import { createS3Blobs } from './s3.ts';
import { type S3TestServer, startS3TestServer } from './testing/s3-server.ts';

const hashes = createHashPool();
let root: string;
let server: S3TestServer;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rushhour-blobs-'));
  server = await startS3TestServer();
});
afterAll(async () => {
  await server?.stop();
  await hashes.close();
  await rm(root, { recursive: true, force: true });
});

const hex = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('hex');
const isSame = async (stream: Readable, bytes: Buffer) => bytes.equals(Buffer.concat(await stream.toArray()));
const inChunks = (bytes: Buffer, length: number) =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / length) }, (_, n) => bytes.subarray(n * length, (n + 1) * length)),
  );
const leftovers = async (folder: string, name: '.staging' | '.parts') => readdir(join(folder, name)).catch(() => []);
const nothing = async () => false;
const everything = async () => true;

const key = randomBytes(32);
// The server rounds its times up to the next second.
const graceMs = -2000;
const kinds = [
  { name: 'a folder', open: (folder: string) => createFolderBlobs({ folder, hashes }) },
  { name: 'a sealed folder', open: (folder: string) => createFolderBlobs({ folder, hashes, key }) },
  { name: 'S3', open: (folder: string) => createS3Blobs({ url: server.url, folder, hashes, graceMs }) },
  {
    name: 'sealed S3',
    open: (folder: string) => createS3Blobs({ url: server.url, prefix: 'sealed/', folder, hashes, key, graceMs }),
  },
];

describe.each(kinds)('blobs in $name', ({ name, open }) => {
  let folder: string;
  let blobs: Blobs;
  beforeAll(async () => {
    folder = await mkdtemp(join(root, 'kind-'));
    blobs = open(folder);
  });

  const keep = async (bytes: Buffer) => {
    const staged = await blobs.stage(Readable.from([bytes]));
    await blobs.commit(staged);
    return staged.sha256;
  };

  test.each([0, 1, 65_535, 65_536, 65_537, 524_288, 1_500_000])(
    'give %i bytes back with all their digests',
    async (size) => {
      const bytes = randomBytes(size);
      const staged = await blobs.stage(inChunks(bytes, 10_007));
      expect(staged).toMatchObject({
        size,
        md5: hex('md5', bytes),
        sha1: hex('sha1', bytes),
        sha256: hex('sha256', bytes),
        sha3_384: hex('sha3-384', bytes),
      });
      expect(await isSame(await blobs.readStaged(staged), bytes)).toBe(true);
      expect(await blobs.exists(staged.sha256)).toBe(false);
      await blobs.commit(staged);
      expect(await blobs.size(staged.sha256)).toBe(size);
      expect(await isSame(await blobs.read(staged.sha256), bytes)).toBe(true);
      expect(await leftovers(folder, '.staging')).toEqual([]);
    },
  );

  test('give any range back', async () => {
    const bytes = randomBytes(200_000);
    const sha256 = await keep(bytes);
    const cases = [
      [0, 1],
      [0, 65_536],
      [65_535, 65_537],
      [65_536, 131_072],
      [199_999, 200_000],
      [150_000, 900_000],
      [7, 7],
      [200_000, 200_001],
    ];
    for (const [start = 0, end = 0] of cases) {
      expect(await isSame(await blobs.read(sha256, { start, end }), bytes.subarray(start, end))).toBe(true);
    }
    expect(await isSame(await blobs.read(sha256, { start: 131_000 }), bytes.subarray(131_000))).toBe(true);
  });

  test('keep the same content once, however often it is committed', async () => {
    const bytes = randomBytes(5000);
    const sha256 = await keep(bytes);
    expect(await keep(bytes)).toBe(sha256);
    expect(await isSame(await blobs.read(sha256), bytes)).toBe(true);
    expect(await leftovers(folder, '.staging')).toEqual([]);
  });

  test('are found as a plain file only where they are one', async () => {
    const bytes = randomBytes(100);
    const path = await blobs.findPath(await keep(bytes));
    expect(path !== undefined).toBe(name === 'a folder');
    if (path) expect(bytes.equals(await readFile(path))).toBe(true);
    expect(await blobs.findPath(hex('sha256', Buffer.from('absent')))).toBeUndefined();
  });

  test('say NOT_FOUND before the first byte', async () => {
    await expect(blobs.read(hex('sha256', Buffer.from('absent')))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(blobs.read('../../etc/passwd')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('leave nothing behind when content is discarded, too large, broken off or aborted', async () => {
    await blobs.discard(await blobs.stage(Readable.from([randomBytes(100)])));
    const tooLarge = inChunks(randomBytes(2_000_000), 65_536);
    await expect(blobs.stage(tooLarge, { maxBytes: 1_999_999 })).rejects.toMatchObject({
      code: 'TOO_LARGE',
      data: { limit: 1_999_999 },
    });
    expect(tooLarge.destroyed).toBe(false);
    const broken = Readable.from(
      (async function* () {
        yield randomBytes(700_000);
        throw new Error('connection lost');
      })(),
    );
    await expect(blobs.stage(broken)).rejects.toThrow('connection lost');
    const stalled = new Readable({ read() {} });
    stalled.push(randomBytes(10));
    await expect(blobs.stage(stalled, { signal: AbortSignal.timeout(50) })).rejects.toThrow();
    expect(await leftovers(folder, '.staging')).toEqual([]);
  });

  test('are taken back when the row cannot be written, unless they were there before', async () => {
    const refuse = () => Promise.reject(new Error('no row'));
    const fresh = await blobs.stage(Readable.from([randomBytes(64)]));
    await expect(blobs.commit(fresh, refuse)).rejects.toThrow('no row');
    expect(await blobs.exists(fresh.sha256)).toBe(false);

    const bytes = randomBytes(64);
    const sha256 = await keep(bytes);
    await expect(blobs.commit(await blobs.stage(Readable.from([bytes])), refuse)).rejects.toThrow('no row');
    expect(await blobs.exists(sha256)).toBe(true);
  });

  test('are not removed between being stored and being referred to', async () => {
    const staged = await blobs.stage(Readable.from([randomBytes(64)]));
    let hasRow = false;
    const { promise: stored, resolve: onStored } = Promise.withResolvers<void>();
    const committed = blobs.commit(staged, async () => {
      onStored();
      await new Promise((resolve) => setTimeout(resolve, 30));
      hasRow = true;
    });
    await stored;
    expect(await blobs.remove(staged.sha256, async () => hasRow)).toBe(false);
    await committed;
    expect(await blobs.remove(staged.sha256)).toBe(true);
    expect(await blobs.exists(staged.sha256)).toBe(false);
  });

  test('are swept when nobody refers to them, and temp files with them, but nothing in use', async () => {
    await blobs.sweep(nothing, nothing);
    await blobs.emptyTrash(-2000);
    const used = await keep(randomBytes(10));
    const orphan = await keep(randomBytes(11));
    const pending = await blobs.stage(Readable.from([randomBytes(12)]));
    await writeFile(join(folder, '.staging', 'left-by-a-crash'), 'half');
    const report = await blobs.sweep(async (sha256) => sha256 === used);
    expect(report).toEqual({ trashed: 1, restored: 0, temps: 1, parts: 0 });
    expect([await blobs.exists(used), await blobs.exists(orphan)]).toEqual([true, false]);
    expect(await blobs.emptyTrash(60_000)).toBe(0);
    expect(await blobs.sweep(everything)).toMatchObject({ trashed: 0, restored: 1 });
    expect(await blobs.exists(orphan)).toBe(true);
    await blobs.sweep(async (sha256) => sha256 === used);
    expect(await blobs.emptyTrash(-2000)).toBe(1);
    expect(await blobs.sweep(everything)).toMatchObject({ restored: 0 });
    await blobs.commit(pending);
    expect(await blobs.exists(pending.sha256)).toBe(true);
  });

  test('grow from parts, in order only', async () => {
    const bytes = randomBytes(1_300_003);
    await blobs.openPart('42');
    expect(await blobs.partSize('42')).toBe(0);
    for (const [start, end] of [
      [0, 700_001],
      [700_001, 700_002],
      [700_002, bytes.length],
    ] as const) {
      expect(await blobs.append('42', start, inChunks(bytes.subarray(start, end), 65_536))).toBe(end);
    }
    const gap = blobs.append('42', 5, Readable.from([Buffer.from('x')]));
    await expect(gap).rejects.toMatchObject({ code: 'OFFSET_MISMATCH', data: { received: bytes.length } });
    const staged = await blobs.finishPart('42');
    expect(staged).toMatchObject({
      size: bytes.length,
      sha256: hex('sha256', bytes),
      sha3_384: hex('sha3-384', bytes),
    });
    expect(await blobs.partSize('42')).toBe(bytes.length);
    await blobs.commit(staged);
    expect(await blobs.partSize('42')).toBeUndefined();
    expect(await isSame(await blobs.read(staged.sha256), bytes)).toBe(true);
    expect(await leftovers(folder, '.staging')).toEqual([]);
  });

  test('keep of an interrupted append what came, and go on from there', async () => {
    const bytes = randomBytes(900_000);
    const lost = Readable.from(
      (async function* () {
        yield bytes.subarray(0, 600_001);
        throw new Error('connection lost');
      })(),
    );
    await blobs.openPart('43');
    await expect(blobs.append('43', 0, lost)).rejects.toThrow('connection lost');
    expect(await blobs.partSize('43')).toBe(600_001);
    const more = { maxBytes: 299_998 };
    await expect(blobs.append('43', 600_001, Readable.from([bytes.subarray(600_001)]), more)).rejects.toMatchObject({
      code: 'TOO_LARGE',
    });
    expect(await blobs.append('43', 600_001, Readable.from([bytes.subarray(600_001)]))).toBe(900_000);
    const staged = await blobs.finishPart('43');
    expect(staged.sha256).toBe(hex('sha256', bytes));
    await blobs.discard(staged);
    expect(await leftovers(folder, '.parts')).toEqual([]);
  });

  test('take one request at a time for a part, and know no part that was not opened', async () => {
    await blobs.openPart('44');
    const slow = new Readable({ read() {} });
    const first = blobs.append('44', 0, slow);
    await expect(blobs.append('44', 0, Readable.from([]))).rejects.toMatchObject({ code: 'PART_BUSY' });
    slow.push(null);
    expect(await first).toBe(0);
    await blobs.removePart('44');
    for (const id of ['44', '../escape', '']) {
      await expect(blobs.append(id, 0, Readable.from([]))).rejects.toMatchObject({ code: 'PART_UNKNOWN' });
    }
  });

  test('sweep only the parts no upload owns', async () => {
    await blobs.openPart('45');
    await blobs.openPart('46');
    expect(await blobs.sweep(everything, async (id) => id === '46')).toMatchObject({ parts: 1 });
    expect([await blobs.partSize('45'), await blobs.partSize('46')]).toEqual([undefined, 0]);
    await blobs.removePart('46');
  });

  test('know the room there is for uploads', async () => {
    const { freeBytes, totalBytes } = await blobs.space();
    expect(freeBytes).toBeGreaterThan(0);
    expect(totalBytes).toBeGreaterThanOrEqual(freeBytes);
  });
});
