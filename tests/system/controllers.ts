import { randomBytes } from 'node:crypto';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, cookieJar, createClient } from '@rushhour/client';
import { expect } from 'vitest';
import { startS3TestServer } from '../../packages/controller/src/store/blobs/testing/s3-server.ts';
import { startNats } from '../../scripts/nats.ts';
import { startPostgres } from '../../scripts/postgres.ts';
import { type Spawned, spawnController } from '../process/spawn-controller.ts';
import { startBalancer } from './balancer.ts';
import { startSystem, until, untilStatus } from './system.ts';

const admin = { email: 'admin@example.test', password: 'quiet-Harbour-27-lamps' };

export interface StartedTask {
  readonly id: number;
  readonly runId: number;
}

/** NATS for messages and, behind a door that can be closed, an S3-compatible server for contents. */
const startEngines = async () => {
  const [nats, storage] = await Promise.all([startNats(), startS3TestServer()]);
  const host = `127.0.0.1:${/@127\.0\.0\.1:(\d+)/.exec(storage.url)?.[1]}`;
  const door = await startBalancer(`http://${host}`);
  const contents = {
    halt: () => door.moveTo('http://127.0.0.1:1'),
    startAgain: () => door.moveTo(`http://${host}`),
    stop: async () => {
      door.close();
      await storage.stop();
    },
  };
  const url = storage.url.replace(host, new URL(door.url).host);
  return { nats, contents, env: { NATS_URL: nats.url, S3_URL: url } };
};

/** A system on PostgreSQL to which further controllers can be added; with `isWhole` also on NATS and S3. */
export const startControllers = async (settings: object, { isWhole = false } = {}) => {
  const postgres = await startPostgres();
  const engines = isWhole ? await startEngines() : undefined;
  const secretKey = randomBytes(32).toString('base64');
  const env = { DATABASE_URL: postgres.url, RUSHHOUR_SECRET_KEY: secretKey, ...engines?.env };
  const folders: string[] = [];
  const added: Spawned[] = [];
  const system = await startSystem(settings, env);
  return {
    postgres,
    nats: engines?.nats,
    contents: engines?.contents,
    system,
    /** With a user id of its own its packets can be told from those of the others. */
    addController: async (uid?: number, extra: Record<string, string> = {}): Promise<Spawned> => {
      const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-system-'));
      folders.push(dataDir);
      if (uid !== undefined) chownSync(dataDir, uid, uid);
      const own = {
        RUSHHOUR_DATA_DIR: dataDir,
        ...(uid !== undefined && { NODE_COMPILE_CACHE: join(dataDir, 'cache') }),
      };
      const controller = await spawnController({ ...env, ...own, ...extra }, uid === undefined ? {} : { uid });
      added.push(controller);
      return controller;
    },
    close: async () => {
      for (const controller of added) await controller.kill('SIGKILL');
      await system.close();
      await engines?.nats.stop();
      await engines?.contents.stop();
      await postgres.stop();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
};

export const signInAt = async (url: string): Promise<Client> => {
  const client = createClient(url, cookieJar());
  await client.auth.login({ body: admin });
  return client;
};

/** Runs belong to the controller that they are started at. */
export const startTask = async (client: Client, task: object): Promise<StartedTask> => {
  const { data: id } = await client.tasks.create({ body: task as never });
  const { data } = await client.tasks.start({ params: { id } });
  return { id, runId: data.runId };
};

/** It ends as planned, with every second of its agents. */
export const expectWhole = async (client: Client, run: StartedTask, seconds: number) => {
  await untilStatus(client, run.id, [7, 8, 9]);
  const { data } = await client.tasks.run({ params: { ...run } });
  expect(data).toMatchObject({ status: 7, error: '' });
  // A busy machine may be the limit of the load; nothing may be missing.
  expect(data.validity.reasons.filter((reason) => !/was saturated/.test(reason))).toEqual([]);
  const query = { metrics: 'http.requests', step: 1 };
  const { data: found } = await client.tasks.series({ params: { ...run }, query });
  const values = (found.series[0]?.values ?? []).filter((value) => value !== null);
  expect(values.length).toBeGreaterThanOrEqual(seconds - 1);
};

/** The events that say that another controller conducts the run now. */
export const takenOver = (client: Client, id: number) =>
  until('another controller to conduct the run', async () => {
    const { data } = await client.tasks.events({ params: { id }, query: { type: 'recovering' } });
    return data.length > 0 ? data : undefined;
  });
