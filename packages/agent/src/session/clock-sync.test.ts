import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClockSync } from './clock-sync.ts';

/** Two clocks and a network: the agent's clock is `aheadMs` behind the controller's. */
const world = (aheadMs: number) => {
  const time = { now: 1000, stepMs: 0 };
  const sync = new ClockSync(() => 1_700_000_000_000 + time.now);
  const exchange = (thereMs: number, backMs: number) => {
    const sentAt = sync.stamp();
    time.now += thereMs;
    const at = 1_700_000_000_000 + time.now + aheadMs + time.stepMs;
    time.now += backMs;
    sync.answered(sentAt, at);
    time.now += 1000;
  };
  return { time, sync, exchange };
};

describe('clock sync', () => {
  it('is never wrong by more than half of the shortest round trip', () => {
    const delay = fc.double({ min: 0, max: 500, noNaN: true });
    fc.assert(
      fc.property(
        fc.integer({ min: -1e7, max: 1e7 }),
        fc.array(fc.tuple(delay, delay), { minLength: 1 }),
        (ahead, delays) => {
          const { sync, exchange } = world(ahead);
          for (const [there, back] of delays) exchange(there, back);
          const shortest = Math.min(...delays.slice(-8).map(([there, back]) => there + back));
          expect(Math.abs(sync.offsetMs - ahead)).toBeLessThanOrEqual(shortest / 2 + 0.01);
          expect(sync.roundTripMs).toBeCloseTo(shortest, 3);
        },
      ),
    );
  });

  it('is 0 before the first answer and ignores unexpected answers', () => {
    const { sync } = world(500);
    sync.answered(42, 1_700_000_000_000);
    expect([sync.offsetMs, sync.roundTripMs]).toEqual([0, 0]);
  });

  it("measures again after the controller's clock was set", () => {
    const { sync, exchange, time } = world(0);
    exchange(1, 1);
    time.stepMs = 60_000;
    exchange(100, 100);
    expect(sync.offsetMs).toBeCloseTo(60_000, 0);
  });
});
