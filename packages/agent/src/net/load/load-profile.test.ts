import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedSegments, LoadProfile, segmentsOf } from './load-profile.ts';

const dueTimes = (profile: LoadProfile, limit = 100_000) => {
  const times: number[] = [];
  for (let index = 0; index < limit; index++) {
    const due = profile.dueAt(index);
    if (due === Number.POSITIVE_INFINITY) break;
    times.push(due);
  }
  return times;
};

describe('load profile', () => {
  it('has exactly rate times seconds events at a fixed rate', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 10 }), (rate, seconds) => {
        const times = dueTimes(new LoadProfile(segmentsOf({ rate }, { seconds, rampUpSec: 0, rampDownSec: 0 })));
        expect(times).toHaveLength(rate * seconds);
        expect(times[0]).toBe(0);
        expect(times.at(-1)).toBeLessThan(seconds);
      }),
    );
  });

  it('never goes back in time and sends half as much while it ramps', () => {
    const segments = segmentsOf({ rate: 100 }, { seconds: 30, rampUpSec: 10, rampDownSec: 10 });
    const times = dueTimes(new LoadProfile(segments));
    expect(times).toHaveLength(2000);
    expect(times.every((time, index) => index === 0 || time >= (times[index - 1] as number))).toBe(true);
    expect(times.filter((time) => time < 10).length).toBeCloseTo(500, -1);
    expect(times.filter((time) => time < 5).length).toBeCloseTo(125, -1);
  });

  it('climbs by steps of one second', () => {
    const profile = new LoadProfile(
      segmentsOf({ rate: 50, initialRate: 10, rampStep: 20 }, { seconds: 5, rampUpSec: 0, rampDownSec: 0 }),
    );
    expect([0, 1, 2, 4.5, 5].map((second) => profile.rateAt(second))).toEqual([10, 30, 50, 50, 50]);
    expect(dueTimes(profile)).toHaveLength(10 + 30 + 3 * 50);
  });

  it('never ends without a planned end', () => {
    const profile = new LoadProfile(segmentsOf({ rate: 1000 }, { rampUpSec: 0, rampDownSec: 0 }));
    expect(profile.dueAt(5_000_000)).toBe(5000);
    expect(profile.rateAt(1e9)).toBe(1000);
  });

  it('has no event at a rate of 0', () => {
    const profile = new LoadProfile(segmentsOf({ rate: 0 }, { rampUpSec: 0, rampDownSec: 0 }));
    expect(profile.dueAt(0)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('load over time', () => {
  const curve = [
    { seconds: 2, from: 0, to: 1 },
    { seconds: 3, from: 0.5, to: 0.5 },
    { seconds: 1, from: 0.5, to: 0 },
  ];
  const ramps = { seconds: 6, rampUpSec: 0, rampDownSec: 0, curve };

  it('has as many events as the area below it', () => {
    const profile = new LoadProfile(segmentsOf({ rate: 100 }, ramps));
    expect(dueTimes(profile)).toHaveLength(100 + 150 + 25);
    expect([0, 1, 1.999, 2, 4.9, 5.5].map((second) => Math.round(profile.rateAt(second)))).toEqual([
      0, 50, 100, 50, 50, 25,
    ]);
  });

  it('is scaled from where it is when its rate is changed', () => {
    expect(changedSegments({ from: 50, rate: 200 }, ramps, 1)).toEqual([
      { seconds: 1, from: 100, to: 200 },
      { seconds: 3, from: 100, to: 100 },
      { seconds: 1, from: 100, to: 0 },
    ]);
    expect(changedSegments({ from: 50, rate: 200 }, ramps, 5.5)).toEqual([{ seconds: 0.5, from: 50, to: 0 }]);
  });
});

describe('a rate that is changed', () => {
  const ramps = { seconds: 60, rampUpSec: 10, rampDownSec: 10 };
  it.each([
    [
      'during the ramp-up continues it to the new rate',
      5,
      50,
      [
        [5, 50, 200],
        [40, 200, 200],
        [10, 200, 0],
      ],
    ],
    [
      'at full load keeps the ramp-down',
      30,
      100,
      [
        [20, 200, 200],
        [10, 200, 0],
      ],
    ],
    ['during the ramp-down keeps the rest of it', 55, 50, [[5, 100, 0]]],
  ])('%s', (_, elapsed, from, expected) => {
    const segments = changedSegments({ from, rate: 200 }, ramps, elapsed);
    expect(segments.map((segment) => [segment.seconds, segment.from, segment.to])).toEqual(expected);
  });

  it('without a planned end holds for ever', () => {
    const [only, ...others] = changedSegments({ from: 100, rate: 200 }, { rampUpSec: 0, rampDownSec: 0 }, 5);
    expect([only, others]).toEqual([{ seconds: Number.POSITIVE_INFINITY, from: 200, to: 200 }, []]);
  });
});
