import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, hexOfBytes } from '../../bytes/memory.ts';
import { formatAddress, parseAddress } from '../../ip/address.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { createRandom } from '../../testing/random.ts';
import type { MessageWriter } from '../message-writer.ts';
import type { TopologyKind } from '../topology.ts';
import type { AreaKind, PacketEnds } from './format.ts';
import type { GeneratedPrefixes } from './generated-nodes.ts';
import { isLsaChecksumValid, setLsaChecksum } from './lsa.ts';
import type { OspfOptions } from './options.ts';
import { OspfRouter } from './router.ts';
import { ospfVersion2 } from './version2/format.ts';
import { Version2Area } from './version2/generated-area.ts';
import { parseOspf, readHello, writeHello, writeOspf } from './version2/packet.ts';
import { ospfVersion3 } from './version3/format.ts';
import { Version3Area } from './version3/generated-area.ts';
import {
  parseOspf as parseOspf3,
  readHello as readHello3,
  writeHello as writeHello3,
  writeOspf as writeOspf3,
} from './version3/packet.ts';

const none = { kind: 'none' } as const;

interface PairOptions extends Partial<OspfOptions> {
  readonly areaKind?: AreaKind;
}

const createFormat = (version: number, side: number, options: PairOptions, generated: GeneratedPrefixes) => {
  const { routerId } = generated;
  const { areaKind = 'normal', network = 'point-to-point' } = options;
  const link = { routerId, areaKind, network, cost: 10, isOverloaded: false };
  if (version === 2) {
    const address = 0x0a630001 + side;
    const area = new Version2Area({ ...generated, address, areaKind });
    const own = { address, mask: 0xffffff00, authentication: none, area };
    return { area, format: ospfVersion2({ ...link, ...own }) };
  }
  const area = new Version3Area({ ...generated, areaKind, address: undefined });
  const prefix = { words: parseAddress(`2001:db8:${side + 1}::`), bits: 64 };
  const ownAddress = { words: parseAddress(`2001:db8:${side + 1}::1`), bits: 128, isOwn: true };
  const own = {
    authentication: none,
    linkLocal: addresses[3][side] as Int32Array,
    prefix,
    ownAddress,
    priority: 1,
    area,
  };
  return { area, format: ospfVersion3({ ...link, ...own, instanceId: 3 }) };
};

const addresses = {
  2: ['10.99.0.1', '10.99.0.2'].map(parseAddress),
  3: ['fe80::1', 'fe80::2'].map(parseAddress),
} as const;
const firstPrefixes = { 2: ['10.64.0.0/24', '10.96.0.0/24'], 3: ['2001:db8:6000::/64', '2001:db8:6800::/64'] } as const;

/** Two routers on one link. */
class OspfPair {
  now = 0;
  isCut = false;
  readonly routers: OspfRouter[];
  readonly destinations = new Set<string>();
  #waiting: { at: number; run: () => void }[] = [];

  constructor(
    version: 2 | 3,
    options: PairOptions,
    topologies: readonly { kind: TopologyKind; nodes: number }[],
    externals = 0,
  ) {
    const random = createRandom(3);
    const [firstPrefix, firstExternal] = firstPrefixes[version];
    this.routers = topologies.map(({ kind, nodes }, side) => {
      const routerId = 0x0a000001 + side * 0x10000;
      const { area, format } = createFormat(version, side, options, {
        routerId,
        topology: { kind, nodes, degree: 3, random, prefixesPerNode: 2, firstPrefix, offset: 0 },
        externals: {
          ...{ count: side === 0 ? externals : 0, firstPrefix: firstExternal, offset: 0 },
          ...{ isType2: true, metric: 20 },
        },
      });
      const timers = { helloSec: 10, deadSec: 40, retransmitSec: 5, priority: 1, mtu: 1500, changeSec: 0 };
      const more = {
        areaId: 0,
        network: 'point-to-point' as const,
        neighbours: [],
        ignoresMtu: false,
        area,
        format,
        random,
      };
      const source = addresses[version][side] as Int32Array;
      const router: OspfRouter = new OspfRouter(
        { routerId, ...timers, ...more, ...options },
        {
          send: (bytes, destination) => {
            this.destinations.add(formatAddress(destination));
            if (!this.isCut)
              this.#waiting.push({
                at: this.now + 1,
                run: () => this.routers[1 - side]?.receive(bytes, { source, destination }, this.now),
              });
          },
          onNeighbour() {},
        },
      );
      return router;
    });
    for (const router of this.routers) router.start(0);
  }

  run(ms: number): void {
    for (const end = this.now + ms; this.now < end; ) {
      this.now += this.#waiting.length > 0 ? 1 : 10;
      const due = this.#waiting.filter(({ at }) => at <= this.now);
      this.#waiting = this.#waiting.filter(({ at }) => at > this.now);
      for (const { run } of due) run();
      for (const router of this.routers) router.advance(this.now);
    }
  }

  get states(): number[] {
    return this.routers.flatMap(({ neighbours }) => [...neighbours.values()].map(({ state }) => state));
  }

  get types(): Set<number> {
    return new Set(this.routers.flatMap(({ lsdb }) => [...lsdb.values()].map(({ header }) => header.type)));
  }

  /** Databases without ages. */
  get databases(): string[] {
    return this.routers.map(({ lsdb }) =>
      [...lsdb.values()]
        .map(({ bytes }) => hexOfBytes(bytes, 2))
        .sort()
        .join('\n'),
    );
  }
}

describe('OSPF packets', () => {
  it('are written byte for byte as RFC 2328 defines them', () => {
    const hello = {
      mask: 0xffffff00,
      interfaceId: 0,
      helloSec: 10,
      options: 2,
      priority: 1,
      deadSec: 40,
      designated: 0,
      backup: 0,
      neighbours: [0x01010101],
    };
    const bytes = writeOspf({ type: 1, routerId: 0x02020202, areaId: 0 }, none, {
      sequence: 0,
      write: writeHello(hello),
    });
    expect(hexOfBytes(bytes)).toBe(
      '02010030 02020202 00000000 f694 0000 0000000000000000 ffffff00 000a 02 01 00000028 00000000 00000000 01010101'.replaceAll(
        ' ',
        '',
      ),
    );
    expect(readHello(parseOspf(bytes, none) as never)).toEqual(hello);
  });

  it('have valid Fletcher checksums', () => {
    // A router LSA as FRR has sent it.
    const lsa = bytesOfHex('0001 02 01 0a630002 0a630002 80000003 0000 0024 00000001 0a630000 ffffff00 0300000a');
    setLsaChecksum(lsa);
    expect(isLsaChecksumValid(lsa)).toBe(true);
    lsa[25] = 7;
    expect(isLsaChecksumValid(lsa)).toBe(false);
  });

  it('are refused with a wrong password', () => {
    const simple = (key: string) => ({ kind: 'simple', key: new TextEncoder().encode(key) }) as const;
    const write = () => {};
    const bytes = writeOspf({ type: 1, routerId: 1, areaId: 0 }, simple('secret'), { sequence: 0, write });
    expect(parseOspf(bytes, simple('secret'))).toBeDefined();
    expect(parseOspf(bytes, simple('other'))).toBeUndefined();
    expect(parseOspf(bytes, none)).toBeUndefined();
  });

  it('are written byte for byte as RFC 5340 defines them', () => {
    const ends = { source: parseAddress('fe80::1'), destination: parseAddress('ff02::5') };
    const hello = {
      ...{ mask: 0, interfaceId: 1, priority: 1, options: 0x13, helloSec: 10, deadSec: 40 },
      ...{ designated: 0, backup: 0, neighbours: [0x01010101] },
    };
    const write = writeHello3(hello);
    const bytes = writeOspf3({ type: 1, routerId: 0x02020202, areaId: 0 }, 0, { ends, write });
    expect(hexOfBytes(bytes)).toBe(
      '03010028 02020202 00000000 f77f 00 00 00000001 01 000013 000a 0028 00000000 00000000 01010101'.replaceAll(
        ' ',
        '',
      ),
    );
    expect(readHello3(parseOspf3(bytes, 0, ends) as never)).toEqual(hello);
    expect(parseOspf3(bytes, 1, ends)).toBeUndefined();
    expect(parseOspf3(bytes, 0, { ...ends, source: parseAddress('fe80::2') })).toBeUndefined();
  });

  it('announce the own address on point-to-multipoint networks, as RFC 2328 and RFC 5340 define it', () => {
    const bodies = ([2, 3] as const).map((version) => {
      const { routers } = new OspfPair(version, { network: 'point-to-multipoint' }, [
        { kind: 'none', nodes: 0 },
        { kind: 'none', nodes: 0 },
      ]);
      const own = [...(routers[0] as OspfRouter).lsdb.values()];
      const type = version === 2 ? 1 : 0x2009;
      return hexOfBytes(own.find(({ header }) => header.type === type)?.bytes.subarray(20) as Uint8Array);
    });
    expect(bodies).toEqual([
      ['0000 0001', '0a630001 ffffffff 03 00 0000'].join('').replaceAll(' ', ''),
      ['0001 2001 00000000 0a000001', '80 02 0000 20010db8 00010000 00000000 00000001'].join('').replaceAll(' ', ''),
    ]);
  });

  it.each([2, 3] as const)('of version %i are read without failure when they are changed', (version) => {
    const pair = new OspfPair(version, {}, [
      { kind: 'ring', nodes: 5 },
      { kind: 'none', nodes: 0 },
    ]);
    const seen: [Uint8Array, PacketEnds][] = [];
    const [left, right] = pair.routers as [OspfRouter, OspfRouter];
    const receive = right.receive.bind(right);
    right.receive = (bytes, ends, now) => {
      seen.push([bytes, ends]);
      receive(bytes, ends, now);
    };
    pair.run(5000);
    const before = left.lsdb.size;
    expect(before).toBe(version === 2 ? 7 : 5 * 2 + 2 * 3);
    const header = { routerId: 0x0a000001, areaId: 0 };
    const bodyAt = version === 2 ? 24 : 16;
    const change = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.nat({ max: seen.length - 1 }), change, (index, changes) => {
        const [given, ends] = seen[index] as [Uint8Array, PacketEnds];
        const bytes = given.slice();
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        // A valid checksum lets the change through to the body.
        const write = (writer: MessageWriter) => writer.copy(bytes.subarray(bodyAt));
        const type = bytes[1] as number;
        const fixed =
          version === 2
            ? writeOspf({ type, ...header }, none, { sequence: 0, write })
            : writeOspf3({ type, ...header }, 3, { ends, write });
        receive(fixed, ends, pair.now);
      }),
      { numRuns: mutationRuns(5000) },
    );
    // LSAs are protected by checksums of their own: these are right, and what they say is not.
    const lsas = [...left.lsdb.values()].map(({ bytes }) => bytes);
    fc.assert(
      fc.property(fc.nat({ max: lsas.length - 1 }), change, (index, changes) => {
        const bytes = (lsas[index] as Uint8Array).slice();
        for (const [at, value] of changes) bytes[20 + (at % (bytes.length - 20))] = value;
        bytes[15] = (bytes[15] as number) + 1;
        setLsaChecksum(bytes);
        const write = (writer: MessageWriter) => writer.u32(1).copy(bytes);
        const [, ends] = seen[0] as [Uint8Array, PacketEnds];
        const fixed =
          version === 2
            ? writeOspf({ type: 4, ...header }, none, { sequence: 0, write })
            : writeOspf3({ type: 4, ...header }, 3, { ends, write });
        receive(fixed, ends, pair.now);
        pair.now += 10;
        right.advance(pair.now);
      }),
      { numRuns: mutationRuns(2000) },
    );
  });
});

describe.each([2, 3] as const)('two routers of OSPF version %i', (version) => {
  /** LSAs of a generated router, and of a router itself. */
  const [each, own] = version === 2 ? [1, 1] : [2, 3];
  const kinds: TopologyKind[] = ['grid', 'ring', 'tree', 'mesh', 'random'];

  it.each(kinds)('have the same database after a %s of routers was flooded', (kind) => {
    const pair = new OspfPair(
      version,
      {},
      [
        { kind, nodes: 30 },
        { kind: 'ring', nodes: 4 },
      ],
      50,
    );
    pair.run(20_000);
    expect(pair.states).toEqual([6, 6]);
    expect(pair.routers[1]?.lsdb.size).toBe(34 * each + 2 * own + 50);
    expect(pair.databases[0]).toBe(pair.databases[1]);
  });

  it('elect a designated router on a broadcast network', () => {
    const pair = new OspfPair(version, { network: 'broadcast' }, [
      { kind: 'none', nodes: 0 },
      { kind: 'none', nodes: 0 },
    ]);
    pair.run(60_000);
    expect(pair.states).toEqual([6, 6]);
    const names = version === 2 ? [0x0a630002, 0x0a630001] : [0x0a010001, 0x0a000001];
    expect(pair.routers.map(({ designated, backup }) => [designated, backup])).toEqual([names, names]);
    // Two router LSAs and the network LSA; in version 3 also two of the link and the prefixes of the network.
    expect(pair.routers[0]?.lsdb.size).toBe(version === 2 ? 3 : 6);
    expect(pair.databases[0]).toBe(pair.databases[1]);
  });

  it.each(['non-broadcast', 'point-to-multipoint'] as const)(
    'send no multicast on %s networks with neighbours',
    (network) => {
      const all = addresses[version];
      const pair = new OspfPair(version, { network, neighbours: [...all] }, [
        { kind: 'ring', nodes: 4 },
        { kind: 'none', nodes: 0 },
      ]);
      pair.run(60_000);
      expect(pair.states).toEqual([6, 6]);
      expect(pair.databases[0]).toBe(pair.databases[1]);
      expect(pair.destinations).toEqual(new Set(all.map((address) => formatAddress(address))));
      const hasNetwork = pair.types.has(version === 2 ? 2 : 0x2002);
      expect(hasNetwork).toBe(network === 'non-broadcast');
    },
  );

  it('flood changes, lose each other after the dead interval and find each other again', () => {
    const pair = new OspfPair(version, { changeSec: 5 }, [
      { kind: 'ring', nodes: 10 },
      { kind: 'none', nodes: 0 },
    ]);
    pair.run(30_000);
    expect(pair.databases[0]).toBe(pair.databases[1]);
    pair.isCut = true;
    pair.run(41_000);
    expect(pair.states).toEqual([]);
    expect(pair.routers[0]?.lastError).toBe('dead interval expired');
    pair.isCut = false;
    pair.run(30_000);
    expect(pair.states).toEqual([6, 6]);
    expect(pair.databases[0]).toBe(pair.databases[1]);
  });

  it('take everything back when one of them stops', () => {
    const pair = new OspfPair(
      version,
      { areaKind: 'nssa' },
      [
        { kind: 'tree', nodes: 20 },
        { kind: 'none', nodes: 0 },
      ],
      10,
    );
    pair.run(20_000);
    expect(pair.routers[1]?.lsdb.size).toBe(20 * each + 2 * own + 10);
    pair.routers[0]?.stop(pair.now);
    pair.run(1000);
    expect(pair.routers[1]?.lsdb.size).toBe(own);
  });

  it('refresh their LSAs for hours', () => {
    const pair = new OspfPair(version, { helloSec: 100, deadSec: 400 }, [
      { kind: 'ring', nodes: 3 },
      { kind: 'none', nodes: 0 },
    ]);
    pair.run(2 * 3600_000);
    expect(pair.routers[1]?.lsdb.size).toBe(3 * each + 2 * own);
    expect(pair.databases[0]).toBe(pair.databases[1]);
  });
});
