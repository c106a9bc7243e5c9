import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, hexOfBytes } from '../../bytes/memory.ts';
import { createRandom } from '../../testing/random.ts';
import type { TopologyKind } from '../topology.ts';
import { OspfArea } from './generated-area.ts';
import { isLsaChecksumValid, setLsaChecksum } from './lsa.ts';
import type { OspfOptions } from './options.ts';
import { parseOspf, readHello, writeHello, writeOspf } from './packet.ts';
import { OspfRouter } from './router.ts';

const none = { kind: 'none' } as const;

/** Two routers on one link. */
class OspfPair {
  now = 0;
  isCut = false;
  readonly routers: OspfRouter[];
  #waiting: { at: number; run: () => void }[] = [];

  constructor(
    options: Partial<OspfOptions>,
    topologies: readonly { kind: TopologyKind; nodes: number }[],
    externals = 0,
  ) {
    const random = createRandom(3);
    this.routers = topologies.map(({ kind, nodes }, side) => {
      const routerId = 0x0a000001 + side * 0x10000;
      const address = 0x0a630001 + side;
      const area = new OspfArea({
        routerId,
        address,
        areaKind: options.areaKind ?? 'normal',
        topology: { kind, nodes, degree: 3, random, prefixesPerNode: 2, firstPrefix: '10.64.0.0/24' },
        externals: { count: side === 0 ? externals : 0, firstPrefix: '10.96.0.0/24', isType2: true, metric: 20 },
      });
      const own = { routerId, areaId: 0, areaKind: 'normal', address, mask: 0xffffff00, isBroadcast: false } as const;
      const timers = { helloSec: 10, deadSec: 40, retransmitSec: 5, cost: 10, priority: 1, mtu: 1500, changeSec: 0 };
      const more = { ignoresMtu: false, isOverloaded: false, authentication: none, area, random };
      const router: OspfRouter = new OspfRouter(
        { ...own, ...timers, ...more, ...options },
        {
          send: (bytes) => {
            if (!this.isCut)
              this.#waiting.push({
                at: this.now + 1,
                run: () => this.routers[1 - side]?.receive(bytes, address, this.now),
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

  it('are read without failure when they are changed', () => {
    const pair = new OspfPair({}, [
      { kind: 'ring', nodes: 5 },
      { kind: 'none', nodes: 0 },
    ]);
    const seen: Uint8Array[] = [];
    const [left, right] = pair.routers as [OspfRouter, OspfRouter];
    const receive = right.receive.bind(right);
    right.receive = (bytes, source, now) => {
      seen.push(bytes);
      receive(bytes, source, now);
    };
    pair.run(5000);
    expect(left.lsdb.size).toBe(7);
    const change = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.nat({ max: seen.length - 1 }), change, (index, changes) => {
        const bytes = (seen[index] as Uint8Array).slice();
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        // A valid checksum lets the change through to the body.
        const fixed = writeOspf({ type: bytes[1] as number, routerId: 0x0a000001, areaId: 0 }, none, {
          sequence: 0,
          write: (writer) => writer.copy(bytes.subarray(24)),
        });
        receive(fixed, 0x0a630001, pair.now);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('two OSPF routers', () => {
  const kinds: TopologyKind[] = ['grid', 'ring', 'tree', 'mesh', 'random'];

  it.each(kinds)('have the same database after a %s of routers was flooded', (kind) => {
    const pair = new OspfPair(
      {},
      [
        { kind, nodes: 30 },
        { kind: 'ring', nodes: 4 },
      ],
      50,
    );
    pair.run(20_000);
    expect(pair.states).toEqual([6, 6]);
    expect(pair.routers[1]?.lsdb.size).toBe(30 + 4 + 2 + 50);
    expect(pair.databases[0]).toBe(pair.databases[1]);
  });

  it('elect a designated router on a broadcast network', () => {
    const pair = new OspfPair({ isBroadcast: true }, [
      { kind: 'none', nodes: 0 },
      { kind: 'none', nodes: 0 },
    ]);
    pair.run(60_000);
    expect(pair.states).toEqual([6, 6]);
    expect(pair.routers.map(({ designated, backup }) => [designated, backup])).toEqual([
      [0x0a630002, 0x0a630001],
      [0x0a630002, 0x0a630001],
    ]);
    // Two router LSAs and the network LSA.
    expect(pair.routers[0]?.lsdb.size).toBe(3);
    expect(pair.databases[0]).toBe(pair.databases[1]);
  });

  it('flood changes, lose each other after the dead interval and find each other again', () => {
    const pair = new OspfPair({ changeSec: 5 }, [
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
      { areaKind: 'nssa' },
      [
        { kind: 'tree', nodes: 20 },
        { kind: 'none', nodes: 0 },
      ],
      10,
    );
    pair.run(20_000);
    expect(pair.routers[1]?.lsdb.size).toBe(32);
    pair.routers[0]?.stop(pair.now);
    pair.run(1000);
    expect(pair.routers[1]?.lsdb.size).toBe(1);
  });

  it('refresh their LSAs for hours', () => {
    const pair = new OspfPair({ helloSec: 100, deadSec: 400 }, [
      { kind: 'ring', nodes: 3 },
      { kind: 'none', nodes: 0 },
    ]);
    pair.run(2 * 3600_000);
    expect(pair.routers[1]?.lsdb.size).toBe(5);
    expect(pair.databases[0]).toBe(pair.databases[1]);
  });
});
