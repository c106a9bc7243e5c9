import { existsSync, readdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Controller, startController } from '../controller.ts';
import { admin, startTestController, type TestController } from '../testing/controller.ts';
import { createDatabase } from '../testing/postgres.ts';
import { startS3TestServer } from './blobs/testing/s3-server.ts';

let first: TestController;
let second: Controller | undefined;
beforeEach(async () => {
  first = await startTestController();
});
afterEach(async () => {
  await second?.close();
  second = undefined;
  await rm(first.config.dataDir, { recursive: true, force: true });
});

const upload = async () => {
  const { client } = await first.signIn();
  const file = new Blob(['the only copy']);
  const { data: id } = await client.files.create({
    upload: { fields: { category: 'other' }, file, filename: 'a.txt' },
  });
  return { id, sha256: (await client.files.get({ params: { id } })).data.sha256 };
};

/** Replaces the database by an empty one; answers what puts the first one back. */
const loseDatabase = async () => {
  const file = join(first.config.dataDir, 'rushhour.db');
  if (existsSync(file)) renameSync(file, `${file}.lost`);
  const { databaseUrl } = first.config;
  if (databaseUrl) first.config.databaseUrl = (await createDatabase()) as string;
  return () => {
    if (databaseUrl) first.config.databaseUrl = databaseUrl;
    else renameSync(`${file}.lost`, file);
  };
};

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

const refusalOf = async () => {
  const error = (await startController(first.config).then(
    async (controller) => controller.close(),
    (reason) => reason,
  )) as Error | undefined;
  expect(error?.name).toBe('StartError');
  return error?.message ?? '';
};

it('a start with an empty database is refused, names the way out, and touches no file', async () => {
  const { sha256 } = await upload();
  await first.stop();
  const before = filesIn(join(first.config.dataDir, 'files'));
  expect(before).toContain(sha256);
  await loseDatabase();
  const message = await refusalOf();
  expect(message).toMatch(
    /^the data folder \S+ belongs to installation ([0-9a-f-]{36}), but the database .*RUSHHOUR_ADOPT_DATA=\1 /,
  );
  expect(await refusalOf()).toMatch(/belongs to installation/);
  expect(filesIn(join(first.config.dataDir, 'files')).sort()).toEqual(before.sort());
});

it('a folder of files without a mark is refused by an empty database', async () => {
  await upload();
  await first.stop();
  await rm(join(first.config.dataDir, 'installation'));
  await loseDatabase();
  expect(await refusalOf()).toMatch(/holds files of an installation, but the database is new: .*=unmarked /);
  expect(await refusalOf()).toMatch(/is new/);
});

it('an adopted folder loses no file: orphans wait in the trash and come back with their database', async () => {
  const { id, sha256 } = await upload();
  const { dataDir } = first.config;
  await first.stop();
  const restoreDatabase = await loseDatabase();
  const adoptData = /ADOPT_DATA=(\S+)/.exec(await refusalOf())?.[1] ?? '';
  second = await startController({ ...first.config, adoptData });
  await vi.waitFor(() => expect(filesIn(join(dataDir, 'files', '.trash'))).toContain(sha256), 30_000);
  await second.close();
  second = undefined;
  if (!first.config.databaseUrl) await rm(join(dataDir, 'rushhour.db'));
  restoreDatabase();
  const back = /ADOPT_DATA=(\S+)/.exec(await refusalOf())?.[1] ?? '';
  const third = await startController({ ...first.config, adoptData: back });
  second = third;
  const { client } = await first.signInAt(third.url, admin);
  await vi.waitFor(
    async () => expect(await (await client.files.download({ params: { id } })).text()).toBe('the only copy'),
    30_000,
  );
  expect(filesIn(join(dataDir, 'files', '.trash'))).not.toContain(sha256);
});

it('the trash is emptied after its days', async () => {
  const { sha256 } = await upload();
  const trash = join(first.config.dataDir, 'files', '.trash');
  const { files } = first;
  expect(await files.blobs.sweep(async (one) => one !== sha256)).toMatchObject({ trashed: 1, restored: 0 });
  expect(await files.emptyTrash(1)).toBe(0);
  expect(filesIn(trash)).toEqual([sha256]);
  expect(await files.emptyTrash(0)).toBe(1);
  expect(filesIn(trash)).toEqual([]);
  await first.stop();
});

it('a bucket that belongs to another installation is refused', async () => {
  await first.stop();
  const server = await startS3TestServer();
  const other = await startTestController({ s3Url: server.url });
  try {
    await other.close();
    first.config.s3Url = server.url;
    expect(await refusalOf()).toMatch(/^the bucket blobs belongs to installation [0-9a-f-]{36}, but the database/);
  } finally {
    await server.stop();
  }
});
