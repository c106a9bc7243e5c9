import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFolderBlobs } from '../../store/blobs/folder.ts';
import { createHashPool } from '../../store/blobs/hash-pool.ts';
import { stagedContent, storedContent } from './content.ts';
import { previewText } from './preview/preview.ts';
import { sniff } from './upload/sniff.ts';

const hashes = createHashPool();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rushhour-content-'));
});
afterAll(async () => {
  await hashes.close();
  await rm(folder, { recursive: true, force: true });
});

test.each([
  ['clear', undefined],
  ['sealed', randomBytes(32)],
])('%s content is known while it is staged and shown once it is kept', async (name, key) => {
  const blobs = createFolderBlobs({ folder: join(folder, name), hashes, key });
  const staged = await blobs.stage(Readable.from([Buffer.from('user,password\nann,x\nbob,y\n')]));
  expect(await sniff(stagedContent(blobs, staged))).toEqual({ kind: 'csv', mime: 'text/csv' });
  await blobs.commit(staged);
  const { lines } = await previewText(storedContent(blobs, staged), { start: 1, limit: 1 });
  expect(lines).toEqual(['ann,x']);
});
