import { describe, expect, it } from 'vitest';
import { BusyLimit } from './busy-limit.ts';

const limitOf = () => {
  const limit = new BusyLimit(
    [
      { seconds: 1, from: 0, to: 1 },
      { seconds: 9, from: 0.2, to: 0.2 },
    ],
    10,
  );
  limit.start(0);
  return limit;
};

describe('a limit of busy slots', () => {
  it('rises and falls with its curve', () => {
    const limit = limitOf();
    const roomAt = (ms: number) => {
      const begun: number[] = [];
      for (let slot = 0; slot < 20 && !limit.isReached(ms); slot++) begun.push(slot) && limit.begin(slot);
      for (const slot of begun) limit.end(slot);
      return begun.length;
    };
    expect([0, 500, 999, 2000].map(roomAt)).toEqual([0, 5, 10, 2]);
  });

  it('counts several events of one slot, and forgets all of them with the slot', () => {
    const limit = limitOf();
    for (const slot of [1, 1, 2]) limit.begin(slot);
    expect(limit.isReached(300)).toBe(true);
    limit.end(3);
    expect(limit.isReached(300)).toBe(true);
    limit.forget(1);
    limit.end(1);
    expect(limit.isReached(200)).toBe(false);
    limit.begin(5);
    expect(limit.isReached(200)).toBe(true);
  });

  it('stands still during a pause', () => {
    const limit = limitOf();
    limit.pause(500);
    limit.resume(10_500);
    for (let slot = 0; slot < 5; slot++) limit.begin(slot);
    expect([limit.isReached(10_500), limit.isReached(10_700)]).toEqual([true, false]);
  });

  it('leads to another number within a second and tells how many are too many', () => {
    const limit = limitOf();
    for (let slot = 0; slot < 8; slot++) limit.begin(slot);
    limit.change(4, 1000);
    expect([1000, 1500, 2000, 9000].map((now) => limit.excessAt(now))).toEqual([6, 5, 4, 4]);
    limit.change(9, 10_000);
    expect([10_000, 11_000].map((now) => limit.isReached(now))).toEqual([true, false]);
  });
});
