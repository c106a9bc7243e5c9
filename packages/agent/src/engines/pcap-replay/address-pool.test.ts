import { expect, it } from 'vitest';
import { AddressPool } from './address-pool.ts';

const texts = (pool: AddressPool, count: number) =>
  Array.from({ length: count }, (_, index) => [...(pool.find(index, 4) ?? [])].join('.'));

it('addresses are ordered: single ones, networks without network and broadcast address, ranges, then wrap around', () => {
  const pool = new AddressPool({
    addresses: ['10.0.0.9'],
    networks: ['10.1.0.0/30'],
    ranges: ['10.2.0.0-10.2.0.1', 'fd00::1-fd00::ffff'],
  });
  expect(texts(pool, 6)).toEqual(['10.0.0.9', '10.1.0.1', '10.1.0.2', '10.2.0.0', '10.2.0.1', '10.0.0.9']);
  expect(pool.find(0xfffe, 16)?.toString('hex')).toBe('fd00000000000000000000000000ffff');
  expect([pool.countOf(4), pool.countOf(16)]).toEqual([5n, 65_535n]);
});

it('contains its own addresses and none of another IP version', () => {
  const pool = new AddressPool({ addresses: [], networks: ['10.1.0.0/16'], ranges: [] });
  expect([pool.has('10.1.200.7'), pool.has('10.2.0.1'), pool.has('fd00::1')]).toEqual([true, false, false]);
  expect(pool.find(0, 16)).toBeUndefined();
});
