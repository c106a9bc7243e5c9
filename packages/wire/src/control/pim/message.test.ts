import { describe, expect, it } from 'vitest';
import { checksumOf, sumBytes } from '../../bytes/checksum.ts';
import { bytesOfHex, copyOf, hexOfBytes, Memory } from '../../bytes/memory.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { bytesOfAddress as ip } from '../address-bytes.ts';
import { ends4, groupOf as group, PimLink } from '../testing/pim-link.ts';
import { findPimMessage, type PimEnds, type PimMessage, writePim } from './message.ts';
import { findRegistered, registeredPacket } from './registered-packet.ts';

const ends6: PimEnds = {
  addresses: Int32Array.from(
    ['fe80::1', 'ff02::d'].flatMap((text) => [0, 4, 8, 12].map((at) => new DataView(ip(text).buffer).getInt32(at))),
  ),
  isV6: true,
};

describe('messages', () => {
  const messages: readonly (readonly [PimMessage, string])[] = [
    [
      {
        kind: 'hello',
        holdSec: 105,
        pruneDelay: { canTrack: true, propagationMs: 500, overrideMs: 2500 },
        drPriority: 1,
        generationId: 0x12345678,
      },
      '2000 eaf8 0001 0002 0069 0002 0004 81f4 09c4 0013 0004 00000001 0014 0004 12345678',
    ],
    [
      // (*,G) is joined, (S,G) pruned.
      {
        kind: 'joinPrune',
        upstream: ip('10.0.0.1'),
        holdSec: 210,
        groups: [
          { group: group('239.1.1.1'), joined: [{ address: ip('10.0.0.9'), flags: 7 }], pruned: [] },
          { group: group('232.1.1.1'), joined: [], pruned: [{ address: ip('192.0.2.1'), flags: 4 }] },
        ],
      },
      `2300 1c98 0100 0a000001 00 02 00d2 01000020 ef010101 0001 0000 01000720 0a000009
        01000020 e8010101 0000 0001 01000420 c0000201`,
    ],
    [{ kind: 'register', isBorder: false, isNull: true, packet: bytesOfHex('4500') }, '2100 9eff 40000000 4500'],
    [
      { kind: 'registerStop', group: group('239.1.1.1'), source: ip('192.0.2.1') },
      '2200 29db 01000020 ef010101 0100 c0000201',
    ],
    [
      {
        kind: 'assert',
        group: group('239.1.1.1'),
        source: ip('192.0.2.1'),
        isRendezvousTree: true,
        preference: 110,
        metric: 20,
      },
      '2500 a658 01000020 ef010101 0100 c0000201 8000006e 00000014',
    ],
    [
      {
        kind: 'bootstrap',
        isNoForward: true,
        fragmentTag: 7,
        hashBits: 30,
        priority: 100,
        router: ip('10.0.0.2'),
        ranges: [
          {
            group: group('224.0.0.0', 4),
            count: 2,
            points: [{ address: ip('10.0.0.2'), holdSec: 150, priority: 192 }],
          },
        ],
      },
      '2480 0374 0007 1e 64 0100 0a000002 01000004 e0000000 02 01 0000 0100 0a000002 0096 c0 00',
    ],
    [
      { kind: 'candidate', priority: 5, holdSec: 150, point: ip('10.0.0.3'), groups: [group('224.0.0.0', 4)] },
      '2800 ea5c 01 05 0096 0100 0a000003 01000004 e0000000',
    ],
  ];

  it.each(messages)('of kind $kind are written byte for byte as RFC 7761 and RFC 5059 define them', (message, hex) => {
    const bytes = writePim(message, ends4);
    expect(hexOfBytes(bytes)).toBe(hex.replaceAll(/\s/g, ''));
    expect(findPimMessage(bytes, ends4)).toEqual(message);
  });

  it('over IPv6 have a checksum with the addresses', () => {
    const hello = {
      kind: 'hello',
      holdSec: 105,
      pruneDelay: undefined,
      drPriority: undefined,
      generationId: undefined,
    } as const;
    const bytes = writePim(hello, ends6);
    const header =
      'fe800000000000000000000000000001 ff02000000000000000000000000000d 0000000a 00000067 2000 0000 0001 0002 0069';
    const memory = new Memory(bytesOfHex(header));
    const sum = checksumOf(sumBytes(memory, 0, memory.bytes.length))
      .toString(16)
      .padStart(4, '0');
    expect(hexOfBytes(bytes)).toBe(`2000${sum}000100020069`);
    expect(findPimMessage(bytes, ends6)).toEqual(hello);
    expect(findPimMessage(bytes, ends4)).toBeUndefined();
  });

  it('are refused with a wrong checksum, version, length or address', () => {
    for (const hex of ['2000', '1000efff', '2f00d0ff', '2000deff 0001 0003 0069', '2200', '2000 1234'])
      expect(findPimMessage(bytesOfHex(hex), ends4)).toBeUndefined();
  });

  it('that register may have a checksum over everything', () => {
    const bytes = bytesOfHex('2100 0000 00000000 4500 1234');
    const memory = new Memory(bytes);
    memory.view.setUint16(2, checksumOf(sumBytes(memory, 0, bytes.length)));
    expect(findPimMessage(bytes, ends4)).toMatchObject({ kind: 'register', packet: bytesOfHex('45001234') });
  });

  it('that register hold a packet of the source', () => {
    const [source, to] = [ip('192.0.2.1'), ip('239.1.1.1')];
    expect(hexOfBytes(registeredPacket(source, to, true))).toBe('45000014000000004067c87fc0000201ef010101');
    for (const isNull of [true, false]) {
      expect(findRegistered(registeredPacket(source, to, isNull))).toEqual({ source, group: to });
      const [source6, to6] = [ip('2001:db8::1'), ip('ff3e::8000:1')];
      expect(findRegistered(registeredPacket(source6, to6, isNull))).toEqual({ source: source6, group: to6 });
    }
    expect(registeredPacket(source, to, false)).toHaveLength(20 + 8 + 32);
    expect(findRegistered(new Uint8Array(19))).toBeUndefined();
  });
});

it('changed messages are read or refused, never more', () => {
  const upstream = ip('10.0.0.1');
  const joins = { periodSec: 60, firstGroup: ip('239.0.0.254'), groupCount: 3, sources: [] };
  const link = new PimLink();
  const router = link.add({ rendezvous: { kind: 'bootstrap', bootstrapPriority: 7 }, joins, upstream: ip('10.0.0.2') });
  link.add({ upstream, joins, rendezvous: { kind: 'bootstrap', bootstrapPriority: 5 } });
  link.start();
  link.run(1000);
  const source = ip('10.0.0.2');
  const seeds = [
    '2000 0000 0001 0002 0069 0002 0004 81f4 09c4 0013 0004 00000001 0014 0004 12345678',
    '2300 0000 0100 0a000001 00 02 00d2 01000020 ef010101 0001 0000 01000720 0a000009 01000020 e8010101 0000 0001 01000420 c0000201',
    '2100 0000 40000000 4500001400000000406709cbc0000201ef010101',
    '2200 0000 01000020 ef010101 0100 c0000201',
    '2500 0000 01000020 ef010101 0100 c0000201 8000006e 00000014',
    '2480 0000 0007 1e 64 0100 0a000002 01000004 e0000000 02 01 0000 0100 0a000002 0096 c0 00',
    '2800 0000 01 05 0096 0100 0a000003 01000004 e0000000',
  ].map(bytesOfHex);
  let state = 5;
  const next = (limit: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % limit;
  };
  const counts = { read: 0, refused: 0 };
  for (let i = 0; i < mutationRuns(20_000); i++) {
    const seed = seeds[i % seeds.length] as Uint8Array;
    const bytes = copyOf(seed, 0, i % 5 === 0 ? 4 + next(seed.length - 4) : seed.length);
    for (let k = next(3); k >= 0; k--) bytes[next(bytes.length)] = next(3) === 0 ? next(8) : next(256);
    const memory = new Memory(bytes);
    memory.view.setUint16(2, 0);
    if (i % 10 !== 0) memory.view.setUint16(2, checksumOf(sumBytes(memory, 0, bytes.length)));
    counts[findPimMessage(bytes, ends4) === undefined ? 'refused' : 'read']++;
    router.receive(bytes, source, { destination: ip('224.0.0.13'), now: 1000 + i });
    if (i % 100 === 0) router.advance(1000 + i);
  }
  expect(Math.min(counts.read, counts.refused)).toBeGreaterThan(3000);
  expect(router.counters.invalid).toBe(counts.refused);
});
