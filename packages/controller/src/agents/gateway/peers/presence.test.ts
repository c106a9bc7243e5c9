import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { meaningOf, type Presence, statusOf } from './presence.ts';

describe('silence', () => {
  const patience = { suspectMs: 6000, lostMs: 20_000 };
  it.each([
    [0, 'fine'],
    [5999, 'fine'],
    [6000, 'suspect'],
    [19_999, 'suspect'],
    [20_000, 'lost'],
  ])('of %i ms means %s', (silenceMs, meaning) => expect(meaningOf(silenceMs, patience)).toBe(meaning));

  it('never means less when it is longer', () => {
    const order = ['fine', 'suspect', 'lost'];
    const worth = (ms: number, limits: typeof patience) => order.indexOf(meaningOf(ms, limits));
    fc.assert(
      fc.property(fc.nat(60_000), fc.nat(60_000), fc.nat(30_000), fc.nat(30_000), (a, b, suspectMs, more) => {
        const limits = { suspectMs, lostMs: suspectMs + more };
        return worth(Math.min(a, b), limits) <= worth(Math.max(a, b), limits);
      }),
    );
  });
});

it.each([
  [{}, 1],
  [{ isBusy: true }, 2],
  [{ isBusy: true, isSuspect: true }, 3],
  [{ isSuspect: true, isUpgrading: true }, 6],
])('a presence that is %o has status %i', (more, status) => {
  expect(statusOf({ isBusy: false, isSuspect: false, isUpgrading: false, ...more } as Presence)).toBe(status);
});
