import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../process/free-port.ts';
import type { Spawned } from '../process/spawn-controller.ts';
import { startBalancer } from './balancer.ts';
import { expectWhole, signInAt, startControllers, startTask, takenOver } from './controllers.ts';
import { type AgentProcess, httpTask, type System, until, untilStatus } from './system.ts';

const settings = {
  agents: { heartbeatSec: 1, suspectAfterSec: 4, lostAfterSec: 40, deadManSec: 120 },
  tasks: { stopTimeoutSec: 30, recoveryGraceSec: 60, maxConcurrent: 4 },
};

let installation: Awaited<ReturnType<typeof startControllers>>;
let system: System;
let agents: AgentProcess[];

beforeAll(async () => {
  installation = await startControllers(settings, { isWhole: true });
  system = installation.system;
  agents = await Promise.all(['one', 'two', 'three', 'four'].map((name) => system.addAgent(name)));
}, 900_000);
afterAll(() => installation?.close());

/** From an agent to itself, so that each agent can have its own run. */
const taskOf = (agent: AgentProcess, seconds: number) =>
  httpTask(agent, agent, { duration: { mode: 'time', seconds } });
const statusOf = async (id: number) => (await system.client.tasks.status({ params: { id } })).data.status;

const nft = (rules: string) => execFileSync('nft', ['-f', '-'], { input: rules });

/** A run that waits for its start: its owner is paused at that moment. */
const startArmed = async (owner: Spawned, task: object) => {
  const client = await signInAt(owner.url);
  for (;;) {
    const run = await startTask(client, task);
    await until('the run to be armed', async () => (await statusOf(run.id)) >= 3);
    owner.process.kill('SIGSTOP');
    if ((await statusOf(run.id)) === 3) return run;
    // Too late: another one.
    owner.process.kill('SIGCONT');
    await client.tasks.stop({ params: { id: run.id } });
    await untilStatus(client, run.id, [7, 8, 9]);
  }
};

/** Cuts everything between the processes of a user and all others, in both directions. */
const partition = (uid: number) => {
  const drop = `meta skuid ${uid} drop`;
  nft(`table inet rushhour_cut { chain out { type filter hook output priority 0; ${drop}; }; }`);
  return () => nft('delete table inet rushhour_cut');
};

describe('several controllers, with NATS and S3', () => {
  it('a run goes on in each phase when its owner is killed', async ({ onTestFinished }) => {
    const [one, two, three, four] = agents as [AgentProcess, AgentProcess, AgentProcess, AgentProcess];
    const owner = await installation.addController();
    const client = await signInAt(owner.url);
    // Long enough to be paused on a busy machine, too.
    const paused = await startTask(client, taskOf(two, 10));
    const stopping = await startTask(client, taskOf(three, 600));
    const running = await startTask(client, taskOf(one, 25));
    for (const { id } of [running, paused, stopping]) await untilStatus(client, id, [4]);
    await client.tasks.pause({ params: { id: paused.id } });
    // An agent that does not answer holds its run in the phase it is in.
    for (const { process } of [three, four]) process.kill('SIGSTOP');
    onTestFinished(() => [three, four].forEach(({ process }) => void process.kill('SIGCONT')));
    await client.tasks.stop({ params: { id: stopping.id } });
    const preparing = await startTask(client, taskOf(four, 3));
    await untilStatus(client, preparing.id, [2]);
    // One more than may run at once.
    const queued = await startTask(client, taskOf({ ...one, port: await freePort() }, 3));
    await untilStatus(client, paused.id, [5]);
    const runs = [queued, preparing, running, paused, stopping];
    expect(await Promise.all(runs.map(({ id }) => statusOf(id)))).toEqual([1, 2, 4, 5, 6]);
    await owner.kill('SIGKILL');
    await until('the runs to be taken over', async () => {
      const { data } = await system.client.tasks.events({ params: { id: running.id }, query: { type: 'recovering' } });
      return data.length > 0;
    });
    for (const { process } of [three, four]) process.kill('SIGCONT');
    expect(await statusOf(paused.id)).toBe(5);
    await system.client.tasks.resume({ params: { id: paused.id } });
    await expectWhole(system.client, running, 25);
    await expectWhole(system.client, queued, 3);
    await expectWhole(system.client, preparing, 3);
    await expectWhole(system.client, paused, 10);
    expect(await untilStatus(system.client, stopping.id, [7, 8, 9])).toMatchObject({ status: 8, stopReason: 'user' });
  });

  it('a run goes on when its owner is killed while it waits for its start', async () => {
    const [one] = agents as [AgentProcess];
    const owner = await installation.addController();
    const run = await startArmed(owner, taskOf(one, 6));
    await owner.kill('SIGKILL');
    await takenOver(system.client, run.id);
    await expectWhole(system.client, run, 6);
    const { data: events } = await system.client.tasks.events({ params: { id: run.id }, query: { type: 'status' } });
    expect(events.map(({ data }) => data['status'])).toEqual([1, 2, 3, 4, 6, 7]);
  });

  it('answer 503 while the database is away, and the run goes on when it is back', async () => {
    const [one, two] = agents as [AgentProcess, AgentProcess];
    const { postgres } = installation;
    const other = await installation.addController();
    const client = await signInAt(other.url);
    const runs = [await startTask(client, taskOf(one, 12)), await startTask(system.client, taskOf(two, 12))];
    for (const { id } of runs) await untilStatus(client, id, [4]);
    await postgres.halt();
    for (const { tasks } of [client, system.client]) {
      const unavailable = { status: 503, code: 'STORAGE_UNAVAILABLE' };
      await expect(tasks.list({})).rejects.toMatchObject(unavailable);
      await expect(tasks.create({ body: taskOf(one, 1) as never })).rejects.toMatchObject(unavailable);
    }
    expect((await fetch(`${other.url}/livez`)).status).toBe(200);
    expect((await fetch(`${other.url}/readyz`)).status).toBe(503);
    await postgres.startAgain();
    await until('both controllers to be ready', async () => {
      const replies = await Promise.all([system.url, other.url].map((url) => fetch(`${url}/readyz`)));
      return replies.every(({ status }) => status === 200);
    });
    for (const run of runs) await expectWhole(system.client, run, 12);
  });

  it('answer 503 while the store of contents is away, and what was stored is whole when it is back', async () => {
    const [one, two] = agents as [AgentProcess, AgentProcess];
    const { contents } = installation;
    const other = await installation.addController();
    const client = await signInAt(other.url);
    const upload = (by: typeof client, text: string) =>
      by.files.create({ body: { name: text, category: 'other', content: Buffer.from(text).toString('base64') } });
    const textOf = async (by: typeof client, id: number) =>
      Buffer.from(await (await by.files.download({ params: { id } })).arrayBuffer()).toString();
    const { data: before } = await upload(client, 'before');
    const run = await startTask(client, httpTask(one, two, { duration: { mode: 'time', seconds: 6 } }));
    contents?.halt();
    const unavailable = { status: 503, code: 'STORAGE_UNAVAILABLE' };
    await expect(upload(client, 'meanwhile')).rejects.toMatchObject(unavailable);
    await expect(textOf(system.client, before)).rejects.toMatchObject(unavailable);
    expect((await client.files.list({})).data.map(({ name }) => name)).toContain('before');
    await expectWhole(client, run, 6);
    contents?.startAgain();
    const { data: after } = await upload(system.client, 'after');
    expect(await textOf(client, after)).toBe('after');
    expect(await textOf(system.client, before)).toBe('before');
  });

  it('a run keeps its owner when the clock of a controller jumps, or the disk of the database stalls', async () => {
    const [one, two] = agents as [AgentProcess, AgentProcess];
    const folder = mkdtempSync(join(tmpdir(), 'rushhour-clock-'));
    const file = join(folder, 'step');
    writeFileSync(file, '0');
    const preload = fileURLToPath(new URL('./stepped-clock.ts', import.meta.url));
    const env = { TEST_CLOCK_FILE: file, NODE_OPTIONS: `--import=${preload}` };
    const jumping = await installation.addController(undefined, env);
    const own = await startTask(await signInAt(jumping.url), taskOf(one, 14));
    const other = await startTask(system.client, taskOf(two, 14));
    for (const { id } of [own, other]) await untilStatus(system.client, id, [4]);
    writeFileSync(file, String(2 * 3_600_000));
    const resume = installation.postgres.stall();
    await sleep(2500);
    resume();
    writeFileSync(file, String(-3_600_000));
    for (const run of [own, other]) await expectWhole(system.client, run, 14);
    const owners = installation.postgres.query('SELECT count(*) FROM "runLeases"');
    expect(owners).toEqual(['0']);
    for (const { id } of [own, other]) {
      const { data: events } = await system.client.tasks.events({ params: { id }, query: { type: 'status' } });
      expect(events.map(({ data }) => data['status'])).toEqual([1, 2, 3, 4, 6, 7]);
      const { data: moved } = await system.client.tasks.events({ params: { id }, query: { type: 'recovering' } });
      expect(moved).toEqual([]);
    }
    await jumping.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  it('a run goes on while NATS is away, with an agent on another controller', async () => {
    const [one] = agents as [AgentProcess];
    const { nats } = installation;
    const other = await installation.addController();
    const door = await startBalancer(other.url);
    const far = await system.addAgent('far', { url: door.url });
    const task = httpTask(far, one, { duration: { mode: 'time', seconds: 12 } });
    const run = await startTask(system.client, task);
    await untilStatus(system.client, run.id, [4]);
    await nats?.kill();
    await expectWhole(system.client, run, 12);
    const again = await startTask(system.client, httpTask(far, one, { duration: { mode: 'time', seconds: 8 } }));
    await untilStatus(system.client, again.id, [4]);
    await nats?.startAgain();
    await expectWhole(system.client, again, 8);
    await far.kill('SIGKILL');
    door.close();
  });

  it('a controller that is cut off loses its run to another one, and writes nothing when it is back', async ({
    onTestFinished,
  }) => {
    const uid = 58_211;
    const [one, two] = agents as [AgentProcess, AgentProcess];
    const owner = await installation.addController(uid);
    const client = await signInAt(owner.url);
    const run = await startTask(client, httpTask(one, two, { duration: { mode: 'time', seconds: 20 } }));
    await untilStatus(client, run.id, [4]);
    const heal = partition(uid);
    let isCut = true;
    const mend = () => {
      if (isCut) heal();
      isCut = false;
    };
    onTestFinished(mend);
    const cutAt = Date.now();
    const [event] = await takenOver(system.client, run.id);
    expect(Date.parse(event?.ts ?? '') - cutAt).toBeLessThan(10_000);
    mend();
    await expectWhole(system.client, run, 20);
    await until('the controller to be back', async () => (await fetch(`${owner.url}/readyz`)).status === 200);
    const { data: events } = await client.tasks.events({ params: { id: run.id }, query: { type: 'status' } });
    expect(events.map(({ data }) => data['status']).slice(-3)).toEqual([4, 6, 7]);
    expect(await statusOf(run.id)).toBe(7);
  });
});
