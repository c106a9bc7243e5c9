import { setTimeout as sleep } from 'node:timers/promises';
import { type Duration, Histogram, type Load } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { SampleStore } from '../../samples.ts';
import { LoadDriver } from './load-driver.ts';

const seconds = (length: number): Duration => ({
  mode: 'time',
  seconds: length,
  count: 1,
  rampUpSec: 0,
  warmUpSec: 0,
  rampDownSec: 0,
});

const drive = (load: Load, options: { limit?: number; busyMs?: number; slots?: number } = {}) => {
  const begun: { slot: number; intended: number; now: number }[] = [];
  const lag = new Histogram();
  const driver: LoadDriver = new LoadDriver({
    load,
    duration: seconds(1),
    limit: options.limit ?? Number.POSITIVE_INFINITY,
    lag,
    begin(slot, intended, now) {
      begun.push({ slot, intended, now });
      setTimeout(() => driver.offer(slot, performance.now()), options.busyMs ?? 0);
    },
  });
  for (let slot = 0; slot < (options.slots ?? 4); slot++) driver.offer(slot, 0);
  return { driver, begun, lag };
};

describe('load driver', () => {
  it('holds a rate to the event and is on time', async () => {
    const { driver, begun, lag } = drive({ rate: 500 }, { slots: 50 });
    driver.start();
    await sleep(1050);
    expect(driver.stop()).toBe(0);
    expect(begun).toHaveLength(500);
    const first = begun[0]?.intended as number;
    expect(begun.every(({ intended }, index) => Math.abs(intended - first - index * 2) < 1e-6)).toBe(true);
    expect(lag.quantile(0.5)).toBeLessThan(1000);
  });

  it('counts every event at the moment it begins', async () => {
    const counter = new SampleStore().counter('begun');
    const counts: number[] = [];
    const driver = new LoadDriver({
      ...{ load: { rate: 200 }, duration: seconds(1), limit: 20, lag: new Histogram() },
      begin: () => void counts.push(counter.value),
    });
    driver.countInto(counter);
    for (let slot = 0; slot < 20; slot++) driver.offer(slot, 0);
    driver.start();
    await expect.poll(() => driver.isExhausted).toBe(true);
    driver.stop();
    expect(counts).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  it('keeps the intended time of events that find no slot, and counts those left over', async () => {
    const { driver, begun } = drive({ rate: 100 }, { slots: 1, busyMs: 50 });
    driver.start();
    await sleep(500);
    const dropped = driver.stop();
    const late = begun.at(-1) as { now: number; intended: number };
    expect(late.now - late.intended).toBeGreaterThan(200);
    expect(begun.length + dropped).toBeGreaterThanOrEqual(49);
    expect(begun.length).toBeLessThan(12);
  });

  it('without a rate, begins events as slots become free, up to the limit', async () => {
    const { driver, begun } = drive({}, { limit: 10, slots: 3 });
    driver.start();
    await expect.poll(() => begun.length).toBe(10);
    expect(driver.isExhausted).toBe(true);
  });

  it('begins nothing while paused and does not catch up afterwards', async () => {
    const { driver, begun } = drive({ rate: 200 }, { slots: 20 });
    driver.start();
    await sleep(100);
    driver.pause();
    const before = begun.length;
    await sleep(200);
    expect(begun.length).toBe(before);
    driver.resume();
    await sleep(100);
    driver.stop();
    expect(begun.length - before).toBeLessThan(30);
    expect(begun.length - before).toBeGreaterThan(5);
  });

  it('changes the rate from one moment to the next', async () => {
    const { driver, begun } = drive({ rate: 10 }, { slots: 20 });
    driver.start();
    await sleep(110);
    expect(driver.changeRate(500)).toBe(true);
    await sleep(200);
    driver.stop();
    expect(begun.length).toBeGreaterThan(80);
    expect(drive({}).driver.changeRate(5)).toBe(false);
  });
});
