import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '@rushhour/protocol';
import { type Static, Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../../engine.ts';
import { describeHost } from '../../machine/host.ts';
import type { FromChild } from './child-messages.ts';
import { RunJobs } from './run-jobs.ts';

const Config = Type.Object({
  role: Type.String({ default: 'client' }),
  name: Type.String(),
  breaks: Type.Boolean({ default: false }),
  drainMs: Type.Integer({ default: 0 }),
});

/** Notes what is done to it and sends nothing. */
const createEngine = (life: string[]): Engine<Static<typeof Config>> => ({
  id: 'note',
  config: Config,
  targetsOf: () => [],
  check: async () => ({ isAvailable: true, path: 'notes' }),
  async prepare({ config: { name, breaks, drainMs }, signal }) {
    if (breaks) throw new Error(`${name} breaks`);
    life.push(`${name} prepared`);
    return {
      async start() {
        life.push(`${name} started`);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await sleep(drainMs);
      },
      pause: () => void life.push(`${name} paused`),
      resume: () => void life.push(`${name} resumed`),
      close: async () => void life.push(`${name} closed`),
    };
  },
});

const jobOf = (config: Partial<Static<typeof Config>> & { name: string }, more: Partial<Job> = {}): Job => ({
  ...{ runId: 1, epoch: 1, engine: 'note', config, cpuCores: 1 },
  duration: { mode: 'continuous', seconds: 1, count: 1, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 },
  ...more,
});

const runOf = (...jobs: Job[]) => {
  const life: string[] = [];
  const said: FromChild[] = [];
  const engine = createEngine(life) as Engine;
  const run = new RunJobs(jobs, {
    engines: new Map([['note', engine]]),
    host: describeHost(),
    report: (message) => said.push(message),
  });
  const types = () => said.map(({ type }) => type);
  return { run, life, said, types };
};

describe('jobs of a run', () => {
  it('are prepared together, begin at their times and end each by itself', async () => {
    const { run, life, said, types } = runOf(jobOf({ name: 'a' }), jobOf({ name: 'b' }, { startAfterSec: 0.2 }));
    await expect.poll(types).toEqual(['prepared']);
    run.start(Date.now() + 20);
    run.start(Date.now() + 9999);
    await expect.poll(() => life).toContain('a started');
    expect(life).not.toContain('b started');
    await expect.poll(() => life).toContain('b started');
    run.stop('graceful', [0]);
    await expect.poll(() => life).toContain('a closed');
    expect(life).not.toContain('b closed');
    run.stop('graceful');
    await run.ended;
    const ends = said.filter((message) => message.type === 'orderEnded');
    expect(ends.map(({ order, outcome }) => `${order} ${outcome.status}`)).toEqual(['0 stopped', '1 stopped']);
  });

  it('are given up together when one cannot be prepared, with the problem of each', async () => {
    const { run, life, said } = runOf(
      jobOf({ name: 'a' }),
      jobOf({ name: 'b', breaks: true }),
      jobOf({ name: 'c' }, { engine: 'gone' }),
    );
    await run.ended;
    expect(said[0]).toEqual({
      type: 'prepareFailed',
      problems: [
        { order: 1, code: 'PREPARE_FAILED', message: 'b breaks' },
        { order: 2, code: 'ENGINE_UNKNOWN', message: 'unknown engine gone' },
      ],
    });
    expect(said.filter(({ type }) => type === 'orderEnded').length).toBe(3);
    expect(life).toEqual(['a prepared', 'a closed']);
  });

  it('stop before they have begun, without being called prepared when that is not true', async () => {
    const { run, types } = runOf(jobOf({ name: 'a' }));
    run.stop('abort');
    await run.ended;
    expect(types().filter((type) => type !== 'prepared')).toEqual(['orderEnded']);
  });

  it('pause and resume, also those that begin later, and not those that end just now', async () => {
    const late = jobOf({ name: 'late' }, { startAfterSec: 0.15 });
    const { run, life, said, types } = runOf(jobOf({ name: 'a' }), late, jobOf({ name: 'slow', drainMs: 300 }));
    await expect.poll(types).toEqual(['prepared']);
    run.start(Date.now());
    await expect.poll(() => life).toContain('slow started');
    run.stop('graceful', [2]);
    run.pause();
    run.pause();
    await expect.poll(() => life).toContain('late paused');
    run.resume();
    expect(life.filter((line) => line === 'a paused')).toEqual(['a paused']);
    expect(life).toContain('late resumed');
    expect(said.flatMap((message) => (message.type === 'event' ? message.kind : []))).toEqual(['paused', 'resumed']);
    run.changeLoad(0, { requestsPerSecond: 5 });
    run.changeLoad(9, { requestsPerSecond: 5 });
    const rejected = said.flatMap((message) => (message.type === 'event' ? message.message : [])).slice(-2);
    expect(rejected).toEqual(['note has no changeable load', 'there is no job 9']);
    run.stop('abort');
    await run.ended;
  });

  it('do not wait for sessions to wind down when they are aborted', { retry: 2 }, async () => {
    const { run, types } = runOf(jobOf({ name: 'stubborn', drainMs: 4000 }));
    await expect.poll(types).toEqual(['prepared']);
    run.start(Date.now());
    await sleep(50);
    const begin = performance.now();
    run.stop('abort');
    await run.ended;
    expect(performance.now() - begin).toBeLessThan(1500);
  });
});
