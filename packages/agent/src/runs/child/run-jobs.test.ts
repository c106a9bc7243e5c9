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

const orderOf = (config: Partial<Static<typeof Config>> & { name: string }, more: Partial<Job> = {}): Job => ({
  ...{ runId: 1, epoch: 1, engine: 'note', config, cpuCores: 1 },
  duration: { mode: 'continuous', seconds: 1, count: 1, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 },
  ...more,
});

const runOf = (...orders: Job[]) => {
  const life: string[] = [];
  const reports: FromChild[] = [];
  const engine = createEngine(life) as Engine;
  const run = new RunJobs(orders, {
    engines: new Map([['note', engine]]),
    host: describeHost(),
    report: (message) => reports.push(message),
  });
  const types = () => reports.map(({ type }) => type);
  return { run, life, reports, types };
};

describe('jobs of a run', () => {
  it('are prepared together, start at their times and end individually', async () => {
    const { run, life, reports, types } = runOf(orderOf({ name: 'a' }), orderOf({ name: 'b' }, { startAfterSec: 0.2 }));
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
    const ends = reports.filter((message) => message.type === 'orderEnded');
    expect(ends.map(({ order, outcome }) => `${order} ${outcome.status}`)).toEqual(['0 stopped', '1 stopped']);
  });

  it('are stopped together when one cannot be prepared, with the problem of each', async () => {
    const { run, life, reports } = runOf(
      orderOf({ name: 'a' }),
      orderOf({ name: 'b', breaks: true }),
      orderOf({ name: 'c' }, { engine: 'gone' }),
    );
    await run.ended;
    expect(reports[0]).toEqual({
      type: 'prepareFailed',
      problems: [
        { order: 1, code: 'PREPARE_FAILED', message: 'b breaks' },
        { order: 2, code: 'ENGINE_UNKNOWN', message: 'unknown engine gone' },
      ],
    });
    expect(reports.filter(({ type }) => type === 'orderEnded').length).toBe(3);
    expect(life).toEqual(['a prepared', 'a closed']);
  });

  it('stop before the start, without being reported as prepared if they are not', async () => {
    const { run, types } = runOf(orderOf({ name: 'a' }));
    run.stop('abort');
    await run.ended;
    expect(types().filter((type) => type !== 'prepared')).toEqual(['orderEnded']);
  });

  it('pause and resume, also those that start later, and not those that are ending', async () => {
    const late = orderOf({ name: 'late' }, { startAfterSec: 0.15 });
    const { run, life, reports, types } = runOf(orderOf({ name: 'a' }), late, orderOf({ name: 'slow', drainMs: 300 }));
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
    expect(reports.flatMap((message) => (message.type === 'event' ? message.kind : []))).toEqual(['paused', 'resumed']);
    run.changeLoad(0, { requestsPerSecond: 5 });
    run.changeLoad(9, { requestsPerSecond: 5 });
    const rejected = reports.flatMap((message) => (message.type === 'event' ? message.message : [])).slice(-2);
    expect(rejected).toEqual(['note has no changeable load', 'there is no job 9']);
    run.stop('abort');
    await run.ended;
  });

  it('do not wait for sessions to wind down when they are aborted', { retry: 2 }, async () => {
    const { run, types } = runOf(orderOf({ name: 'stubborn', drainMs: 4000 }));
    await expect.poll(types).toEqual(['prepared']);
    run.start(Date.now());
    await sleep(50);
    const begin = performance.now();
    run.stop('abort');
    await run.ended;
    expect(performance.now() - begin).toBeLessThan(1500);
  });
});
