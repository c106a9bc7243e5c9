import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lossCorrections, lossDurations } from './losses.ts';

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const ten = (value: number) => new Array<number>(10).fill(value);

/** Losses by second after correction. */
const lostOf = (traffic: Parameters<typeof lossCorrections>[0]) =>
  lossCorrections(traffic).map((value, second) => value + (traffic.lost[second] ?? 0));

describe('losses', () => {
  it('counts everything sent into a black hole, in the second of sending', () => {
    const traffic = { sent: ten(100), received: ten(0), lost: ten(0), isEnded: true };
    expect(lostOf(traffic)).toEqual(ten(100));
    expect(lossDurations(traffic.sent, lostOf(traffic))).toEqual(ten(1000));
  });

  it('counts silence while it lasts, and does not count the gap again when packets arrive after it', () => {
    const sent = ten(100);
    const received = [100, 100, 0, 0, 0, 0, 0, 100, 100, 100];
    const lost = [0, 0, 0, 0, 0, 0, 0, 500, 0, 0];
    const during = { sent: sent.slice(0, 7), received: received.slice(0, 7), lost: lost.slice(0, 7), isEnded: false };
    expect(lostOf(during)).toEqual([0, 0, 100, 100, 100, 0, 0]);
    expect(lostOf({ ...during, isLive: true })).toEqual([0, 0, 0, 0, 100, 100, 100]);
    expect(sum(lostOf({ sent, received, lost, isEnded: true }))).toBe(500);
  });

  it('counts the last packets of a lossy run, and none that is in transit while it runs', () => {
    const traffic = { sent: [10, 10, 10], received: [10, 9, 8], lost: [0, 1, 1], isEnded: false };
    expect(lostOf(traffic)).toEqual([0, 1, 1]);
    expect(sum(lostOf({ ...traffic, isEnded: true }))).toBe(3);
  });

  it('adds up to what was sent and did not arrive, however packets are spread over the seconds', () => {
    const seconds = fc.array(fc.record({ sent: fc.nat(50), lost: fc.nat(50), delay: fc.nat(3) }), { minLength: 1 });
    fc.assert(
      fc.property(seconds, (given) => {
        const sent = given.map((one) => one.sent);
        const received = new Array<number>(given.length + 4).fill(0);
        for (const [second, one] of given.entries()) {
          received[second + one.delay] = (received[second + one.delay] ?? 0) + Math.max(0, one.sent - one.lost);
        }
        const total = sum(lostOf({ sent, received, lost: received.map(() => 0), isEnded: true }));
        expect(total).toBe(sum(sent) - sum(received));
      }),
    );
  });

  it('gives the duration of an outage from the rate, whatever the number of flows', () => {
    expect(lossDurations([200, 200, 0], [0, 100, 50])).toEqual([0, 500, 250]);
  });
});
