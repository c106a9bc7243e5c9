import { describe, expect, it } from 'vitest';
import { hexOfBytes } from '../../../bytes/memory.ts';
import { MessageWriter } from '../../message-writer.ts';
import { attributeFlag, attributeType } from '../attributes.ts';
import { layer2Attributes, layer2Community } from '../evpn/communities.ts';
import { extendedCommunityText } from '../extended-community-text.ts';
import { familyOf } from '../families.ts';
import { formatNlri } from '../nlri.ts';
import { Rib } from '../rib.ts';
import type { RouteSource } from '../route-source.ts';
import { writeCircuit } from './label-block.ts';
import { type VpwsOptions, VpwsWires } from './vpws-wires.ts';

const options: VpwsOptions = {
  router: { ordinal: 1, id: 0x0a63000a, as: 65_000, address: Uint8Array.of(10, 99, 0, 10) },
  attributes: { origin: 0, asPath: [65_000], communities: [], extendedCommunities: [] } as never,
  instance: {
    signalling: 'evpn',
    ...{ count: 2, localId: 10, remoteId: 20, mtu: 1500, controlWord: true, labelStart: 400_000 },
    routeTargets: ['65000:7'],
  },
};

/** The routes of a neighbour in a table, with the communities of its source. */
const tableOf = (wires: VpwsWires, which: readonly number[]): Rib => {
  const rib = new Rib();
  const { attributes, family, write } = wires.sources()[0] as RouteSource;
  for (const index of which) {
    const writer = new MessageWriter(64);
    write(writer, index, false);
    const communities = new MessageWriter(64).u8(attributeFlag.optional | attributeFlag.transitive);
    const all = attributes.extendedCommunities ?? [];
    communities.u8(attributeType.extendedCommunities).u8(all.length * 8);
    for (const one of all) communities.copy(one);
    const bytes = communities.take();
    const set = rib.sets.intern({ bytes, start: 0, end: bytes.length }, undefined);
    const route = writer.take();
    rib.tableOf(family).announce({ bytes: route, at: 0, last: route.length, pathId: 0 }, set);
  }
  return rib;
};

const farEnd = (change: Partial<VpwsOptions['instance']> = {}): VpwsWires =>
  new VpwsWires({
    ...options,
    instance: { ...options.instance, localId: 20, remoteId: 10, labelStart: 500_000, ...change },
  });

describe('wires of EVPN', () => {
  it('are announced byte for byte as RFC 8214 says', () => {
    const writer = new MessageWriter(64);
    const wires = new VpwsWires(options);
    const source = wires.sources()[0] as RouteSource;
    source.write(writer, 1, false);
    // Type 1, 25 bytes, distinguisher 10.99.0.10:2, no segment, tag 13, label 400001 with the bottom bit.
    expect(hexOfBytes(writer.take())).toBe(`01190001${'0a63000a'}0002${'00'.repeat(10)}0000000d61a811`);
    const communities = source.attributes.extendedCommunities?.map((bytes) => hexOfBytes(bytes));
    expect(communities).toEqual(['0002fde800000007', '0604000405dc0000']);
    expect(layer2Attributes(layer2Community(9000, false))).toEqual({ mtu: 9000, hasControlWord: false });
    expect(extendedCommunityText(layer2Community(1500, true), 0)).toBe('L2:MTU 1500 control word');
  });

  it.each([
    ['the same', {}, 'up'],
    ['another MTU', { mtu: 9000 }, 'other MTU'],
    ['no MTU', { mtu: 0 }, 'up'],
    ['no control word', { controlWord: false }, 'other control word'],
    ['another target', { routeTargets: ['65000:8'] }, 'no route'],
  ] as const)('are up or not where the other end has %s', (_, change, state) => {
    const wires = new VpwsWires(options);
    const all = wires.states(tableOf(farEnd(change), [0]));
    expect(all).toMatchObject([
      { localId: 12, remoteId: 22, state },
      { localId: 13, remoteId: 23, state: 'no route' },
    ]);
    if (state === 'up') expect(all[0]).toMatchObject({ ownLabel: 400_000, label: 500_000 });
  });

  it('are interrupted one by one', () => {
    const wires = new VpwsWires(options);
    const table = tableOf(farEnd(), [0, 1]);
    expect(wires.interrupt(1, true).map(({ count }) => count)).toEqual([1]);
    expect(wires.states(table).map(({ state }) => state)).toEqual(['up', 'interrupted']);
    wires.interrupt(1, false);
    expect(wires.states(table).map(({ state }) => state)).toEqual(['up', 'up']);
  });
});

const byBgp: VpwsOptions = { ...options, instance: { ...options.instance, signalling: 'bgp' } };
const farEndByBgp = (change: Partial<VpwsOptions['instance']> = {}): VpwsWires =>
  new VpwsWires({
    ...byBgp,
    instance: { ...byBgp.instance, localId: 20, remoteId: 10, labelStart: 500_000, ...change },
  });

describe('wires of BGP', () => {
  it('are announced byte for byte as RFC 6624 says', () => {
    const writer = new MessageWriter(64);
    const source = new VpwsWires(byBgp).sources()[0] as RouteSource;
    source.write(writer, 1, false);
    const bytes = writer.take();
    // 19 bytes, distinguisher 10.99.0.10:2, site 13, for site 23, label 400001, a vector of one circuit that works.
    expect(hexOfBytes(bytes)).toBe(`001300010a63000a0002000d001761a81101000100`);
    expect(source.maxBytes).toBe(bytes.length);
    const text = formatNlri(familyOf('l2vpn-vpls'), bytes, 0, bytes.length);
    expect(text).toBe('10.99.0.10:2 site 13, label 400001 for site 23');
    const communities = source.attributes.extendedCommunities?.map((one) => extendedCommunityText(one, 0));
    expect(communities).toEqual(['RT:65000:7', 'L2:encapsulation 5 MTU 1500 control word']);
  });

  it.each([
    ['the same', {}, 'up'],
    ['another MTU', { mtu: 9000 }, 'other MTU'],
    ['no control word', { controlWord: false }, 'other control word'],
    ['a label for another end only', { remoteId: 11 }, 'no route'],
    ['another target', { routeTargets: ['65000:8'] }, 'no route'],
  ] as const)('are up or not where the other end has %s', (_, change, state) => {
    const all = new VpwsWires(byBgp).states(tableOf(farEndByBgp(change), [0]));
    expect(all).toMatchObject([
      { title: '12-22', state },
      { title: '13-23', state: 'no route' },
    ]);
    if (state === 'up') expect(all[0]).toMatchObject({ ownLabel: 400_000, label: 500_000 });
  });

  it('have faults that the other end tells, without a route of their own', () => {
    const rib = tableOf(farEndByBgp(), [0]);
    const table = rib.tableOf(familyOf('l2vpn-vpls'));
    const before = new MessageWriter(64);
    (farEndByBgp().sources()[0] as RouteSource).write(before, 0, false);
    const distinguisher = before.take().slice(2, 10);
    const writer = new MessageWriter(64);
    writeCircuit(writer, { distinguisher, site: 22, offset: 12, label: 500_000, failed: [true] });
    const bytes = writer.take();
    table.announce({ bytes, at: 0, last: bytes.length, pathId: 0 }, 0);
    expect(table.count).toBe(1);
    expect(new VpwsWires(byBgp).states(rib)[0]).toMatchObject({ state: 'fault of the other end', label: 500_000 });
  });
});
