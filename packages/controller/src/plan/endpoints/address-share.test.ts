import { createAddressSet } from '@rushhour/pools';
import { describe, expect, it } from 'vitest';
import { AddressShare } from './address-share.ts';

const whole = (subnet: string, more = {}) => new AddressShare(createAddressSet({ subnet, ...more }));
const part = (subnet: string, start: bigint, size: bigint) =>
  new AddressShare(createAddressSet({ subnet }), start, size);

describe('a share of addresses', () => {
  it('is written as a network when it is one', () => {
    expect(whole('10.1.0.0/24').sources('10.1.0.0/24')).toEqual({
      sources: { addresses: [], networks: ['10.1.0.0/24'], ranges: [] },
      count: 254,
    });
    expect(whole('10.1.0.4/31').sources('10.1.0.4/31').sources.networks).toEqual(['10.1.0.4/31']);
  });

  it('is written as ranges where addresses are missing', () => {
    expect(whole('10.1.0.0/24', { excludes: ['10.1.0.2', '10.1.0.10-10.1.0.254'] }).sources('10.1.0.0/24')).toEqual({
      sources: { addresses: ['10.1.0.1'], networks: [], ranges: ['10.1.0.3-10.1.0.9'] },
      count: 8,
    });
    expect(part('10.1.0.0/24', 100n, 3n).sources('10.1.0.0/24').sources.ranges).toEqual(['10.1.0.101-10.1.0.103']);
    expect(whole('fd00::/126').sources('fd00::/126').sources.ranges).toEqual(['fd00::1-fd00::3']);
  });

  it('is cut when it is huge or scattered', () => {
    expect(whole('fd00::/64').sources('fd00::/64')).toEqual({
      sources: { addresses: [], networks: [], ranges: ['fd00::1-fd00::f:4240'] },
      count: 1_000_000,
    });
    expect(whole('10.0.0.0/8', { pattern: '10.*.*.7' }).sources('10.0.0.0/8').count).toBe(10_000);
  });

  it('knows whether it meets another', () => {
    const lower = part('10.1.0.0/24', 0n, 100n);
    expect(lower.meets(part('10.1.0.0/24', 100n, 100n))).toBe(false);
    expect(lower.meets(part('10.1.0.0/24', 99n, 100n))).toBe(true);
    expect(
      whole('10.1.0.0/24', { pattern: '10.1.0.0-254/2' }).meets(whole('10.1.0.0/24', { pattern: '10.1.0.1-255/2' })),
    ).toBe(false);
    expect(lower.meets(whole('fd00::/64'))).toBe(false);
  });
});
