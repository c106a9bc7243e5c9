import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, Summary } from '@rushhour/protocol';
import { type Static, Type } from 'typebox';
import { beforeEach, describe, expect, it } from 'vitest';
import { clockNow } from '../../clock.ts';
import type { Engine } from '../../engine.ts';
import { describeHost } from '../../machine/host.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { type JobDeps, RunningJob } from './running-job.ts';

const life: string[] = [];
let ticks = 0;

const TickConfig = Type.Object({
  everyMs: Type.Integer({ minimum: 1, default: 10 }),
  target: Type.String({ default: '127.0.0.1' }),
  breaks: Type.String({ default: '' }),
  ignoresSignal: Type.Boolean({ default: false }),
});

/** Sends nothing and counts time. */
const tick: Engine<Static<typeof TickConfig>> = {
  id: 'tick',
  config: TickConfig,
  targetsOf: (config) => [config.target],
  check: async (host) =>
    host.platform === 'linux'
      ? { isAvailable: true, path: 'timer' }
      : { isAvailable: false, missing: ['linux'], reason: 'needs Linux' },
  async prepare({ config, samples, signal, note }) {
    life.push('prepare');
    if (config.breaks === 'prepare') throw new Error('no socket left');
    const count = samples.counter('tick.count');
    let isPaused = false;
    let isClosed = false;
    let everyMs = config.everyMs;
    return {
      async start() {
        life.push('start');
        note('hello');
        while (!isClosed && (!signal.aborted || config.ignoresSignal)) {
          await sleep(everyMs);
          if (config.breaks === 'start') throw new Error('broken pipe');
          if (isPaused) continue;
          count.add(1);
          ticks++;
        }
      },
      pause() {
        isPaused = true;
      },
      resume() {
        isPaused = false;
      },
      changeLoad({ requestsPerSecond }: { requestsPerSecond?: number }) {
        if (requestsPerSecond === undefined) return { rejected: 'ticks have a rate only' };
        everyMs = 1000 / requestsPerSecond;
        return {};
      },
      async close() {
        life.push('close');
        isClosed = true;
      },
    };
  },
};

const engines: ReadonlyMap<string, Engine> = new Map([['tick', tick as Engine]]);
const orderOf = (config: unknown, seconds = 0.2): Job => ({
  runId: 1,
  epoch: 0,
  engine: 'tick',
  config,
  duration: { mode: 'time', seconds, count: 1, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 },
  cpuCores: 1,
});
const depsOf = (more: Partial<JobDeps> = {}): JobDeps & { summaries: Summary[] } => {
  const summaries: Summary[] = [];
  return {
    engines,
    host: describeHost(),
    // At once: the clock of runs and that of the system may differ.
    barrier: async () => 0,
    stop: new AbortController().signal,
    onSummary: (summary) => summaries.push(summary),
    summaries,
    ...more,
  };
};
beforeEach(() => {
  life.length = 0;
  ticks = 0;
});

/** What is waited for is followed by something that has to come before the job ends. */
const oftenPolled = { interval: 5 };

describe('run', () => {
  it('is prepared, started and closed, and reports every count', async () => {
    const deps = depsOf();
    const outcome = await new RunningJob(orderOf({}, 1.3), deps).outcome;
    expect(outcome).toMatchObject({ status: 'finished', notes: ['hello'] });
    expect(life).toEqual(['prepare', 'start', 'close']);
    expect(deps.summaries.map((summary) => summary.seq)).toEqual([1, 2]);
    const counted = deps.summaries.flatMap((summary) =>
      summary.series.map((series) => series.counters['tick.count'] ?? 0),
    );
    expect(counted.reduce((a, b) => a + b)).toBe(ticks);
    expect(ticks).toBeGreaterThan(30);
  });

  it('starts at the common time and not before', async () => {
    const startAt = clockNow() + 150;
    await new RunningJob(orderOf({}, 0.05), depsOf({ barrier: async () => startAt })).outcome;
    expect(clockNow()).toBeGreaterThanOrEqual(startAt + 45);
  });

  it('stops on demand, before the start too', async () => {
    const stop = new AbortController();
    const never = new RunningJob(orderOf({}), depsOf({ stop: stop.signal, barrier: () => new Promise(() => {}) }));
    await expect.poll(() => life).toEqual(['prepare']);
    stop.abort();
    expect(await never.outcome).toMatchObject({ status: 'stopped' });
    expect(life).toEqual(['prepare', 'close']);
  });

  it('closes after a failure and reports it', async () => {
    expect(await new RunningJob(orderOf({ breaks: 'start' }), depsOf()).outcome).toMatchObject({
      status: 'failed',
      error: 'broken pipe',
    });
    expect(life).toEqual(['prepare', 'start', 'close']);
    expect(await new RunningJob(orderOf({ breaks: 'prepare' }), depsOf()).outcome).toMatchObject({
      error: 'no socket left',
    });
  });

  it('refuses an invalid job before preparing anything', async () => {
    const refused = async (order: Job, deps = depsOf()) => (await new RunningJob(order, deps).outcome).error;
    expect(await refused({ ...orderOf({}), engine: 'tock' })).toBe('unknown engine tock');
    expect(await refused(orderOf({ everyMs: 0 }))).toBe('bad configuration for tick: /everyMs must be >= 1');
    expect(await refused(orderOf({ target: '8.8.8.8' }))).toBe('target 8.8.8.8 is not allowed');
    expect(await refused({ ...orderOf({}), allowedTargets: ['10.0.0.0/8'] })).toBe('target 127.0.0.1 is not allowed');
    const elsewhere = depsOf({ host: { ...describeHost(), platform: 'win32' } });
    expect(await refused(orderOf({}), elsewhere)).toBe('tick cannot run here: needs Linux');
    expect(life).toEqual([]);
  });

  it('does not wait for an engine that will not wind down', async () => {
    const outcome = await new RunningJob(orderOf({ ignoresSignal: true }, 0.1), depsOf({ windDownMs: 50 })).outcome;
    expect(outcome.notes).toContain('tick did not wind down in time');
    expect(life).toContain('close');
  });

  it('pauses, resumes and moves the end by the pause', async () => {
    const deps = depsOf();
    const begin = Date.now();
    const run = new RunningJob(orderOf({}, 1), deps);
    await expect.poll(() => ticks, oftenPolled).toBeGreaterThan(0);
    run.pause();
    const before = ticks;
    await sleep(200);
    expect(ticks).toBe(before);
    run.resume();
    await run.outcome;
    expect(ticks).toBeGreaterThan(before);
    expect(Date.now() - begin).toBeGreaterThanOrEqual(1190);
  });

  it('reports a pause as a phase of its own', async () => {
    const phases: string[] = [];
    const run = new RunningJob(orderOf({}, 1), { ...depsOf(), onSummary: ({ phase }) => phases.push(phase) });
    await expect.poll(() => ticks, oftenPolled).toBeGreaterThan(0);
    run.pause();
    await expect.poll(() => phases).toContain('paused');
    run.resume();
    await run.outcome;
    expect(phases).toContain('paused');
    expect(phases.at(-1)).not.toBe('paused');
  });

  it('moves the end of a server by the pause of its clients', async () => {
    let started = 0;
    const deaf: Engine = {
      id: 'deaf',
      config: Type.Object({ role: Type.String() }),
      targetsOf: () => [],
      check: async () => ({ isAvailable: true, path: 'nothing' }),
      prepare: async ({ signal }) => ({
        start() {
          started++;
          return aborted(signal);
        },
        close: async () => {},
      }),
    };
    const deps = depsOf({ engines: new Map([['deaf', deaf]]) });
    const begin = Date.now();
    const server = new RunningJob({ ...orderOf({ role: 'server' }, 1), engine: 'deaf' }, deps);
    const client = new RunningJob({ ...orderOf({ role: 'client' }, 1), engine: 'deaf' }, deps);
    await expect.poll(() => started, oftenPolled).toBe(2);
    server.pause();
    expect(() => client.pause()).toThrow('deaf cannot pause');
    await sleep(250);
    server.resume();
    await server.outcome;
    expect(Date.now() - begin).toBeGreaterThanOrEqual(1240);
  });

  it('changes the load while it runs', async () => {
    const stop = new AbortController();
    const run = new RunningJob(orderOf({ everyMs: 300 }, 5), depsOf({ stop: stop.signal }));
    await expect.poll(() => life, oftenPolled).toContain('start');
    expect(run.changeLoad({ sessionsPerSecond: 4 })).toEqual({ rejected: 'ticks have a rate only' });
    expect(run.changeLoad({ requestsPerSecond: 200 })).toEqual({});
    // At its first rate it would end after 16.
    await expect.poll(() => ticks).toBeGreaterThan(30);
    stop.abort();
    await run.outcome;
    expect(() => run.changeLoad({})).toThrow('tick is not running');
  });
});
