import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TickClock } from './tick-clock.ts';

it('divides 64-bit ticks exactly for every decimal and binary resolution', () => {
  const word = fc.integer({ min: 0, max: 0xffffffff });
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 255 }), (high, low, resolution) => {
      const clock = new TickClock(resolution, 0);
      clock.set(high, low);
      const exponent = BigInt(resolution & 0x7f);
      const perSecond = resolution < 128 ? 10n ** exponent : 2n ** exponent;
      const ticks = (BigInt(high) << 32n) | BigInt(low);
      expect(clock.seconds).toBe(Number(ticks / perSecond));
      const nanoseconds = Number(((ticks % perSecond) * 1_000_000_000n) / perSecond);
      // A binary resolution does not divide a nanosecond: the last one may round either way.
      expect(Math.abs(clock.nanoseconds - nanoseconds)).toBeLessThanOrEqual(resolution < 128 ? 0 : 1);
    }),
    { numRuns: 2000 },
  );
});

it('is exact in units finer than a nanosecond', () => {
  const clock = new TickClock(11, 0);
  for (let ticks = 1; ticks < 100_000; ticks += 7) {
    clock.set(0, ticks * 100 - 1);
    expect(clock.nanoseconds).toBe(ticks - 1);
  }
});
