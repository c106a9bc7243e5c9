import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createFolderBlobs } from './folder.ts';
import { createHashPool } from './hash-pool.ts';
import { createS3Blobs } from './s3.ts';
import { startS3TestServer } from './testing/s3-server.ts';

const program = fileURLToPath(new URL('./testing/blobs-child.ts', import.meta.url));
const hashes = createHashPool();
let root: string;
let folder: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rushhour-crash-'));
});
beforeEach(async () => {
  folder = await mkdtemp(join(root, 'data-'));
});
afterAll(async () => {
  await hashes.close();
  await rm(root, { recursive: true, force: true });
});

const start = (action: string, url = '') => {
  const child = spawn(process.execPath, [program, action, folder, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  return { child, lines: createInterface(child.stdout) };
};
const kill = async (child: ChildProcessByStdio<null, Readable, null>) => {
  const ended = once(child, 'close');
  child.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
};
/** Kills the child once it has said its first line and what is waited for has come. */
const killAfterFirstLine = async (action: string, hasCome: () => Promise<boolean> = async () => true) => {
  const { child, lines } = start(action);
  const [line] = await once(lines, 'line');
  await expect.poll(hasCome, { interval: 5 }).toBe(true);
  await kill(child);
  return line as string;
};
const hasBytes = (path: string) =>
  stat(path).then(
    ({ size }) => size > 2 * 1024 * 1024,
    () => false,
  );
const temps = () => readdir(join(folder, '.staging')).catch(() => []);
const visible = async () => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !/\.(staging|parts|trash)/.test(entry.parentPath));
};

test('a kill while content arrives leaves only a temp file, which the sweep removes', async () => {
  await killAfterFirstLine('stage', async () => hasBytes(join(folder, '.staging', (await temps())[0] ?? '')));
  expect(await temps()).toHaveLength(1);
  expect(await visible()).toEqual([]);
  expect(await createFolderBlobs({ folder, hashes }).sweep(async () => true)).toMatchObject({
    trashed: 0,
    temps: 1,
    parts: 0,
  });
  expect(await temps()).toEqual([]);
});

test('a kill between the rename and the row leaves a whole blob, which the sweep puts in the trash as an orphan', async () => {
  const sha256 = await killAfterFirstLine('commit');
  const blobs = createFolderBlobs({ folder, hashes });
  expect(await blobs.size(sha256)).toBe(100_000);
  expect(await blobs.sweep(async () => false)).toMatchObject({ trashed: 1, temps: 0, parts: 0 });
  expect(await visible()).toEqual([]);
});

test('a kill while a part arrives keeps a true prefix, from which the upload goes on', async () => {
  await killAfterFirstLine('append', () => hasBytes(join(folder, '.parts', '1')));
  const blobs = createFolderBlobs({ folder, hashes });
  await blobs.sweep(
    async () => false,
    async (id) => id === '1',
  );
  const received = (await blobs.partSize('1')) ?? 0;
  expect(received).toBeGreaterThan(2 * 1024 * 1024);
  const staged = await blobs.finishPart('1');
  expect(staged.sha256).toBe(createHash('sha256').update(Buffer.alloc(received, 7)).digest('hex'));
});

test('kills at any moment never show half a blob, and never lose a committed one', async () => {
  const committed = new Set<string>();
  for (let round = 0; round < 4; round++) {
    const { child, lines } = start('loop');
    lines.on('line', (sha256) => committed.add(sha256));
    await once(lines, 'line');
    await new Promise((resolve) => setTimeout(resolve, 17 * round));
    await kill(child);
  }
  for (const { parentPath, name } of await visible()) {
    expect(
      createHash('sha256')
        .update(await readFile(join(parentPath, name)))
        .digest('hex'),
    ).toBe(name);
  }
  await createFolderBlobs({ folder, hashes }).sweep(async (sha256) => committed.has(sha256));
  expect(new Set((await visible()).map(({ name }) => name))).toEqual(committed);
  expect(await temps()).toEqual([]);
});

test('a kill while content goes to S3 shows nothing there, and the sweep ends the upload that was left open', async () => {
  const server = await startS3TestServer();
  try {
    const openUploads = async () => {
      const { Uploads = [] } = await server.client.send(new ListMultipartUploadsCommand({ Bucket: 'blobs' }));
      return Uploads.length;
    };
    const { child, lines } = start('large', server.url);
    const [sha256] = await once(lines, 'line');
    await expect.poll(openUploads, { interval: 10 }).toBe(1);
    await kill(child);
    const blobs = createS3Blobs({ url: server.url, folder, hashes, graceMs: -2000 });
    expect(await blobs.exists(sha256)).toBe(false);
    expect(await openUploads()).toBe(1);
    expect(await blobs.sweep(async () => true)).toMatchObject({ temps: 1 });
    expect([await openUploads(), await temps()]).toEqual([0, []]);
  } finally {
    await server.stop();
  }
});
