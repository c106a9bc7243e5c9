import { setTimeout as sleep } from 'node:timers/promises';
import { isConnected } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentGroups } from '../../bench/agent-groups.ts';
import { postgresLink } from '../../packages/controller/src/bus/postgres-link.ts';
import type { Spawned } from '../process/spawn-controller.ts';
import { startBalancer } from './balancer.ts';
import { expectWhole, signInAt, startControllers, startTask, takenOver } from './controllers.ts';
import { type AgentProcess, httpTask, type System, until, untilStatus } from './system.ts';

const settings = {
  agents: { heartbeatSec: 1, suspectAfterSec: 4, lostAfterSec: 20, deadManSec: 120 },
  tasks: { stopTimeoutSec: 30, recoveryGraceSec: 60 },
};

let installation: Awaited<ReturnType<typeof startControllers>>;
let system: System;
let second: Spawned;
let third: Spawned;
let nearDoor: Awaited<ReturnType<typeof startBalancer>>;
let farDoor: Awaited<ReturnType<typeof startBalancer>>;
let near: AgentProcess;
let far: AgentProcess;

beforeAll(async () => {
  installation = await startControllers(settings);
  system = installation.system;
  const { addController } = installation;
  [second, third] = await Promise.all([addController(), addController()]);
  nearDoor = await startBalancer(second.url);
  farDoor = await startBalancer(third.url);
  const agents = [system.addAgent('near', { url: nearDoor.url }), system.addAgent('far', { url: farDoor.url })];
  [near, far] = (await Promise.all(agents)) as [AgentProcess, AgentProcess];
}, 900_000);
afterAll(async () => {
  nearDoor?.close();
  farDoor?.close();
  await installation?.close();
});

const taskOf = (seconds: number, [from, to] = [near, far]) =>
  httpTask(from, to, { duration: { mode: 'time', seconds } });

const beginAt = async ({ url }: { url: string }, seconds: number, agents?: [AgentProcess, AgentProcess]) => {
  const client = await signInAt(url);
  const run = await startTask(client, taskOf(seconds, agents));
  await untilStatus(client, run.id, [4]);
  return run;
};

const ownersOf = (runIds: readonly number[]) =>
  installation.postgres.query(`SELECT owner FROM "runLeases" WHERE "runID" IN (${runIds.join()})`);

describe('three controllers on one database', () => {
  it('an agent on a controller that does not conduct can be used, from every controller', async () => {
    const client = await signInAt(second.url);
    const run = await startTask(client, taskOf(4));
    await expectWhole(client, run, 4);
    const { data: done } = await client.agents.actions({ body: { action: 'ping', array: [far.id] } as never });
    expect(done.results).toMatchObject([{ id: far.id, ok: true }]);
  });

  it('what an agent measures is stored and acknowledged where it is connected, while the owner of the run does not act', async () => {
    const owner = await installation.addController();
    const run = await beginAt(owner, 16);
    const storedOf = ({ id }: AgentProcess) => {
      const of = `"runID" = ${run.runId} AND "agentID" = ${id}`;
      return Number(installation.postgres.query(`SELECT coalesce(max("toSeq"), 0) FROM "runSamples" WHERE ${of}`)[0]);
    };
    await until('both agents to be at work', async () => storedOf(near) > 0 && storedOf(far) > 0);
    // Shorter than its lease, and than the silence after which a controller counts as gone.
    owner.process.kill('SIGSTOP');
    const [nearBefore, farBefore] = [storedOf(near), storedOf(far)];
    await sleep(3000);
    const [nearAfter, farAfter] = [storedOf(near), storedOf(far)];
    owner.process.kill('SIGCONT');
    expect(nearAfter - nearBefore).toBeGreaterThanOrEqual(2);
    expect(farAfter - farBefore).toBeGreaterThanOrEqual(2);
    await expectWhole(system.client, run, 16);
    const { data: moved } = await system.client.tasks.events({ params: { id: run.id }, query: { type: 'recovering' } });
    expect(moved).toEqual([]);
    await owner.kill('SIGTERM');
  });

  it('the series and the stream of a run that goes on are served by every controller', async () => {
    const client = await signInAt(third.url);
    const run = await beginAt(second, 600);
    const seconds: number[] = [];
    const events = await client.tasks.stream({ params: { id: run.id }, query: { types: 'metrics,end' } });
    for await (const { event, data } of events) {
      if (event === 'end') break;
      if (event === 'metrics') seconds.push((data as { seq: number }).seq);
      if (seconds.length !== 3) continue;
      const { data: found } = await client.tasks.series({
        params: { ...run },
        query: { metrics: 'http.requests', step: 1 },
      });
      expect(found.series[0]?.values.filter((value) => value !== null).length).toBeGreaterThanOrEqual(3);
      await system.client.tasks.stop({ params: { id: run.id } });
    }
    expect(seconds.length).toBeGreaterThanOrEqual(3);
    expect(seconds).toEqual(seconds.map((_, i) => (seconds[0] ?? 0) + i));
    expect(await untilStatus(client, run.id, [8])).toMatchObject({ stopReason: 'user' });
  });

  it('a controller that starts shows no agent of the others offline', async () => {
    const statuses = new Set<number>();
    const watch = setInterval(async () => {
      const { data } = await system.client.agents.list({});
      for (const { status } of data) statuses.add(status);
    }, 100);
    const fourth = await installation.addController();
    const { data } = await (await signInAt(fourth.url)).agents.list({});
    clearInterval(watch);
    await fourth.kill('SIGTERM');
    // They may still be busy with the run before, or slow on a busy machine.
    expect(data.map(({ status }) => isConnected(status))).toEqual([true, true]);
    expect([...statuses].filter((status) => !isConnected(status))).toEqual([]);
    expect(statuses.size).toBeGreaterThan(0);
  });

  it('a run goes on when the controller that conducts it and has an agent is asked to stop', async () => {
    const fourth = await installation.addController();
    const client = await signInAt(fourth.url);
    nearDoor.moveTo(fourth.url);
    await until('the agent to be connected to the new controller', async () => {
      const { data } = await client.meta.health({ query: { deep: true } });
      return data.agentsOnline === 1;
    });
    const run = await beginAt(fourth, 8);
    nearDoor.setTarget(second.url);
    expect(await fourth.kill('SIGTERM')).toBe(0);
    const goneAt = Date.now();
    const [event] = await takenOver(system.client, run.id);
    // Its lease would last longer.
    expect(Date.parse(event?.ts ?? '') - goneAt).toBeLessThan(4000);
    await expectWhole(system.client, run, 8);
  });

  it('one speaks with a controller of the version before, and passes over what a later one adds', async () => {
    const client = await signInAt(second.url);
    const old = await postgresLink(installation.postgres.url, console as never);
    const heard: Record<string, unknown>[] = [];
    const answer = (message: Record<string, unknown>) => {
      heard.push(message);
      // As recorded of that version.
      if (message['type'] === 'ask') old.send(undefined, { type: 'answer', number: message['number'], result: {} });
    };
    old.receive((_from, message) => answer(message as Record<string, unknown>));
    const gone = await system.addAgent('gone');
    await gone.kill('SIGKILL');
    old.send(undefined, { type: 'hello' });
    await until('a list of agents', async () => heard.find(({ type }) => type === 'list'));
    old.send(undefined, { type: 'future', version: 3, agentId: far.id, moon: 'full' });
    old.send(undefined, { type: 'connected', agentId: gone.id, arrival: { bootId: 'b', runs: [] }, roundTripMs: 1 });
    old.send(undefined, { type: 'list', isConducting: false, agents: [[gone.id, 1]] });
    await until('its agent to be usable', async () => {
      const { data } = await client.agents.actions({ body: { action: 'ping', array: [gone.id] } as never });
      return data.results[0]?.ok;
    });
    expect(heard.find(({ type }) => type === 'ask')).toMatchObject({ agentId: gone.id, question: { kind: 'ping' } });
    const run = await startTask(client, taskOf(2));
    await expectWhole(client, run, 2);
    old.send(undefined, { type: 'bye' });
    await old.close();
  });

  it('agents move to a controller that has none', async ({ onTestFinished }) => {
    const fourth = await installation.addController();
    const agentsAt = async ({ url }: { url: string }) => {
      const { data } = await (await signInAt(url)).meta.health({ query: { deep: true } });
      return data.agentsOnline ?? 0;
    };
    const door = await startBalancer(fourth.url);
    const group = new AgentGroups(1);
    onTestFinished(() => {
      group.close();
      door.close();
    });
    await group.join(system.client, [door.url], 40);
    // Before, no other controller could be reached through this door.
    door.setTarget(third.url);
    await until('agents to have moved', async () => (await agentsAt(third)) >= 20);
    expect(await agentsAt(fourth)).toBeGreaterThanOrEqual(5);
    group.close();
    await fourth.kill('SIGTERM');
  });

  it('a run has one owner, even when the one before goes on after a pause', async () => {
    const fourth = await installation.addController();
    const run = await beginAt(fourth, 16);
    fourth.process.kill('SIGSTOP');
    await takenOver(system.client, run.id);
    fourth.process.kill('SIGCONT');
    await expectWhole(system.client, run, 16);
    const { data } = await system.client.tasks.events({ params: { id: run.id }, query: { type: 'status' } });
    expect(data.map(({ data: about }) => about['status']).slice(-3)).toEqual([4, 6, 7]);
    await fourth.kill('SIGTERM');
  });

  it('a run goes on when the controller of an agent is killed', async () => {
    const client = await signInAt(third.url);
    const run = await beginAt(third, 14);
    nearDoor.setTarget(third.url);
    await second.kill('SIGKILL');
    await expectWhole(client, run, 14);
  });

  it('a run goes on within 10 s when the controller that conducts it is killed, beside one of another', async () => {
    const client = await signInAt(third.url);
    const other = await beginAt(third, 16, [far, far]);
    const run = await beginAt(system, 16, [near, near]);
    expect(new Set(ownersOf([run.runId, other.runId])).size).toBe(2);
    await system.killController('SIGKILL');
    const killedAt = Date.now();
    const [event] = await takenOver(client, run.id);
    expect(Date.parse(event?.ts ?? '') - killedAt).toBeLessThan(10_000);
    await expectWhole(client, run, 16);
    await expectWhole(client, other, 16);
    const { data: disturbed } = await client.tasks.events({ params: { id: other.id }, query: { type: 'recovering' } });
    expect(disturbed).toEqual([]);
  });
});
