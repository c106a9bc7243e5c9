import { describe, expect, it } from 'vitest';
import { hexOfBytes } from '../../../bytes/memory.ts';
import { MessageWriter } from '../../message-writer.ts';
import { attributeFlag, attributeType } from '../attributes.ts';
import { extendedCommunityText } from '../extended-community-text.ts';
import { familyOf } from '../families.ts';
import { Rib } from '../rib.ts';
import { layer2Attributes, layer2Community } from './communities.ts';
import { type VpwsOptions, VpwsWires } from './vpws.ts';

const options: VpwsOptions = {
  router: { ordinal: 1, id: 0x0a63000a, as: 65_000, address: Uint8Array.of(10, 99, 0, 10) },
  attributes: { origin: 0, asPath: [65_000], communities: [], extendedCommunities: [] } as never,
  instance: {
    ...{ count: 2, localId: 10, remoteId: 20, mtu: 1500, controlWord: true, labelStart: 400_000 },
    routeTargets: ['65000:7'],
  },
};

/** The routes of a neighbour in a table, with the communities of its source. */
const tableOf = (wires: VpwsWires, which: readonly number[]): Rib => {
  const rib = new Rib();
  const { attributes, write } = wires.source();
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
    rib.tableOf(familyOf('l2vpn-evpn')).announce({ bytes: route, at: 0, last: route.length, pathId: 0 }, set);
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
    const source = wires.source();
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
    expect(wires.interrupt(1, true).count).toBe(1);
    expect(wires.states(table).map(({ state }) => state)).toEqual(['up', 'interrupted']);
    wires.interrupt(1, false);
    expect(wires.states(table).map(({ state }) => state)).toEqual(['up', 'up']);
  });
});
