import { describe, expect, it } from 'vitest';
import { hexOfBytes } from '../../../bytes/memory.ts';
import { mutationRuns } from '../../../testing/mutation-runs.ts';
import { createRandom } from '../../../testing/random.ts';
import { MessageWriter } from '../../message-writer.ts';
import { attributeFlag, attributeType } from '../attributes.ts';
import { extendedCommunityText } from '../extended-community-text.ts';
import { familyOf } from '../families.ts';
import { formatNlri } from '../nlri.ts';
import { Rib } from '../rib.ts';
import type { RouteSource } from '../route-source.ts';
import { findLabelBlock, writeVplsBlock } from './label-block.ts';
import { type VplsOptions, VplsSites } from './vpls-sites.ts';

const family = familyOf('l2vpn-vpls');
const instance = { count: 2, vpnIdStart: 7, mtu: 1500, controlWord: false, labelStart: 1000 };
const sites = { siteIdStart: 3, blockSize: 8, routeTargets: [] };

const sitesOf = (ordinal: number, change: { instance?: object; sites?: object } = {}): VplsSites =>
  new VplsSites({
    router: { ordinal, id: 0x0a63000a + ordinal, as: 65_000, address: Uint8Array.of(10, 99, 0, 10) },
    attributes: { origin: 0, asPath: [65_000], communities: [], extendedCommunities: [] } as never,
    instance: { ...instance, ...change.instance },
    sites: { ...sites, ...change.sites },
  } satisfies VplsOptions);

const bytesOf = ({ write }: RouteSource): Uint8Array => {
  const writer = new MessageWriter(64);
  write(writer, 0, false);
  return writer.take();
};

const add = (rib: Rib, sources: readonly RouteSource[]): Rib => {
  for (const source of sources) {
    const all = source.attributes.extendedCommunities;
    const communities = new MessageWriter(64).u8(attributeFlag.optional | attributeFlag.transitive);
    communities.u8(attributeType.extendedCommunities).u8(all.length * 8);
    for (const one of all) communities.copy(one);
    const attributes = communities.take();
    const set = rib.sets.intern({ bytes: attributes, start: 0, end: attributes.length }, undefined);
    const bytes = bytesOf(source);
    rib.tableOf(family).announce({ bytes, at: 0, last: bytes.length, pathId: 0 }, set);
  }
  return rib;
};

describe('sites of VPLS', () => {
  it('are announced byte for byte as RFC 4761 says', () => {
    const [first, second] = sitesOf(0).sources() as [RouteSource, RouteSource];
    // 17 bytes, distinguisher 10.99.0.10:1, site 3, labels 1000 to 1007 for sites 1 to 8.
    expect(hexOfBytes(bytesOf(first))).toBe('001100010a63000a0001000300010008003e81');
    expect(bytesOf(first)).toHaveLength(first.maxBytes);
    const text = formatNlri(family, bytesOf(second), 0, second.maxBytes);
    expect(text).toBe('10.99.0.10:2 site 3, labels 1008-1015 for sites 1-8');
    const communities = second.attributes.extendedCommunities.map((one) => extendedCommunityText(one, 0));
    expect(communities).toEqual(['RT:65000:8', 'L2:encapsulation 19 MTU 1500']);
  });

  it('have wires to all others, with the label of each end for the other', () => {
    const rib = add(add(new Rib(), sitesOf(1).sources()), sitesOf(2, { instance: { labelStart: 5000 } }).sources());
    expect(sitesOf(0).states(rib)).toEqual([
      { title: 'vpn 7 sites 3-4', state: 'up', ownLabel: 1003, label: 1002 },
      { title: 'vpn 7 sites 3-5', state: 'up', ownLabel: 1004, label: 5002 },
      { title: 'vpn 8 sites 3-4', state: 'up', ownLabel: 1011, label: 1010 },
      { title: 'vpn 8 sites 3-5', state: 'up', ownLabel: 1012, label: 5010 },
    ]);
  });

  it('announce another block once a site appears that the first one has no label for', () => {
    const [near, far] = [sitesOf(0), sitesOf(1, { sites: { siteIdStart: 20 } })];
    const [atNear, atFar] = [add(new Rib(), far.sources()), add(new Rib(), near.sources())];
    expect(near.states(atNear)[0]).toMatchObject({ title: 'vpn 7 sites 3-21', state: 'no label', ownLabel: undefined });
    const added = near.addedSources(atNear);
    expect(added.map((one) => formatNlri(family, bytesOf(one), 0, one.maxBytes))).toEqual([
      '10.99.0.10:1 site 3, labels 1016-1023 for sites 17-24',
      '10.99.0.10:2 site 3, labels 1024-1031 for sites 17-24',
    ]);
    expect(near.addedSources(atNear)).toEqual([]);
    expect(near.sources()).toHaveLength(4);
    add(atNear, far.addedSources(atFar));
    expect(near.states(atNear)[0]).toEqual({
      ...{ title: 'vpn 7 sites 3-21', state: 'up' },
      ...{ ownLabel: 1020, label: 1018 },
    });
  });

  it.each([
    ['another MTU', { instance: { mtu: 9000 } }, 'other MTU'],
    ['the control word', { instance: { controlWord: true } }, 'other control word'],
    ['the same id', { sites: { siteIdStart: 2 } }, 'site id used twice'],
    ['another target', { sites: { routeTargets: ['65000:99'] } }, 'no site'],
  ])('are not connected with one that has %s', (_, change, state) => {
    const rib = add(new Rib(), sitesOf(1, change).sources());
    expect(sitesOf(0).states(rib)[0]?.state).toBe(state);
  });

  it('go down one by one', () => {
    const own = sitesOf(0);
    const rib = add(new Rib(), sitesOf(1).sources());
    expect(own.interrupt(1, true).map((one) => hexOfBytes(bytesOf(one)))).toEqual([
      hexOfBytes(bytesOf(own.sources()[1] as RouteSource)),
    ]);
    expect(own.states(rib).map(({ state }) => state)).toEqual(['up', 'interrupted']);
    own.interrupt(1, false);
    expect(own.interrupted).toEqual([]);
  });
});

it('changed blocks are read or refused, never more', () => {
  const random = createRandom(17);
  const next = (limit: number) => Math.floor(random() * limit);
  const writer = new MessageWriter(64);
  writeVplsBlock(writer, { distinguisher: new Uint8Array(8), site: 3, offset: 1, size: 8, label: 1000 });
  const seeds = [writer.take(), Uint8Array.of(0, 19, ...new Array(8).fill(1), 0, 10, 0, 20, 1, 2, 3, 1, 0, 1, 0)];
  let read = 0;
  for (let i = 0; i < mutationRuns(20_000); i++) {
    const bytes = (seeds[i & 1] as Uint8Array).slice(0, i % 5 === 0 ? 2 + next(20) : undefined);
    for (let k = next(3); k >= 0; k--) bytes[next(bytes.length)] = next(256);
    if (findLabelBlock(bytes, 0, bytes.length) !== undefined) read++;
    formatNlri(family, bytes, 0, bytes.length);
  }
  expect(read).toBeGreaterThan(5000);
});
