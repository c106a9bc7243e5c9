import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ArrivalTracker } from './arrival-tracker.ts';

const distinct = (count: number) => Array.from({ length: count }, (_, index) => 1000 + index);

/** What a receiver would count. */
const counted = (tracker: ArrivalTracker, arrivals: readonly number[]) => {
  const counts = { received: 0, lost: 0, duplicates: 0, foreign: 0 };
  for (const key of arrivals) {
    const arrival = tracker.arrive(key);
    if (arrival === 'next') counts.lost += tracker.gap;
    if (arrival === 'late') counts.lost -= 1;
    if (arrival === 'next' || arrival === 'late') counts.received++;
    if (arrival === 'duplicate') counts.duplicates++;
    if (arrival === 'foreign') counts.foreign++;
  }
  return counts;
};

it('frames of several loops are all counted, also for a capture of one frame', () => {
  for (const count of [1, 2, 5, 300]) {
    const keys = distinct(count);
    const tracker = new ArrivalTracker(keys, 4);
    expect(counted(tracker, [...keys, ...keys, ...keys, ...keys])).toEqual({
      received: count * 4,
      lost: 0,
      duplicates: 0,
      foreign: 0,
    });
    expect(tracker.outstanding).toBe(0);
  }
});

it('missing frames are lost, late frames are not, repeated frames are duplicates', () => {
  const keys = distinct(200);
  const without = keys.filter((_, index) => index !== 50 && index !== 120);
  const swapped = [...keys.slice(0, 10), keys[11], keys[10], ...keys.slice(12, 30), keys[29], ...keys.slice(30)];
  expect(counted(new ArrivalTracker(keys, 0), [...without, ...(swapped as number[]), 7])).toEqual({
    received: 398,
    lost: 2,
    duplicates: 1,
    foreign: 1,
  });
});

it('frames of equal content are distinguished by position', () => {
  const keys = [1, 2, 1, 3, 1, 4, 5, 6, 7, 8];
  expect(counted(new ArrivalTracker(keys, 2), [...keys, ...keys])).toMatchObject({ received: 20, lost: 0 });
  expect(counted(new ArrivalTracker(keys, 2), [2, 1, 3, 4, 5, 6, 7, 8, ...keys])).toMatchObject({
    received: 18,
    lost: 2,
  });
});

it('received and lost frames add up to the frames sent until the last arrival', () => {
  const choices = fc.array(fc.boolean(), { minLength: 600, maxLength: 600 });
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 200 }), choices, (count, drops) => {
      const keys = distinct(count);
      const sent = Array.from({ length: 600 }, (_, index) => keys[index % count] as number);
      // One in four is dropped at most.
      const isDropped = (index: number) => drops[index] === true && index % 4 === 0;
      const { received, lost } = counted(
        new ArrivalTracker(keys, 0),
        sent.filter((_, index) => !isDropped(index)),
      );
      const last = sent.findLastIndex((_, index) => !isDropped(index));
      expect([received, received + lost]).toEqual([sent.filter((_, index) => !isDropped(index)).length, last + 1]);
    }),
    { numRuns: 60 },
  );
});
