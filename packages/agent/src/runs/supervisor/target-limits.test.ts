import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effectiveTargets } from './target-limits.ts';

const listOf = (entries: readonly string[]) => {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const isV6 = isIP(address) === 6;
    list.addSubnet(address, Number(prefix ?? (isV6 ? 128 : 32)), isV6 ? 'ipv6' : 'ipv4');
  }
  return list;
};
const has = (entries: readonly string[], address: string) =>
  listOf(entries).check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

const byte = fc.integer({ min: 0, max: 3 });
const address = fc.tuple(byte, byte, byte, byte).map((parts) => parts.join('.'));
const network = fc.tuple(address, fc.integer({ min: 0, max: 31 })).map(([base, prefix]) => `${base}/${prefix}`);

describe('target limits', () => {
  it('allows an address of a network exactly if both job and agent do', () => {
    fc.assert(
      fc.property(
        fc.array(network, { maxLength: 4 }),
        fc.array(network, { maxLength: 4 }),
        address,
        (ordered, limits, target) => {
          expect(has(effectiveTargets(ordered, limits), target)).toBe(has(ordered, target) && has(limits, target));
        },
      ),
    );
  });

  it('allows a single host that the job names, and nothing else', () => {
    expect(effectiveTargets(['203.0.113.7', 'fd00::5/128'], ['10.0.0.0/8'])).toEqual(['203.0.113.7', 'fd00::5/128']);
    expect(effectiveTargets(['203.0.113.0/31'], ['10.0.0.0/8'])).toEqual([]);
    expect(effectiveTargets(['::/0', '0.0.0.0/0'], ['10.0.0.0/8', 'fc00::/7'])).toEqual(['fc00::/7', '10.0.0.0/8']);
  });

  it('rejects invalid networks', () => {
    for (const bad of ['example.com', '10.0.0.0/33', '']) expect(() => effectiveTargets([bad], [])).toThrow(RangeError);
  });
});
