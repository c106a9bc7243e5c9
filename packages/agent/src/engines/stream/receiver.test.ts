import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SequenceTracker } from './receiver.ts';

/** Lost, late and duplicate after these arrivals. */
const countsOf = (sequences: readonly number[]) => {
  const tracker = new SequenceTracker();
  const counts = { lost: 0, late: 0, duplicate: 0, received: 0 };
  for (const sequence of sequences) {
    const arrival = tracker.arrive(sequence, 0);
    if (arrival !== 'duplicate') counts.received++;
    if (arrival === 'next') counts.lost += tracker.gap;
    else counts[arrival]++;
    if (arrival === 'late') counts.lost--;
  }
  return counts;
};

it.each([
  [[0, 1, 2], { lost: 0, late: 0, duplicate: 0 }],
  [[0, 3], { lost: 2, late: 0, duplicate: 0 }],
  [[2, 0, 1], { lost: 0, late: 2, duplicate: 0 }],
  [[0, 0, 2, 2, 1, 1], { lost: 0, late: 1, duplicate: 3 }],
])('%j means %j', (sequences, counts) => {
  expect(countsOf(sequences)).toMatchObject(counts);
});

it('in any order, lost frames are those missing below the highest number', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200), { minLength: 1 }), (sequences) => {
      const different = new Set(sequences);
      const { lost, received, duplicate } = countsOf(sequences);
      expect(received).toBe(different.size);
      expect(duplicate).toBe(sequences.length - different.size);
      expect(lost).toBe(Math.max(...sequences) + 1 - different.size);
    }),
  );
});

it('computes jitter according to RFC 3550', () => {
  const tracker = new SequenceTracker();
  tracker.arrive(0, 100);
  tracker.arrive(1, 260);
  expect(tracker.jitterUs).toBe(10);
  tracker.arrive(2, 260);
  expect(tracker.jitterUs).toBeCloseTo(9.375);
});
