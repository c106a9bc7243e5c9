import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../../store/engine/database.ts';
import { createRunLab, eventually, type RunLab } from '../testing/run-lab.ts';
import { defaultTiming } from './deadlines.ts';
import { RunGivenAway, RunLeases } from './run-leases.ts';
import { createRunWriter } from './run-writer.ts';

let world: RunLab;
beforeAll(async () => {
  world = await createRunLab();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const log = pino({ level: 'silent' });
const leasesOf = (leaseMs = 60_000) => new RunLeases({ store: world.store, leaseMs, log });
const endlessRun = async () => {
  const id = await world.addAgent({ endsAfterSec: 1_000_000 });
  const runId = await world.start(await world.addTask({ sources: [id] }));
  await world.reach(runId, 4);
  return runId;
};

/** The run belongs to an owner that is held up: its lease has ended and it does not know. */
const heldUp = async (runId: number) => {
  await world.crash();
  const leases = leasesOf(50);
  expect((await leases.look()).taken).toEqual([runId]);
  await sleep(100);
  return leases;
};
const giveBack = async (runId: number, leases: RunLeases) => {
  await leases.handOver();
  await world.revive();
  expect(world.runs.owns(runId)).toBe(true);
};

// A database in a file has one controller.
describe.runIf(process.env['RUSHHOUR_TEST_ENGINE'] === 'postgres')('of several controllers, the owner of a run', () => {
  it('that is cut off in the middle of a transaction holds it for no longer than its lease', async () => {
    const runId = await endlessRun();
    const late = await heldUp(runId);
    const cut = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const transaction = world.store.database.transaction(async (tx) => {
      await late.assertOwned(tx, runId);
      locked.resolve();
      await cut.promise;
      await late.assertOwned(tx, runId);
    });
    await locked.promise;
    const startedAt = performance.now();
    const next = leasesOf();
    expect((await next.look()).taken).toEqual([runId]);
    expect(performance.now() - startedAt).toBeLessThan(defaultTiming.leaseMs);
    cut.resolve();
    await expect(transaction).rejects.toThrow(StorageUnavailable);
    await giveBack(runId, next);
  }, 30_000);

  it('writes nothing more once another one has taken the run, however late it notices', async () => {
    const runId = await endlessRun();
    const late = await heldUp(runId);
    const writer = createRunWriter({ store: world.store, bus: world.bus, leases: late });
    await writer.edit(runId, () => ({ patch: { comment: 'not taken yet' } }));
    const next = leasesOf();
    expect(await next.look()).toEqual({ taken: [runId], orphaned: [runId], lost: [] });
    const before = await world.run(runId);
    for (const attempt of [
      () => writer.edit(runId, () => ({ patch: { comment: 'too late' } })),
      () => writer.move(runId, { trigger: 'stop', source: 'controller' }),
      () => writer.moveAudited('runs.stop', runId, { trigger: 'stop', source: 'controller' }),
    ]) {
      await expect(attempt()).rejects.toThrow(RunGivenAway);
    }
    expect(await world.run(runId)).toEqual(before);
    expect(await late.look()).toEqual({ taken: [], orphaned: [], lost: [runId] });
    expect([late.owns(runId), next.owns(runId)]).toEqual([false, true]);
    await giveBack(runId, next);
  });

  it('loses a run only between two transactions', async () => {
    const runId = await endlessRun();
    const late = await heldUp(runId);
    const next = leasesOf();
    const order: string[] = [];
    const begun = Promise.withResolvers<void>();
    const writing = world.store.database.transaction(async (tx) => {
      await late.assertOwned(tx, runId);
      begun.resolve();
      await sleep(300);
      order.push('written');
    });
    await begun.promise;
    await next.look();
    order.push('taken');
    await writing;
    expect(order).toEqual(['written', 'taken']);
    await giveBack(runId, next);
  });

  it('of several that want a run, one gets it', async () => {
    const runId = await endlessRun();
    const late = await heldUp(runId);
    const others = Array.from({ length: 4 }, () => leasesOf());
    const changes = await Promise.all(others.map((other) => other.look()));
    expect(changes.flatMap(({ taken }) => taken)).toEqual([runId]);
    for (const other of others) await other.handOver();
    await giveBack(runId, late);
  });
});

describe('a controller', () => {
  it('owns a run until it ends', async () => {
    const id = await world.addAgent();
    const runId = await world.start(await world.addTask({ sources: [id] }));
    await world.end(runId);
    await eventually(async () => expect(world.runs.owns(runId)).toBe(false));
  });
});
