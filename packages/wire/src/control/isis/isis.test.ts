import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hexOfBytes } from '../../bytes/memory.ts';
import { parseAddress } from '../../ip/address.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import type { IsisAuthentication } from './authentication.ts';
import { IsisNetwork, systemIdAfter } from './generated-network.ts';
import { adjacencyState, type IsisOptions } from './options.ts';
import { type Level, parsePdu, tlvType, valuesOf } from './pdu.ts';
import { IsisRouter } from './router.ts';
import { segmentTlvs } from './segments.ts';

const area = Uint8Array.of(0x49, 0, 1);

const optionsOf = (index: number, nodes: number, more: Partial<IsisOptions> = {}): IsisOptions => {
  const systemId = systemIdAfter('010000000001', index * 10_000);
  const network = new IsisNetwork({
    systemId,
    areas: [area],
    routerId: 0x0a000001,
    hasIpv4: true,
    hasIpv6: true,
    isMultiTopology: more.isMultiTopology ?? false,
    hostNameOf: (n) => `r-${n}`,
    firstPrefix: 0,
    topology: {
      kind: 'ring',
      nodes,
      degree: 3,
      prefixesPerNode: 3,
      ipv4Start: '10.64.0.0/24',
      ipv6Start: '2001:db8::/64',
      random: () => 0.5,
    },
  });
  return {
    systemId,
    network,
    levels: [2],
    areas: [area],
    address: 0x0a000001 + index,
    prefixBits: 24,
    mac: `02000000000${index}`,
    hasIpv4: true,
    hasIpv6: true,
    isMultiTopology: false,
    linkLocal: parseAddress('fe80::1'),
    isBroadcast: false,
    helloSec: 10,
    holdMultiplier: 3,
    metric: 10,
    priority: 64,
    pads: true,
    csnpSec: 10,
    mtu: 1500,
    isOverloaded: false,
    lifetimeSec: 1200,
    refreshSec: 900,
    authentication: { kind: 'none' },
    changeSec: 0,
    random: () => 0.5,
    ...more,
  };
};

it('segments are written byte for byte as RFC 8667 says', () => {
  const [capability, reachability] = segmentTlvs({ blockStart: 16_000, blockSize: 8000, firstIndex: 7 }, 0xc0000201, 2);
  expect(capability).toMatchObject({ type: 242 });
  // Router id, no flags; IPv4 with 8,000 labels from 16,000 on; the algorithm of the shortest path.
  expect(hexOfBytes(capability?.value as Uint8Array)).toBe('c000020100' + '020980001f400103003e80' + '130100');
  // Metric 0, /32 with sub-TLVs, the prefix, index 9 of the node.
  expect(reachability).toMatchObject({ type: 135 });
  expect(hexOfBytes(reachability?.value as Uint8Array)).toBe('0000000060c0000201' + '080306400000000009');
});

/** Two routers on a link; `loses` decides about each PDU. */
const linkOf = (one: IsisOptions, other: IsisOptions, loses: () => boolean = () => false) => {
  const queue: { pdu: Uint8Array; from: number }[] = [];
  const events: string[] = [];
  const make = (options: IsisOptions, index: number) =>
    new IsisRouter(options, {
      send: (pdu) => {
        expect(parsePdu(pdu)).toBeDefined();
        expect(pdu.length).toBeLessThanOrEqual(1497);
        if (!loses()) queue.push({ pdu, from: index });
      },
      onAdjacency: (_, isUp) => events.push(`${index} ${isUp ? 'up' : 'down'}`),
    });
  const options = [one, other] as const;
  const routers = [make(one, 0), make(other, 1)] as const;
  let now = 0;
  const run = (ms: number) => {
    for (const end = now + ms; now < end; now += 10) {
      for (const router of routers) router.advance(now);
      for (const { pdu, from } of queue.splice(0)) routers[1 - from]?.receive(pdu, options[from as 0 | 1].mac, now);
    }
  };
  const start = () => {
    for (const router of routers) router.start(now);
  };
  return { routers, run, events, start, now: () => now };
};

const databaseOf = (router: IsisRouter, level: Level = 2) =>
  [...(router.databaseOf(level)?.lsps.values() ?? [])].map(({ id, sequence }) => `${id} ${sequence}`).sort();

const digestOf = (key: string): IsisAuthentication => ({
  kind: 'digest',
  prefix: Uint8Array.of(54),
  length: 16,
  filler: new Uint8Array(16),
  digest: (pdu) => createHmac('md5', key).update(pdu).digest(),
});

describe('IS-IS', () => {
  it.each([
    ['a point-to-point link', {}],
    ['a broadcast network', { isBroadcast: true }],
    ['a point-to-point link with HMAC-MD5', { authentication: digestOf('secret') }],
    [
      'a broadcast network with a password',
      { isBroadcast: true, authentication: { kind: 'simple', key: Uint8Array.of(1, 2) } as const },
    ],
  ])('has the same database at both ends of %s', (_, more) => {
    const link = linkOf(optionsOf(1, 200, more), optionsOf(2, 50, more));
    link.start();
    link.run(5000);
    expect(link.events.sort()).toEqual(['0 up', '1 up']);
    const [one, other] = link.routers;
    // Both routers, those behind them, and the pseudonode of a broadcast network.
    expect(one.databaseSize).toBe(252 + ('isBroadcast' in more ? 1 : 0));
    expect(databaseOf(one)).toEqual(databaseOf(other));
    one.stop(link.now());
    link.run(100);
    const left = [...(other.databaseOf(2)?.lsps.values() ?? [])].filter(({ lifetimeSec }) => lifetimeSec > 0);
    expect(left.length).toBeLessThanOrEqual(51 + ('isBroadcast' in more ? 1 : 0));
  });

  it.each([false, true])('ends with the same database though packets are lost (broadcast: %s)', (isBroadcast) => {
    let state = 1;
    let isLossy = true;
    const loses = () => {
      state = (state * 48_271) % 0x7fff_ffff;
      return isLossy && state % 4 === 0;
    };
    const more = { isBroadcast, helloSec: 3 };
    const link = linkOf(optionsOf(1, 100, more), optionsOf(2, 100, more), loses);
    link.start();
    link.run(30_000);
    isLossy = false;
    link.run(25_000);
    expect(databaseOf(link.routers[0])).toEqual(databaseOf(link.routers[1]));
  });

  it('keeps levels apart, and level 1 within its area', () => {
    const both = linkOf(optionsOf(1, 10, { levels: [1, 2] }), optionsOf(2, 0, { levels: [1, 2] }));
    both.start();
    both.run(1000);
    for (const level of [1, 2] as const) expect(databaseOf(both.routers[1], level)).toHaveLength(12);
    const foreign = { levels: [1, 2] as const, areas: [Uint8Array.of(0x49, 0, 2)] };
    const apart = linkOf(optionsOf(1, 10, { levels: [1, 2] }), optionsOf(2, 0, foreign));
    apart.start();
    apart.run(1000);
    expect(databaseOf(apart.routers[1], 1)).toHaveLength(1);
    expect(databaseOf(apart.routers[1], 2)).toHaveLength(12);
  });

  it('has no neighbour with another key', () => {
    const link = linkOf(
      optionsOf(1, 0, { authentication: digestOf('a') }),
      optionsOf(2, 0, { authentication: digestOf('b') }),
    );
    link.start();
    link.run(1000);
    expect(link.events).toEqual([]);
    expect(link.routers[0].lastError).toBe('authentication failed');
  });

  it('loses a neighbour that is silent, and finds it again with newer LSPs', () => {
    const link = linkOf(optionsOf(1, 5), optionsOf(2, 5));
    link.start();
    link.run(1000);
    link.routers[0].interrupt(link.now());
    link.run(31_000);
    expect(link.events).toEqual(['1 up', '0 up', '0 down', '1 down']);
    expect([...link.routers[1].adjacencies.values()]).toEqual([]);
    link.start();
    link.run(11_000);
    expect([...link.routers[1].adjacencies.values()]).toMatchObject([{ state: adjacencyState.up }]);
    expect(databaseOf(link.routers[0])).toEqual(databaseOf(link.routers[1]));
  });

  it('announces the prefixes of each router, in fragments where they are many', () => {
    const { network } = optionsOf(1, 4);
    const [ipv4] = valuesOf({ tlvs: network.tlvsOf(1) }, tlvType.reachableIpv4);
    expect([...(ipv4 ?? [])].slice(0, 8)).toEqual([0, 0, 0, 10, 24, 10, 64, 3]);
    const [ipv6] = valuesOf({ tlvs: network.tlvsOf(1) }, tlvType.reachableIpv6);
    expect([...(ipv6 ?? [])].slice(0, 14)).toEqual([0, 0, 0, 10, 0, 64, 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 3]);
  });

  it('has a topology of its own for IPv6, byte for byte as RFC 5120 defines it', () => {
    const link = linkOf(optionsOf(1, 2, { isMultiTopology: true }), optionsOf(2, 0, { isMultiTopology: true }));
    link.start();
    link.run(1000);
    const own = link.routers[0].databaseOf(2)?.lsps.get('0100000027110000')?.bytes as Uint8Array;
    const { tlvs } = parsePdu(own) as NonNullable<ReturnType<typeof parsePdu>>;
    const hex = (type: number) => valuesOf({ tlvs }, type).map((value) => hexOfBytes(value));
    expect(hex(229)).toEqual(['00000002']);
    const neighbours = ['010000004e210000000a00', '010000002712000000 0a00'.replace(' ', '')].join('');
    expect([hex(22), hex(222)]).toEqual([[neighbours], [`0002${neighbours}`]]);
    const { network } = optionsOf(1, 4, { isMultiTopology: true });
    expect(valuesOf({ tlvs: network.tlvsOf(0) }, tlvType.reachableIpv6)).toEqual([]);
    const [prefixes] = valuesOf({ tlvs: network.tlvsOf(0) }, 237);
    expect(hexOfBytes(prefixes?.subarray(0, 16) as Uint8Array)).toBe('00020000000a004020010db800000000');
  });

  it('leaves a neighbour without the topology of IPv6 out of it', () => {
    const link = linkOf(optionsOf(1, 0, { isMultiTopology: true, isOverloaded: true }), optionsOf(2, 0));
    link.start();
    link.run(1000);
    const own = link.routers[0].databaseOf(2)?.lsps.get('0100000027110000')?.bytes as Uint8Array;
    const { tlvs } = parsePdu(own) as NonNullable<ReturnType<typeof parsePdu>>;
    const hex = (type: number) => valuesOf({ tlvs }, type).map((value) => hexOfBytes(value));
    expect([hex(22).length, hex(222), hex(229)]).toEqual([1, [], ['80008002']]);
  });

  it('survives whatever arrives', () => {
    const link = linkOf(optionsOf(1, 5), optionsOf(2, 5));
    const seen: Uint8Array[] = [];
    link.start();
    link.run(100);
    const [router] = link.routers;
    const spy = new IsisRouter(optionsOf(3, 5), { send: (pdu) => seen.push(pdu), onAdjacency() {} });
    spy.start(0);
    spy.advance(0);
    fc.assert(
      fc.property(
        fc.nat(seen.length - 1),
        fc.array(fc.tuple(fc.nat(200), fc.nat(255))),
        fc.nat(120),
        (which, changes, cut) => {
          const pdu = (seen[which] as Uint8Array).slice(0, Math.max(1, (seen[which] as Uint8Array).length - cut));
          for (const [at, value] of changes) if (at < pdu.length) pdu[at] = value;
          router.receive(pdu, '020000000002', link.now());
          router.advance(link.now());
        },
      ),
      { numRuns: mutationRuns(2000) },
    );
  });
});
