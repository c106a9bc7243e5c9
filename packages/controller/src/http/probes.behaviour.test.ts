import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';

let controller: TestController;
let user: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  user = await controller.signIn();
});
afterAll(() => controller.close());

const get = async (path: string, method = 'GET') => {
  const reply = await user.send(`${controller.url}${path}`, { method });
  await reply.arrayBuffer();
  return reply.status;
};

/** How many answers of an operation were measured, by status. */
const answersOf = async (operation: string) => {
  const text = await (await fetch(`${controller.url}/metrics`)).text();
  const pattern = new RegExp(`_seconds_count{operation="${operation}",status="(\\d+)"} (\\d+)`, 'g');
  return Object.fromEntries([...text.matchAll(pattern)].map(([, status, count]) => [status, Number(count)]));
};

describe('measured answers', () => {
  it('are counted once each, refused ones and those without a body as well', async () => {
    const { data: id } = await user.client.projects.create({ body: { name: 'Measured' } });
    expect(await get(`/v1/projects/${id}`)).toBe(200);
    expect(await get(`/v1/projects/${id}`, 'HEAD')).toBe(200);
    expect(await get('/v1/projects/0')).toBe(400);
    expect(await get('/v1/projects/999999')).toBe(404);
    expect((await fetch(`${controller.url}/v1/projects/${id}`)).status).toBe(401);
    await user.client.projects.update({ body: { id, name: 'Renamed' } });
    expect(await answersOf('projects.get')).toEqual({ 200: 2, 400: 1, 401: 1, 404: 1 });
    expect(await answersOf('projects.update')).toEqual({ 200: 1 });
  });

  it('include files, once they have left', async () => {
    const file = new Blob(['x'.repeat(200_000)]);
    const { data: id } = await user.client.files.create({
      upload: { fields: { category: 'other' }, file, filename: 'a.bin' },
    });
    expect(await get(`/v1/files/${id}/download`)).toBe(200);
    await expect.poll(() => answersOf('files.download')).toEqual({ 200: 1 });
    expect(await answersOf('files.create')).toEqual({ 200: 1 });
  });
});

describe('a database that can be read but not written', () => {
  const raw = (sql: string) =>
    controller.store.database.transaction(async (tx) => void (await tx.run({ name: '', sql }, [])));
  const isPostgres = () => controller.store.database.engine === 'postgres';
  const refuseWrites = async () => {
    if (!isPostgres()) {
      return raw(
        `CREATE TRIGGER full_disk BEFORE INSERT ON "installation" BEGIN SELECT RAISE(ABORT, 'no writes'); END`,
      );
    }
    await raw(
      `CREATE FUNCTION no_writes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no writes'; END $$`,
    );
    await raw(
      'CREATE TRIGGER full_disk BEFORE INSERT ON "installation" FOR EACH STATEMENT EXECUTE FUNCTION no_writes()',
    );
  };
  const probe = async (path: string) => {
    const reply = await fetch(`${controller.url}${path}`);
    return [reply.status, await reply.json()];
  };

  it('is reported by the probe and by the health, and so is its recovery', async () => {
    expect((await probe('/readyz'))[0]).toBe(200);
    await refuseWrites();
    const failed = { checks: { db: 'failed' } };
    await expect.poll(() => probe('/readyz'), { timeout: 20_000 }).toMatchObject([503, failed]);
    expect(await probe('/v1/health')).toMatchObject([503, { data: failed }]);
    await raw(`DROP TRIGGER full_disk${isPostgres() ? ' ON "installation"' : ''}`);
    await expect.poll(() => probe('/readyz'), { timeout: 20_000 }).toMatchObject([200, { checks: { db: 'ok' } }]);
  });
});
