import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, cookieJar, createClient } from '@rushhour/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startS3TestServer } from '../../packages/controller/src/store/blobs/testing/s3-server.ts';
import { startPostgres } from '../../scripts/postgres.ts';
import { commandLine } from '../cli/command-line.ts';
import { type Spawned, spawnController } from './spawn-controller.ts';

const admin = { email: 'keeper@example.test', password: 'four-Grey-Herons-wade' };
let folder: string;
let cli: ReturnType<typeof commandLine>;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rushhour-backup-'));
  cli = commandLine();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  cli.remove();
  rmSync(folder, { recursive: true, force: true });
});

const start = async (env: Record<string, string>) => {
  const given = { RUSHHOUR_ADMIN_EMAIL: admin.email, RUSHHOUR_ADMIN_PASSWORD: admin.password };
  const controller: Spawned = await spawnController({ ...given, ...env });
  closing.push(() => controller.kill('SIGKILL'));
  const client = createClient(controller.url, cookieJar());
  await client.auth.login({ body: admin });
  await client.settings.update({ body: { limits: { rate: 1_000_000 } } });
  return { controller, client };
};

const content = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 251));
const upload = (client: Client, name: string) =>
  client.files.create({
    upload: { fields: { category: 'other', name }, file: new Blob([content, name]), filename: name },
  });

/** Creates projects one after another until told to stop; those that were acknowledged. */
const writeOn = (client: Client) => {
  let isOn = true;
  const names: string[] = [];
  const done = (async () => {
    for (let i = 0; isOn; i += 1) {
      await client.projects.create({ body: { name: `project ${i}` } });
      names.push(`project ${i}`);
    }
  })();
  return {
    names,
    stop: async () => {
      isOn = false;
      await done;
    },
  };
};

const projectNames = async (client: Client) => {
  const names: string[] = [];
  for (let page = 1; ; page += 1) {
    const { data } = await client.projects.list({ query: { count: 100, page } as never });
    names.push(...data.map(({ name }) => name));
    if (data.length < 100) return names;
  }
};

const checkRestored = async (env: Record<string, string>, before: readonly string[], fileId: number) => {
  const { client } = await start(env);
  expect(await projectNames(client)).toEqual(expect.arrayContaining([...before]));
  const file = await client.files.download({ params: { id: fileId } });
  expect(Buffer.from(await file.arrayBuffer()).equals(Buffer.concat([content, Buffer.from('trace')]))).toBe(true);
  expect((await client.projects.create({ body: { name: 'after' } })).data).toBeGreaterThan(before.length);
  await upload(client, 'another');
  const audit = await cli.call(['audit', 'verify'], { env });
  expect([audit.code, audit.stdout]).toEqual([0, expect.stringContaining('the audit chain holds')]);
};

/** A backup while changes are made, then a kill, then a restore into nothing. */
const roundTrip = async (env: Record<string, string>, emptyEnv: Record<string, string>) => {
  const { controller, client } = await start(env);
  const { data: fileId } = await upload(client, 'trace');
  const writer = writeOn(client);
  await expect.poll(() => writer.names.length).toBeGreaterThan(10);
  const before = [...writer.names];
  const copy = join(folder, 'copy');
  const made = await cli.call(['backup', copy], { env });
  expect([made.code, made.stderr]).toEqual([0, '']);
  await writer.stop();
  expect(writer.names.length).toBeGreaterThan(before.length);
  await controller.kill('SIGKILL');
  const restored = await cli.call(['restore', copy], { env: emptyEnv });
  expect([restored.code, restored.stderr]).toEqual([0, '']);
  await checkRestored(emptyEnv, before, fileId);
  return copy;
};

it('SQLite: a backup made during changes is restored after a kill', async () => {
  const [env, emptyEnv] = ['old', 'new'].map((name) => ({ RUSHHOUR_DATA_DIR: join(folder, name) }));
  const copy = await roundTrip(env as never, emptyEnv as never);
  const refused = await cli.call(['restore', copy], { env: emptyEnv as never });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/another controller uses|is not empty/)]);
  writeFileSync(join(copy, 'rushhour.db'), 'x');
  const damaged = await cli.call(['restore', copy], { env: { RUSHHOUR_DATA_DIR: join(folder, 'third') } });
  expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringContaining('rushhour.db is damaged')]);
  rmSync(join(copy, 'manifest.json'));
  const partial = await cli.call(['restore', copy], { env: { RUSHHOUR_DATA_DIR: join(folder, 'third') } });
  expect([partial.code, partial.stderr]).toEqual([1, expect.stringContaining('holds no complete backup')]);
});

it('PostgreSQL and S3: a backup made during changes is restored into another database and bucket', async () => {
  const databases = [await startPostgres(), await startPostgres()];
  const buckets = [await startS3TestServer(), await startS3TestServer()];
  for (const one of [...databases, ...buckets]) closing.push(() => one.stop());
  const [before, after] = ['old', 'new'].map((name, i) => ({
    ...{ DATABASE_URL: databases[i]?.url ?? '', S3_URL: buckets[i]?.url ?? '' },
    RUSHHOUR_SECRET_KEY: Buffer.alloc(32, 6).toString('base64'),
    RUSHHOUR_DATA_DIR: join(folder, name),
  }));
  await roundTrip(before as never, after as never);
  // The contents went from bucket to bucket.
  const kept = readdirSync(join(folder, 'new/files')).filter((name) => !name.startsWith('.'));
  expect(kept).toEqual([]);
});
