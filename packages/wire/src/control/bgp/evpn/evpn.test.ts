import { describe, expect, it } from 'vitest';
import { bytesOfHex, copyOf, hexOfBytes } from '../../../bytes/memory.ts';
import { mutationRuns } from '../../../testing/mutation-runs.ts';
import { MessageWriter } from '../../message-writer.ts';
import { createBgpPair } from '../../testing/bgp-pair.ts';
import { Announcer } from '../announcer.ts';
import { describeAttributes } from '../describe-attributes.ts';
import { familyOf } from '../families.ts';
import { eachNlri } from '../nlri.ts';
import { BgpError } from '../notification.ts';
import { Rib } from '../rib.ts';
import { distinguisherOf, routeTargetOf } from '../route-distinguisher.ts';
import { parseUpdate } from '../update.ts';
import { EvpnRoutes } from './generated-routes.ts';
import { HostMoves } from './host-moves.ts';
import type { EvpnOptions } from './options.ts';
import { type EvpnRoute, evpnRouteText, findEvpnRoute, writeEvpnRoute } from './route.ts';

const family = familyOf('l2vpn-evpn');
const esiText = '00:11:22:33:44:55:66:77:88:99';
const esi = bytesOfHex(esiText.replaceAll(':', ''));
const v4 = (text: string) => Uint8Array.from(text.split('.'), Number);

const options = (more: {
  readonly router?: Partial<EvpnOptions['router']>;
  readonly instance?: Partial<EvpnOptions['instance']>;
  readonly segment?: Partial<EvpnOptions['segment']>;
  readonly hosts?: Partial<EvpnOptions['hosts']>;
}): EvpnOptions => ({
  router: {
    ordinal: 0,
    id: 0xc0000201,
    as: 65_000,
    address: v4('192.0.2.1'),
    mac: bytesOfHex('020000000001'),
    ...more.router,
  },
  attributes: {
    origin: 0,
    asPath: [65_000],
    med: undefined,
    localPreference: undefined,
    communities: [],
    extendedCommunities: [],
  },
  instance: {
    count: 1,
    encapsulation: 'vxlan',
    service: 'vlan-based',
    idStart: 10_001,
    vlanStart: 0,
    routeTargets: [],
    routeTypes: ['2', '3'],
    ...more.instance,
  },
  segment: { redundancy: 'all-active', election: 'modulo', preference: 32_767, ...more.segment },
  hosts: {
    perInstance: 2,
    macStart: '02:00:5e:10:00:01',
    withIpv4: true,
    ipv4Start: '10.200.0.0/16',
    ...more.hosts,
  },
});

/** Each announced route in text form, with what is said about it. */
const announcedBy = (given: EvpnOptions): string[] => {
  const rib = new Rib();
  const announcer = new Announcer();
  for (const source of new EvpnRoutes(given).sources()) announcer.add(source, { from: 0, to: source.count });
  const messages = announcer.next(1 << 24) as Uint8Array;
  for (let at = 0; at < messages.length; ) {
    const end = at + (((messages[at + 16] as number) << 8) | (messages[at + 17] as number));
    rib.apply(parseUpdate(messages, at + 19, end, { fourByteAs: true }), () => false);
    at = end;
  }
  return rib
    .tableOf(family)
    .list(0, 100_000)
    .map(({ route, attributes, nextHop }) => {
      const { detail, nextHop: hop } = describeAttributes(attributes, nextHop, true);
      return `${route} via ${hop}: ${detail.replace('origin IGP, path 65000, ', '')}`;
    });
};

describe('routes', () => {
  const distinguisher = distinguisherOf('192.0.2.1:1');
  const rd = '0001c00002010001';
  const address = v4('10.0.0.1');
  const mac = bytesOfHex('02005e100001');
  const examples: readonly (readonly [EvpnRoute, string, string])[] = [
    [
      { type: 1, distinguisher, esi, tag: 0xffffffff, label: 0 },
      `0119 ${rd} 00112233445566778899 ffffffff 000000`,
      `192.0.2.1:1 [1]:[4294967295]:[${esiText}]`,
    ],
    [
      { type: 2, distinguisher, esi, tag: 0, mac, address, labels: [10_001, 50_000] },
      `0228 ${rd} 00112233445566778899 00000000 30 02005e100001 20 0a000001 002711 00c350`,
      '192.0.2.1:1 [2]:[0]:[48]:[02:00:5e:10:00:01]:[32]:[10.0.0.1]',
    ],
    [
      { type: 2, distinguisher, esi, tag: 7, mac, address: new Uint8Array(0), labels: [16] },
      `0221 ${rd} 00112233445566778899 00000007 30 02005e100001 00 000010`,
      '192.0.2.1:1 [2]:[7]:[48]:[02:00:5e:10:00:01]',
    ],
    [
      { type: 3, distinguisher, tag: 0, address },
      `0311 ${rd} 00000000 20 0a000001`,
      '192.0.2.1:1 [3]:[0]:[32]:[10.0.0.1]',
    ],
    [
      { type: 4, distinguisher, esi, address: bytesOfHex('20010db8000000000000000000000001') },
      `0423 ${rd} 00112233445566778899 80 20010db8000000000000000000000001`,
      `192.0.2.1:1 [4]:[${esiText}]:[128]:[2001:db8::1]`,
    ],
    [
      { type: 5, distinguisher, esi, tag: 0, bits: 24, prefix: v4('10.1.2.0'), gateway: v4('0.0.0.0'), label: 10_001 },
      `0522 ${rd} 00112233445566778899 00000000 18 0a010200 00000000 002711`,
      '192.0.2.1:1 [5]:[0]:[24]:[10.1.2.0]',
    ],
  ];

  it.each(examples)(
    'of type $type are written byte for byte as RFC 7432 and RFC 9136 define them',
    (route, hex, text) => {
      const writer = new MessageWriter();
      writeEvpnRoute(writer, route);
      const bytes = writer.take();
      expect(hexOfBytes(bytes)).toBe(hex.replaceAll(' ', ''));
      expect(findEvpnRoute(bytes, 0, bytes.length)).toEqual(route);
      expect(evpnRouteText(bytes, 0, bytes.length)).toBe(text);
    },
  );

  it('of other types or with lengths that do not fit are shown as bytes', () => {
    for (const hex of ['060100', `0312${rd}0000000020 0a00000100`, `0310${rd}00000000180a0000`]) {
      const bytes = bytesOfHex(hex);
      expect(findEvpnRoute(bytes, 0, bytes.length)).toBeUndefined();
      expect(evpnRouteText(bytes, 0, bytes.length)).toMatch(/^type \d [0-9a-f]+$/);
    }
  });

  it('stay the same when their labels, gateway or segment change', () => {
    const rib = new Rib();
    const set = rib.sets.intern({ bytes: new Uint8Array(1), start: 0, end: 1 }, undefined);
    const announce = (route: EvpnRoute) => {
      const writer = new MessageWriter();
      writeEvpnRoute(writer, route);
      rib.tableOf(family).announce({ bytes: writer.bytes, at: 0, last: writer.length, pathId: 0 }, set);
    };
    const esi2 = new Uint8Array(10);
    for (const [route] of examples) {
      announce(route);
      if (route.type === 1) announce({ ...route, label: 5 });
      if (route.type === 2) announce({ ...route, esi: esi2, labels: [9] });
      if (route.type === 5) announce({ ...route, esi: esi2, gateway: address, label: 9 });
    }
    expect(rib.count).toBe(examples.length);
    announce({ type: 3, distinguisher, tag: 1, address });
    announce({ type: 2, distinguisher, esi, tag: 7, mac, address, labels: [16] });
    expect(rib.count).toBe(examples.length + 2);
  });
});

describe('distinguishers and targets', () => {
  it.each([
    ['65000:10001', '0000fde800002711', '0002fde800002711'],
    ['192.0.2.1:5', '0001c00002010005', '0102c00002010005'],
    ['4200000000:7', '0002fa56ea000007', '0202fa56ea000007'],
  ])('of %s', (text, distinguisher, target) => {
    expect(hexOfBytes(distinguisherOf(text))).toBe(distinguisher);
    expect(hexOfBytes(routeTargetOf(text))).toBe(target);
  });

  it('are refused where a part is too large', () => {
    expect(() => distinguisherOf('192.0.2.1:65535', 1)).toThrow('192.0.2.1:65536');
    expect(() => routeTargetOf('4294967296:1')).toThrow(RangeError);
  });
});

describe('a router', () => {
  it('announces its hosts and where broadcasts go', () => {
    expect(announcedBy(options({ instance: { count: 2 } }))).toEqual([
      '192.0.2.1:1 [3]:[0]:[32]:[192.0.2.1] via 192.0.2.1: extended RT:65000:10001 ET:8, tunnel type 6 label 10001',
      '192.0.2.1:1 [2]:[0]:[48]:[02:00:5e:10:00:01]:[32]:[10.200.0.1] via 192.0.2.1: extended RT:65000:10001 ET:8',
      '192.0.2.1:1 [2]:[0]:[48]:[02:00:5e:10:00:02]:[32]:[10.200.0.2] via 192.0.2.1: extended RT:65000:10001 ET:8',
      '192.0.2.1:2 [3]:[0]:[32]:[192.0.2.1] via 192.0.2.1: extended RT:65000:10002 ET:8, tunnel type 6 label 10002',
      '192.0.2.1:2 [2]:[0]:[48]:[02:00:5e:10:00:03]:[32]:[10.200.0.1] via 192.0.2.1: extended RT:65000:10002 ET:8',
      '192.0.2.1:2 [2]:[0]:[48]:[02:00:5e:10:00:04]:[32]:[10.200.0.2] via 192.0.2.1: extended RT:65000:10002 ET:8',
    ]);
  });

  it('of another number has hosts and distinguishers of its own', () => {
    const instance = {
      routeDistinguisher: '65000:100',
      routeTargets: ['65000:1', '192.0.2.9:2'],
      service: 'vlan-aware',
    } as const;
    const router = { ordinal: 1, address: bytesOfHex('20010db8000000000000000000000002') };
    const given = options({ router, instance: { ...instance, vlanStart: 10 }, hosts: { withIpv4: false } });
    const detail = 'extended RT:65000:1 RT:192.0.2.9:2 ET:8';
    expect(announcedBy(given)).toEqual([
      `65000:101 [3]:[10]:[128]:[2001:db8::2] via 2001:db8::2: ${detail}, tunnel type 6 label 10001`,
      `65000:101 [2]:[10]:[48]:[02:00:5e:10:00:03] via 2001:db8::2: ${detail}`,
      `65000:101 [2]:[10]:[48]:[02:00:5e:10:00:04] via 2001:db8::2: ${detail}`,
    ]);
  });

  it('announces its segment, how the forwarder is chosen, and prefixes', () => {
    const given = options({
      instance: { encapsulation: 'mpls', idStart: 1000, routeTypes: ['1', '4', '5'] },
      segment: { identifier: esiText, redundancy: 'single-active', election: 'preference' },
    });
    const esi0 = `[${esiText}]`;
    expect(announcedBy(given)).toEqual([
      `192.0.2.1:0 [4]:${esi0}:[32]:[192.0.2.1] via 192.0.2.1: extended ES-import:11:22:33:44:55:66 DF:2:32767`,
      `192.0.2.1:0 [1]:[4294967295]:${esi0} via 192.0.2.1: extended RT:65000:1000 ESI-label:16017 single-active`,
      `192.0.2.1:1 [1]:[0]:${esi0} via 192.0.2.1: extended RT:65000:1000`,
      '192.0.2.1:1 [5]:[0]:[16]:[10.200.0.0] via 192.0.2.1: extended RT:65000:1000 Rmac:02:00:00:00:00:01',
    ]);
  });

  it('at a segment announces the same hosts as the others, and the targets of many instances in several routes', () => {
    const instance = { count: 1000, routeTypes: ['1', '2'] };
    const segment = { identifier: esiText };
    const texts = announcedBy(options({ router: { ordinal: 3 }, instance, segment, hosts: { perInstance: 1 } }));
    expect(texts.filter((text) => text.includes('[4294967295]'))).toHaveLength(3);
    expect(texts).toHaveLength(3 + 2000);
    expect(texts.find((text) => text.includes('[2]'))).toMatch(/02:00:5e:10:00:01\]:\[32\]:\[10\.200\.0\.1\]/);
  });

  it.each([
    [{ instance: { routeTypes: ['4'] } }, 'segment.identifier'],
    [{ instance: { encapsulation: 'mpls', idStart: 15 } as const }, 'instance.idStart'],
    [{ instance: { encapsulation: 'mpls', idStart: 0xfffff, count: 2 } as const }, 'instance.count'],
    [{ instance: { idStart: 0xffffff, count: 2 } }, 'instance.count'],
    [{ instance: { service: 'vlan-aware' } as const }, 'instance.vlanStart'],
    [{ instance: { vlanStart: 4094, count: 2 } }, 'instance.count'],
    [{ hosts: { ipv4Start: '10.0.0.0/30', perInstance: 3 } }, 'hosts.ipv4Start'],
  ])('with %j is refused', (more, path) => {
    expect(() => new EvpnRoutes(options(more))).toThrow(path);
  });

  it('moves hosts, over a session, with a number that grows', () => {
    const routes = [0, 1].map((ordinal) => new EvpnRoutes(options({ router: { ordinal, id: 0xc0000201 + ordinal } })));
    const [first, second] = routes as [EvpnRoutes, EvpnRoutes];
    expect([first.firstHost, second.firstHost, first.hostsPerRouter]).toEqual([0, 2, 2]);
    const pairs = routes.map((one) =>
      createBgpPair({ capabilities: { families: [family] }, leftSources: one.sources() }),
    );
    for (const pair of pairs) pair.run(1000);
    expect(pairs.map((pair) => pair.right.rib.count)).toEqual([3, 3]);
    const moves = new HostMoves({ routers: 2, hostsPerRouter: 2, intervalMs: 1000 });
    moves.start(0);
    expect(moves.advance(999)).toBeUndefined();
    for (let now = 1000; now <= 5000; now += 1000) {
      const move = moves.advance(now);
      if (move === undefined) throw new Error('nothing moves');
      pairs[move.to]?.left.say(routes[move.to]?.movedHost(move.host, move.sequence) as never, false);
      pairs[move.from]?.left.say(routes[move.from]?.movedHost(move.host, move.sequence - 1) as never, true);
      for (const pair of pairs) pair.run(100);
    }
    // Every host has moved once, the first one twice and is back.
    expect([...moves.moved].map(({ host, to, sequence }) => [host, to, sequence])).toEqual([
      [0, 0, 2],
      [1, 1, 1],
      [2, 0, 1],
      [3, 0, 1],
    ]);
    const hosts = pairs.map(({ right }) =>
      right.rib
        .tableOf(family)
        .list(0, 10)
        .flatMap(({ route, attributes, nextHop }) => {
          const { detail } = describeAttributes(attributes, nextHop, true);
          return route.includes('[2]') ? [`${route.slice(-30)} ${/MM:\d/.exec(detail)?.[0]}`] : [];
        }),
    );
    expect(hosts.map((list) => list.toSorted())).toEqual([
      [
        '5e:10:00:01]:[32]:[10.200.0.1] MM:2',
        '5e:10:00:03]:[32]:[10.200.0.3] MM:1',
        '5e:10:00:04]:[32]:[10.200.0.4] MM:1',
      ],
      ['5e:10:00:02]:[32]:[10.200.0.2] MM:1'],
    ]);
  });
});

it('changed routes are read, shown as bytes or refused, never more', () => {
  const writer = new MessageWriter();
  const given = options({ instance: { routeTypes: ['1', '2', '3', '4', '5'] }, segment: { identifier: esiText } });
  for (const source of new EvpnRoutes(given).sources()) source.write(writer, 0, false);
  const seed = writer.take();
  let state = 3;
  const next = (limit: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % limit;
  };
  const counts = { read: 0, unread: 0, refused: 0 };
  const table = new Rib().tableOf(family);
  for (let i = 0; i < mutationRuns(20_000); i++) {
    const bytes = copyOf(seed, 0, i % 3 === 0 ? 1 + next(seed.length) : seed.length);
    for (let k = next(4); k >= 0; k--) bytes[next(bytes.length)] = next(3) === 0 ? next(64) : next(256);
    try {
      eachNlri({ family, hasPathIds: false }, { bytes, start: 0, end: bytes.length }, (all, at, last, pathId) => {
        counts[findEvpnRoute(all, at, last) === undefined ? 'unread' : 'read']++;
        evpnRouteText(all, at, last);
        table.withdraw({ bytes: all, at, last, pathId });
      });
    } catch (error) {
      expect(error).toBeInstanceOf(BgpError);
      counts.refused++;
    }
  }
  expect(Math.min(counts.read, counts.unread, counts.refused)).toBeGreaterThan(2000);
});
