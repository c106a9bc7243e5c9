import type { Rfc2544Plan } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { SizeTests, type SizeTestsParts } from './rfc2544-tests.ts';
import type { TrialOptions, TrialResult } from './rfc2544-trial.ts';

const plan: Rfc2544Plan = {
  frameSizes: [64],
  tests: ['throughput'],
  trialSec: 1,
  settleSec: 0,
  resolutionPct: 1,
  acceptableLossPct: 0,
  burstSec: 1,
  burstRepeats: 2,
};

interface World {
  /** Frames per second that the sender offers, the path carries and the receiver accepts. */
  readonly generator: number;
  readonly path: number;
  readonly receiver?: number;
  /** Burst size that the path can buffer. */
  readonly queue?: number;
}

/** Result of a trial on this simulated path. */
const trialIn = (world: World, { rate, frames, seconds = 1 }: Omit<TrialOptions, 'frameSize'>): TrialResult => {
  const { generator, path, receiver = Number.POSITIVE_INFINITY, queue = 0 } = world;
  const offeredFps = Math.min(rate ?? generator, generator);
  const sent = Math.round(frames ?? offeredFps * seconds);
  const carried = frames === undefined ? Math.min(sent, path * seconds + queue) : Math.min(sent, queue);
  const received = Math.min(carried, receiver * seconds);
  const lossPct = ((sent - received) / sent) * 100;
  const times = { minUs: 1, avgUs: 2, p50Us: 2, p99Us: 3, maxUs: 4 };
  const counts = { received, duplicates: 0, reordered: 0, drops: carried - received, sent };
  return { ...counts, ...times, offeredFps, arrivedFps: received / seconds, lossPct, passed: lossPct === 0 };
};

const testIn = async (world: World, length: Partial<Rfc2544Plan> = {}, orderedFps?: number) => {
  const counts: Record<string, unknown>[] = [];
  const notes: string[] = [];
  const requests: Parameters<SizeTestsParts['run']>[1][] = [];
  const tests = new SizeTests({
    ...{ plan: { ...plan, ...length }, frameSize: 64, device: 'no such device', orderedFps },
    report: (record) => counts.push(record as unknown as Record<string, unknown>),
    note: (remark) => notes.push(remark),
    run: async (_, wanted) => {
      requests.push(wanted);
      return trialIn(world, wanted);
    },
  });
  await tests.run();
  return { counts, notes, requests };
};

describe('throughput', () => {
  it('is limited by the path', async () => {
    const { counts, notes } = await testIn({ generator: 1_000_000, path: 50_000 });
    expect(counts).toMatchObject([{ kind: 'throughput', limit: 'path', linePct: null, trials: 3 }]);
    expect(counts[0]?.['fps']).toBeGreaterThan(49_500);
    expect(counts[0]?.['fps']).toBeLessThanOrEqual(50_000);
    expect(notes).toEqual([]);
  });

  it('is confirmed over the length of the standard, in which a bucket fills', async () => {
    const world = { generator: 1_000_000, path: 50_000, queue: 5000 };
    const short = await testIn(world);
    expect(short.counts[0]?.['fps']).toBeGreaterThan(50_000 * 1.05);
    const { counts, requests } = await testIn(world, { confirmSec: 60 });
    expect(counts[0]?.['fps']).toBeGreaterThan(50_000 * 0.98);
    expect(counts[0]?.['fps']).toBeLessThanOrEqual(50_000);
    expect(counts).toMatchObject([{ limit: 'path', trials: requests.length }]);
    expect(requests.at(-1)).toMatchObject({ seconds: 60 });
    const ordered = await testIn(world, { confirmSec: 60 }, 54_000);
    expect(ordered.counts).toMatchObject([{ limit: 'path' }]);
    expect(ordered.counts[0]?.['fps']).toBeLessThanOrEqual(50_000);
  });

  it('names the sender, the receiver or the configured rate as the limit', async () => {
    const sender = await testIn({ generator: 9000, path: 50_000 });
    expect(sender.counts).toMatchObject([{ fps: 9000, limit: 'generator', trials: 1 }]);
    expect(sender.notes).toEqual([
      'the sender could not offer more than 9000 frames of 64 bytes a second: the path may carry more',
    ]);
    const receiver = await testIn({ generator: 90_000, path: 50_000, receiver: 20_000 });
    expect(receiver.counts).toMatchObject([{ limit: 'receiver' }]);
    expect(receiver.notes.join()).toContain('the receiving agent was too slow');
    const ordered = await testIn({ generator: 90_000, path: 50_000 }, {}, 700);
    expect(ordered.counts).toMatchObject([{ fps: 700, limit: 'ordered' }]);
  });

  it('is 0 when nothing arrives', async () => {
    const { counts, notes } = await testIn({ generator: 1000, path: 0 }, { tests: ['throughput', 'latency'] });
    expect(counts).toMatchObject([{ kind: 'throughput', fps: 0 }]);
    expect(notes).toEqual(['no rate without loss was found for frames of 64 bytes']);
  });
});

it('latency is measured at the throughput or at the configured rate', async () => {
  const found = await testIn({ generator: 1_000_000, path: 50_000 }, { tests: ['latency', 'throughput'] });
  expect(found.counts[1]).toMatchObject({ kind: 'latency', offeredFps: found.counts[0]?.['fps'], p99Us: 3 });
  const ordered = await testIn({ generator: 1_000_000, path: 50_000 }, { tests: ['latency'] }, 10);
  expect(ordered.counts).toMatchObject([{ kind: 'latency', offeredFps: 10, frames: 10 }]);
});

it('frame loss decreases the rate in steps of 10 % until two trials have no loss', async () => {
  const { counts } = await testIn({ generator: 1000, path: 750 }, { tests: ['frameLoss'] });
  expect(counts.map(({ ratePct, received }) => [ratePct, received])).toEqual([
    [100, 750],
    [90, 750],
    [80, 750],
    [70, 700],
    [60, 600],
  ]);
});

describe('back-to-back frames', () => {
  it('are limited by the buffer of the path', async () => {
    const { counts } = await testIn({ generator: 10_000, path: 1, queue: 137 }, { tests: ['backToBack'] });
    expect(counts).toMatchObject([{ kind: 'backToBack', burstFps: 10_000, repeats: 2, isLongest: false }]);
    expect(counts[0]?.['frames']).toBeGreaterThan(134);
    expect(counts[0]?.['frames']).toBeLessThanOrEqual(137);
  });

  it('are a lower bound when the longest burst passes', async () => {
    const world = { generator: 10_000, path: 1, queue: 1_000_000 };
    const { counts } = await testIn(world, { tests: ['backToBack'], burstSec: 0.5 });
    expect(counts).toMatchObject([{ frames: 5000, isLongest: true }]);
  });
});
