import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FlowTracker } from './flow-tracker.ts';

const track = (sequences: readonly number[], transit: (index: number) => number = () => 5) => {
  const tracker = new FlowTracker();
  const totals = { lost: 0, reordered: 0, duplicates: 0, lossMs: 0, jitterMs: 0 };
  sequences.forEach((sequence, index) => {
    const arrival = tracker.arrive(sequence, sequence * 10, sequence * 10 + transit(index));
    totals.lost += arrival.lostChange;
    totals.reordered += arrival.isReordered ? 1 : 0;
    totals.duplicates += arrival.isDuplicate ? 1 : 0;
    totals.lossMs += arrival.lossMsChange;
    totals.jitterMs = arrival.jitterMs;
  });
  return totals;
};

describe('flow tracker', () => {
  it.each([
    ['nothing wrong', [0, 1, 2, 3], { lost: 0, reordered: 0, duplicates: 0, lossMs: 0 }],
    ['a gap of three packets, 10 ms apart', [0, 4, 5], { lost: 3, lossMs: 30 }],
    ['a gap at the very start', [2, 3], { lost: 2 }],
    ['one packet late', [0, 2, 1, 3], { lost: 0, reordered: 1, lossMs: 0 }],
    ['one packet twice', [0, 1, 1, 2], { lost: 0, duplicates: 1 }],
    ['one packet late and twice', [0, 2, 1, 1, 3], { lost: 0, reordered: 1, duplicates: 1 }],
  ])('sees %s', (_, sequences, expected) => {
    expect(track(sequences)).toMatchObject(expected);
  });

  it('counts exactly for any order and any duplicates', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(300), { minLength: 1, maxLength: 400 }), (sequences) => {
        const unique = new Set(sequences).size;
        expect(track(sequences)).toMatchObject({
          lost: Math.max(...sequences) + 1 - unique,
          duplicates: sequences.length - unique,
        });
      }),
    );
  });

  it('stays exact when the window wraps many times', () => {
    const sequences = Array.from({ length: 200_000 }, (_, index) => index).filter((sequence) => sequence % 100 !== 7);
    expect(track(sequences)).toMatchObject({ lost: 2000, duplicates: 0, reordered: 0 });
  });

  it('computes jitter according to RFC 3550', () => {
    expect(track([0, 1, 2, 3]).jitterMs).toBe(0);
    // Transit goes up by 16 ms once: J = 16 / 16, then falls by a sixteenth each packet.
    expect(track([0, 1], (index) => index * 16).jitterMs).toBe(1);
    expect(track([0, 1, 2], (index) => (index === 0 ? 0 : 16)).jitterMs).toBeCloseTo(15 / 16);
  });
});
