import { describe, expect, it } from 'vitest';
import { backOffMs } from './back-off.ts';

describe('back-off', () => {
  it('grows from 250 ms to 5 s', () => {
    const longest = [0, 1, 2, 3, 4, 5, 20].map((attempt) => backOffMs(attempt, () => 1));
    expect(longest).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);
    for (const attempt of [0, 3, 50]) expect(backOffMs(attempt, () => 0)).toBe(125);
  });

  it('reconnects a thousand agents within 30 s of an outage, never all at the same time', () => {
    const downMs = 60_000;
    const returns = Array.from({ length: 1000 }, () => {
      let at = 0;
      for (let attempt = 0; at < downMs; attempt++) at += backOffMs(attempt);
      return at - downMs;
    });
    expect(Math.max(...returns)).toBeLessThan(30_000);
    const perSecond = Map.groupBy(returns, (at) => Math.floor(at / 1000));
    expect(Math.max(...perSecond.values().map((group) => group.length))).toBeLessThan(600);
  });
});
