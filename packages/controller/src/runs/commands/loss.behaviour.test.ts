import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { agents } from '../../store/agents/agents.ts';
import { createRunLab, eventually, type RunLab } from '../testing/run-lab.ts';
import type { Script } from '../testing/scripted-agent.ts';

let world: RunLab;
beforeAll(async () => {
  world = await createRunLab();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const endless: Script = { endsAfterSec: 1_000_000 };
type Policy = 'auto' | 'fail' | 'continue' | 'stop';

/** Two clients and a server, running. */
const running = async (policy: Policy = 'auto', script: Script = { endsAfterSec: 25 }) => {
  const [one, two] = [await world.addAgent(script), await world.addAgent(script)];
  const server = await world.addAgent();
  const taskId = await world.addTask({ sources: [one, two], targets: [server] });
  const runId = await world.start(taskId, { agentLossPolicy: policy });
  await world.reach(runId, 4);
  return { one, two, server, taskId, runId };
};
const healthOf = async (runId: number) => (await world.run(runId)).health;
const stateOf = async (runId: number, agentId: number) =>
  (await world.agentsOf(runId)).find(({ agentID }) => agentID === agentId)?.state;
const heardBy = (id: number) => world.net.agentOf(id).heard.map(({ type }) => type);

describe('an agent that is silent', () => {
  it('weakens the run, and heals it when it is heard again', async () => {
    const { one, runId } = await running();
    world.net.suspect(one);
    await eventually(async () => expect(await healthOf(runId)).toBe('degraded'));
    world.net.back(one);
    await eventually(async () => expect(await healthOf(runId)).toBe('ok'));
    await eventually(async () => expect(await world.events(runId, 'agentSuspect')).toHaveLength(1));
    await eventually(async () => expect(await world.events(runId, 'agentBack')).toHaveLength(1));
    expect(await world.end(runId)).toMatchObject({ status: 7, validity: { valid: true } });
  });

  it('and comes back in time with another connection goes on as if nothing had happened', async () => {
    const { one, runId } = await running();
    world.net.disconnect(one);
    world.net.suspect(one);
    await eventually(async () => expect(await healthOf(runId)).toBe('degraded'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    world.net.connect(one);
    await eventually(async () => expect(await healthOf(runId)).toBe('ok'));
    expect(await world.end(runId)).toMatchObject({ status: 7, validity: { valid: true, reasons: [] } });
  });
});

describe('an agent that is lost', () => {
  it('fails the run by policy fail', async () => {
    const { one, runId } = await running('fail', endless);
    world.net.lose(one);
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 9, stopReason: 'agentLost', validity: { valid: false } });
    expect(await world.statuses(runId)).toEqual([1, 2, 3, 4, 6, 9]);
    expect(await world.events(runId, 'agentLost')).toHaveLength(1);
  });

  it('ends the run on purpose by policy stop', async () => {
    const { one, runId } = await running('stop', endless);
    world.net.lose(one);
    expect(await world.end(runId)).toMatchObject({ status: 8, stopReason: 'agentLost' });
  });

  it('leaves the run going by policy continue, with a verdict that decides nothing', async () => {
    const { one, runId } = await running('continue');
    world.net.lose(one);
    await eventually(async () => expect(await healthOf(runId)).toBe('degraded'));
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 7, verdict: 3, validity: { valid: false }, health: 'degraded' });
    expect(run.validity.reasons.join()).toMatch(/was lost/);
  });

  it('by policy auto is missed only where nobody else does its part', async () => {
    const { one, runId } = await running('auto');
    world.net.lose(one);
    expect(await world.end(runId)).toMatchObject({ status: 7, verdict: 3 });
    const second = await running('auto', endless);
    world.net.lose(second.server);
    expect(await world.end(second.runId)).toMatchObject({ status: 9, stopReason: 'agentLost' });
  });

  it('fails a run that is being prepared', async () => {
    const client = await world.addAgent({ prepare: 'never' });
    const taskId = await world.addTask({ sources: [client] });
    const runId = await world.start(taskId);
    await world.reach(runId, 2);
    world.net.lose(client);
    expect(await world.end(runId)).toMatchObject({ status: 9, stopReason: 'agentLost' });
    expect(await world.statuses(runId)).toEqual([1, 2, 9]);
  });

  it('is missed although nobody said that it is lost', async () => {
    const { one, runId } = await running('fail', endless);
    world.settings.agents.lostAfterSec = 0.3;
    world.net.disconnect(one);
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 9, stopReason: 'agentLost' });
    expect(run.error).toMatch(/not connected/);
    expect(await world.events(runId, 'agentLost')).toHaveLength(1);
  });

  it('must be reset before it gets new work', async () => {
    const { one, taskId, runId } = await running('fail', endless);
    world.net.lose(one);
    await world.end(runId);
    expect(await agents.find(world.store.read, one)).toMatchObject({ needsReset: true });
    world.net.agentOf(one).script = {};
    const next = await world.start(taskId);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await world.run(next)).toMatchObject({ status: 1 });
    world.net.connect(one);
    await eventually(async () => expect(world.net.agentOf(one).resets).toBe(1));
    await world.reach(next, 4);
    expect(await agents.find(world.store.read, one)).toMatchObject({ needsReset: false });
    await world.stop(taskId, 'abort');
    await world.end(next);
  });

  it('and comes back while the run goes on takes its part again', async () => {
    const { one, runId } = await running('continue', { endsAfterSec: 40 });
    world.net.lose(one);
    await eventually(async () => expect(await stateOf(runId, one)).toBe('lost'));
    world.net.connect(one);
    await eventually(async () => expect(await stateOf(runId, one)).toBe('running'));
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 7, verdict: 3 });
    expect(await stateOf(runId, one)).toBe('ended');
  });

  it('was restarted when it comes back as another process', async () => {
    const { one, runId } = await running('fail', endless);
    world.net.disconnect(one);
    world.net.agentOf(one).restart();
    world.net.connect(one);
    const run = await world.end(runId);
    expect(run).toMatchObject({ status: 9, stopReason: 'agentLost' });
    expect(run.error).toMatch(/restarted/);
  });

  it('that ended by itself counts as lost, but what it measured is taken', async () => {
    const { one, runId } = await running('continue', { endsAfterSec: 30 });
    world.net.disconnect(one);
    world.net.agentOf(one).endByDeadMan();
    await new Promise((resolve) => setTimeout(resolve, 100));
    world.net.connect(one);
    await eventually(async () => expect(await stateOf(runId, one)).toBe('lost'));
    const run = await world.end(runId);
    expect(run.validity.reasons.join()).toMatch(/ended by itself/);
    const row = (await world.agentsOf(runId)).find(({ agentID }) => agentID === one);
    expect(row?.orders[0]?.outcome).toMatchObject({ status: 'stopped' });
  });
});

describe('an agent that comes too late', () => {
  it('brings its results and may then forget them', async () => {
    const { one, runId } = await running('stop', endless);
    world.net.disconnect(one);
    world.net.agentOf(one).endByDeadMan();
    world.net.lose(one);
    await world.end(runId);
    world.net.connect(one);
    await eventually(async () => expect(heardBy(one)).toContain('forget'));
    expect(await world.events(runId, 'lateResults')).toHaveLength(1);
    expect((await world.run(runId)).status).toBe(8);
  });

  it('and still sends must abandon the run', async () => {
    const { one, runId } = await running('stop', endless);
    world.net.lose(one);
    await world.end(runId);
    world.net.connect(one);
    await eventually(async () => expect(heardBy(one)).toContain('abandon'));
    expect(world.net.agentOf(one).held).toEqual([]);
  });

  it('with an older epoch must abandon it, and its reports are ignored', async () => {
    const { one, runId, taskId } = await running('auto', endless);
    world.net.say(one, { type: 'ended', runId, epoch: 0, endedByDeadMan: false });
    await eventually(async () => {
      const abandoned = world.net.agentOf(one).heard.find(({ type }) => type === 'abandon');
      expect(abandoned).toMatchObject({ runId, epoch: 0 });
    });
    expect(await stateOf(runId, one)).toBe('running');
    await world.stop(taskId);
    await world.end(runId);
  });
});
