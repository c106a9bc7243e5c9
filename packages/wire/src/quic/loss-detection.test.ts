import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AckTracker } from './loss-detection.ts';
import { writeVarint } from './varint.ts';

/** An ACK frame with these ranges, the highest first; delay in units of 8 µs. */
const ack = (ranges: readonly (readonly [first: number, last: number])[], delay = 0): Uint8Array => {
  const [[first, last] = [0, 0], ...rest] = ranges;
  const numbers = [last, delay, rest.length, last - first];
  let smallest = first;
  for (const [from, to] of rest) {
    numbers.push(smallest - to - 2, to - from);
    smallest = from;
  }
  const bytes = new Uint8Array(1 + 8 * numbers.length);
  bytes[0] = 2;
  let at = 1;
  for (const number of numbers) at = writeVarint(bytes, at, number);
  return bytes.slice(0, at);
};

describe('acknowledgements', () => {
  it('give the smoothed round-trip time of RFC 9002, without the delay of the peer', () => {
    const tracker = new AckTracker();
    tracker.sent(0, 1000);
    expect(tracker.acknowledge(ack([[0, 0]]), 1010)).toEqual({ lost: 0, smoothedMs: 10 });
    tracker.sent(1, 1020);
    // 26 ms, 8 of which the peer waited.
    expect(tracker.acknowledge(ack([[0, 1]], 1000), 1046).smoothedMs).toBeCloseTo((7 / 8) * 10 + 18 / 8);
    expect(tracker.acknowledge(ack([[0, 1]]), 1050)).toEqual({ lost: 0, smoothedMs: undefined });
  });

  it('show packets that are three behind to be lost, once', () => {
    const tracker = new AckTracker();
    for (let number = 0; number < 10; number++) tracker.sent(number, number);
    const gap = ack([
      [5, 9],
      [3, 3],
      [0, 0],
    ]);
    expect(tracker.acknowledge(gap, 20).lost).toBe(3);
    expect(tracker.acknowledge(gap, 21).lost).toBe(0);
  });

  it('show older packets to be lost after the time of a round trip', () => {
    const tracker = new AckTracker();
    for (const number of [0, 1]) tracker.sent(number, 100);
    expect(tracker.acknowledge(ack([[1, 1]]), 110).lost).toBe(0);
    tracker.sent(2, 111);
    expect(tracker.acknowledge(ack([[1, 2]]), 121).lost).toBe(1);
  });

  it('of numbers that nobody sends are ignored', () => {
    const tracker = new AckTracker();
    tracker.sent(0, 0);
    const huge = Uint8Array.of(
      2,
      0xff,
      0xff,
      0xff,
      0xff,
      0xff,
      0xff,
      0xff,
      0xff,
      0,
      1,
      0,
      0xff,
      0xff,
      0xff,
      0xff,
      0,
      0,
      0,
      0,
      0,
    );
    expect(tracker.acknowledge(huge, 10)).toEqual({ lost: 0, smoothedMs: undefined });
  });

  it('may be any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const tracker = new AckTracker();
        for (let number = 0; number < 20; number++) tracker.sent(number, number);
        expect(tracker.acknowledge(bytes, 50).lost).toBeLessThanOrEqual(20);
      }),
    );
  });
});
