import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAddressSet, issuesOf } from '../networks/network.ts';
import type { NetworkDraft } from '../networks/network-draft.ts';
import { overlapOf } from './overlap.ts';

const anyNetwork: fc.Arbitrary<NetworkDraft> = fc.record({
  subnet: fc.constantFrom('10.0.0.0/24', '10.0.0.0/25', '10.0.0.128/25', '10.0.0.64/26', '10.0.1.0/24'),
  pattern: fc.constantFrom(undefined, '*.*.*.*/2', '*.*.*.1-99/2', '*.*.*.70-90', '*.*.*.*/3,*/5'),
  excludes: fc.constantFrom([], ['10.0.0.70-10.0.0.80'], ['10.0.0.66', '10.0.0.67']),
  gateway: fc.constantFrom(undefined, '10.0.0.65'),
});

describe('the overlap of two networks', () => {
  test('is what both expand to', () => {
    fc.assert(
      fc.property(anyNetwork, anyNetwork, (a, b) => {
        fc.pre(issuesOf(a).length === 0 && issuesOf(b).length === 0);
        const right = new Set(createAddressSet(b).page(0n, 300));
        const shared = createAddressSet(a)
          .page(0n, 300)
          .filter((ip) => right.has(ip));
        const expected = { count: BigInt(shared.length), first: shared[0], last: shared.at(-1) };
        expect(overlapOf(a, b)).toEqual(shared.length === 0 ? undefined : expected);
      }),
      { numRuns: 300 },
    );
  });

  test('is found between networks of any size at once', () => {
    expect(overlapOf({ subnet: '::/0' }, { subnet: '2001:db8::/32', pattern: '2001:db8:*:*:*:*:*:1' })).toEqual({
      count: 2n ** 80n,
      first: '2001:db8::1',
      last: '2001:db8:ffff:ffff:ffff:ffff:ffff:1',
    });
  });

  test('does not cross versions, nor exist for what cannot be read', () => {
    expect(overlapOf({ subnet: '0.0.0.0/0' }, { subnet: '::/0' })).toBeUndefined();
    expect(overlapOf({ subnet: 'x' }, { subnet: '::/0' })).toBeUndefined();
  });
});
