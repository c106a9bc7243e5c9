import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, cookieJar, createClient } from '@rushhour/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../../scripts/postgres.ts';
import { type Spawned, spawnController } from '../process/spawn-controller.ts';
import { startBalancer } from './balancer.ts';
import { type AgentProcess, httpTask, type System, startSystem, until, untilStatus } from './system.ts';

const settings = {
  agents: { heartbeatSec: 1, suspectAfterSec: 4, lostAfterSec: 20, deadManSec: 120 },
  tasks: { stopTimeoutSec: 30, recoveryGraceSec: 60 },
};
const admin = { email: 'admin@example.test', password: 'quiet-Harbour-27-lamps' };

let postgres: Awaited<ReturnType<typeof startPostgres>>;
/** The first controller conducts. */
let system: System;
let second: Spawned;
let third: Spawned;
let nearDoor: Awaited<ReturnType<typeof startBalancer>>;
let farDoor: Awaited<ReturnType<typeof startBalancer>>;
let near: AgentProcess;
let far: AgentProcess;
const folders: string[] = [];
const env: Record<string, string> = { RUSHHOUR_SECRET_KEY: randomBytes(32).toString('base64') };

const addController = () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rushhour-system-'));
  folders.push(dataDir);
  return spawnController({ ...env, RUSHHOUR_DATA_DIR: dataDir });
};

const signInAt = async (url: string): Promise<Client> => {
  const client = createClient(url, cookieJar());
  await client.auth.login({ body: admin });
  return client;
};

beforeAll(async () => {
  postgres = await startPostgres();
  env['DATABASE_URL'] = postgres.url;
  system = await startSystem(settings, env);
  [second, third] = await Promise.all([addController(), addController()]);
  nearDoor = await startBalancer(second.url);
  farDoor = await startBalancer(third.url);
  const agents = [system.addAgent('near', { url: nearDoor.url }), system.addAgent('far', { url: farDoor.url })];
  [near, far] = (await Promise.all(agents)) as [AgentProcess, AgentProcess];
}, 900_000);
afterAll(async () => {
  nearDoor?.close();
  farDoor?.close();
  await second?.kill('SIGKILL');
  await third?.kill('SIGKILL');
  await system?.close();
  await postgres?.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const begin = async (client: Client, seconds: number) => {
  const body = httpTask(near, far, { duration: { mode: 'time', seconds } }) as never;
  const { data: id } = await client.tasks.create({ body });
  const { data } = await client.tasks.start({ params: { id } });
  return { id, runId: data.runId };
};

/** Ends as planned, with every second of both agents. */
const expectWhole = async (client: Client, run: { id: number; runId: number }, seconds: number) => {
  await untilStatus(client, run.id, [7, 8, 9]);
  const { data } = await client.tasks.run({ params: run });
  expect(data).toMatchObject({ status: 7, error: '' });
  // A busy machine may be the limit of the load; nothing may be missing.
  expect(data.validity.reasons.filter((reason) => !/was itself the limit/.test(reason))).toEqual([]);
  const query = { metrics: 'http.requests', step: 1 };
  const { data: found } = await client.tasks.series({ params: run, query });
  const values = (found.series[0]?.values ?? []).filter((value) => value !== null);
  expect(values.length).toBeGreaterThanOrEqual(seconds - 1);
};

describe('three controllers on one database', () => {
  it('an agent on a controller that does not conduct can be used, from every controller', async () => {
    const client = await signInAt(second.url);
    const run = await begin(client, 4);
    await expectWhole(client, run, 4);
    const { data: done } = await client.agents.actions({ body: { action: 'ping', array: [far.id] } as never });
    expect(done.results).toMatchObject([{ id: far.id, ok: true }]);
  });

  it('a controller that starts shows no agent of the others offline', async () => {
    const statuses = new Set<number>();
    const watch = setInterval(async () => {
      const { data } = await system.client.agents.list({});
      for (const { status } of data) statuses.add(status);
    }, 100);
    const fourth = await addController();
    const { data } = await (await signInAt(fourth.url)).agents.list({});
    clearInterval(watch);
    await fourth.kill('SIGTERM');
    expect(data.map(({ status }) => status)).toEqual([1, 1]);
    expect([...statuses]).toEqual([1]);
  });

  it('a run goes on when the controller of an agent is killed', async () => {
    const client = await signInAt(third.url);
    const run = await begin(client, 14);
    await untilStatus(client, run.id, [4]);
    nearDoor.setTarget(third.url);
    await second.kill('SIGKILL');
    await expectWhole(client, run, 14);
  });

  it('a run goes on when the controller that conducts it is killed', async () => {
    const client = await signInAt(third.url);
    const run = await begin(client, 16);
    await untilStatus(client, run.id, [4]);
    await system.killController('SIGKILL');
    const { data } = await until('another controller to conduct the run', async () => {
      const events = await client.tasks.events({ params: { id: run.id }, query: { type: 'recovering' } });
      return events.data.length > 0 ? events : undefined;
    });
    expect(data).toHaveLength(1);
    await expectWhole(client, run, 16);
  });
});
