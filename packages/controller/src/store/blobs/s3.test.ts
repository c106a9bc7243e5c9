import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StorageUnavailable } from '../engine/database.ts';
import { createHashPool } from './hash-pool.ts';
import { createS3Blobs } from './s3.ts';
import { type S3TestServer, startS3TestServer } from './testing/s3-server.ts';

const hashes = createHashPool();
let folder: string;
let server: S3TestServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rushhour-s3-test-'));
  server = await startS3TestServer();
});
afterAll(async () => {
  await server?.stop();
  await hashes.close();
  await rm(folder, { recursive: true, force: true });
});

const modifiedAt = async (sha256: string) => {
  const { LastModified } = await server.client.send(new HeadObjectCommand({ Bucket: 'blobs', Key: sha256 }));
  return LastModified?.getTime() ?? 0;
};

test('content of several parts goes up and comes back, whole and in ranges', async () => {
  const blobs = createS3Blobs({ url: server.url, folder, hashes });
  const bytes = randomBytes(21 * 1024 * 1024 + 5);
  const staged = await blobs.stage(Readable.from([bytes]));
  await blobs.commit(staged);
  const hash = createHash('sha256');
  for await (const chunk of await blobs.read(staged.sha256)) hash.update(chunk);
  expect(hash.digest('hex')).toBe(staged.sha256);
  const across = { start: 8 * 1024 * 1024 - 3, end: 16 * 1024 * 1024 + 3 };
  const range = Buffer.concat(await (await blobs.read(staged.sha256, across)).toArray());
  expect(range.equals(bytes.subarray(across.start, across.end))).toBe(true);
});

test('content that is committed again is young again, so that a sweep elsewhere leaves it alone', async () => {
  const bytes = randomBytes(1000);
  const commit = async (graceMs: number) => {
    const blobs = createS3Blobs({ url: server.url, folder, hashes, graceMs });
    const staged = await blobs.stage(Readable.from([bytes]));
    await blobs.commit(staged);
    return staged.sha256;
  };
  const first = await modifiedAt(await commit(60_000));
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect(await modifiedAt(await commit(60_000))).toBe(first);
  expect(await modifiedAt(await commit(100))).toBeGreaterThan(first);
  const sweeper = createS3Blobs({ url: server.url, folder, hashes });
  expect(await sweeper.sweep(async () => false)).toMatchObject({ trashed: 0 });
});

test('a store that does not answer fails the commit, and the content can still be discarded', async () => {
  const blobs = createS3Blobs({ url: 's3://key:secret@127.0.0.1:1/blobs?tls=false', folder, hashes });
  const staged = await blobs.stage(Readable.from([randomBytes(10)]));
  await expect(blobs.commit(staged)).rejects.toBeInstanceOf(StorageUnavailable);
  await blobs.discard(staged);
  expect(await readdir(join(folder, '.staging'))).toEqual([]);
});
