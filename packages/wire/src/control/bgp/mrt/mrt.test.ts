import { describe, expect, it } from 'vitest';
import { bytesOfHex, copyOf, hexOfBytes } from '../../../bytes/memory.ts';
import { mutationRuns } from '../../../testing/mutation-runs.ts';
import { MessageWriter } from '../../message-writer.ts';
import { createBgpPair } from '../../testing/bgp-pair.ts';
import { writeAttributes } from '../attributes.ts';
import { describeAttributes } from '../describe-attributes.ts';
import { familyOf } from '../families.ts';
import { importAttributes } from './import-attributes.ts';
import { ImportedTable } from './imported-table.ts';
import { MrtReader, type MrtRoute } from './reader.ts';

const v4 = familyOf('ipv4-unicast');
const v6 = familyOf('ipv6-unicast');

/** A record of TABLE_DUMP_V2 around a body in hexadecimal. */
const record = (subtype: number, body: string, type = 13): Uint8Array => {
  const bytes = bytesOfHex(body);
  return new MessageWriter().u32(1_700_000_000).u16(type).u16(subtype).u32(bytes.length).copy(bytes).take();
};
const joined = (...parts: readonly Uint8Array[]): Uint8Array => {
  const writer = new MessageWriter();
  for (const part of parts) writer.copy(part);
  return writer.take();
};

// Collector 198.51.100.4, view "abc"; peers: IPv4 with an AS number of two bytes, and IPv6 with one of four.
const peers = record(
  1,
  'c6336404 0003 616263 0002 00 c0000201 c0000201 fde8 03 c0000202 20010db8000000000000000000000002 fa56ea00',
);
// Attributes: ORIGIN IGP, AS_PATH 65000 4200000000 {1,2}, NEXT_HOP, MED 5, COMMUNITIES 65000:1.
const path = '400214 0202 0000fde8 fa56ea00 0102 00000001 00000002';
const attributes4 = `40010100 ${path} 400304c0000201 80040400000005 c00804fde80001`;
// MP_REACH_NLRI with a next hop alone; LOCAL_PREF 300; AGGREGATOR 4200000000; a large community; an unknown attribute.
const hop6 = '800e11 10 20010db8000000000000000000000002';
const attributes6 = `40010102 4002060201fa56ea00 ${hop6} 4005040000012c c00708fa56ea00c0000201 c0200c000000010000000200000003 e0f002beef`;
const lengthOf = (hex: string) => (hex.replaceAll(' ', '').length / 2).toString(16).padStart(4, '0');
const entry = (peer: number, attributes: string, pathId = '') =>
  `${peer.toString(16).padStart(4, '0')} 65535f00 ${pathId} ${lengthOf(attributes)} ${attributes}`;
const table4 = record(2, `00000000 18 cb0071 0002 ${entry(0, attributes4)} ${entry(1, attributes6)}`);
const table6 = record(4, `00000001 20 20010db8 0001 ${entry(1, attributes6)}`);
const paths4 = record(
  8,
  `00000002 16 c63364 0002 ${entry(0, attributes4, '00000007')} ${entry(0, attributes4, '00000008')}`,
);
// BGP4MP, a table of multicast routes.
const strange = joined(record(4, '00', 16), record(3, '00000000'));
const file = joined(peers, table4, strange, table6, paths4);

const readAll = (bytes: Uint8Array, chunk = bytes.length) => {
  const routes: (Omit<MrtRoute, 'nlri' | 'attributes'> & { nlri: string; attributes: string })[] = [];
  const reader = new MrtReader((route) => {
    const hex = ({ bytes: all, start, end }: MrtRoute['nlri']) => hexOfBytes(all, start, end);
    routes.push({ ...route, nlri: hex(route.nlri), attributes: hex(route.attributes) });
  });
  for (let at = 0; at < bytes.length; at += chunk) reader.read(copyOf(bytes, at, at + chunk));
  reader.end();
  return { reader, routes };
};

describe('a file of routes', () => {
  it('is read byte for byte as RFC 6396 and RFC 8050 define it', () => {
    const { reader, routes } = readAll(file);
    expect(reader.peers).toEqual([
      { routerId: 0xc0000201, address: bytesOfHex('c0000201'), as: 65_000 },
      { routerId: 0xc0000202, address: bytesOfHex('20010db8000000000000000000000002'), as: 4_200_000_000 },
    ]);
    const [peer0, peer1] = reader.peers;
    const plain = { originatedAt: 0x65535f00, pathId: 0, entry: 0, peerIndex: 1, peer: peer1, family: v4 };
    const first = { ...plain, peerIndex: 0, peer: peer0, attributes: attributes4.replaceAll(' ', '') };
    expect(routes).toEqual([
      { ...first, nlri: '18cb0071' },
      { ...plain, entry: 1, nlri: '18cb0071', attributes: attributes6.replaceAll(' ', '') },
      { ...plain, family: v6, nlri: '2020010db8', attributes: attributes6.replaceAll(' ', '') },
      { ...first, pathId: 7, nlri: '16c63364' },
      { ...first, pathId: 8, entry: 1, nlri: '16c63364' },
    ]);
    expect(reader.counters).toEqual({ records: 6, routes: 5, skipped: 2 });
  });

  it.each([1, 3, 100])('is the same in pieces of %i bytes', (chunk) => {
    expect(readAll(file, chunk).routes).toEqual(readAll(file).routes);
  });

  it.each([
    ['that ends early', copyOf(file, 0, file.length - 1), /^MRT record at byte \d+: the file ends within it$/],
    ['with a peer that is not listed', joined(peers, record(2, `00000000 00 0001 ${entry(2, '')}`)), /peer 2 is not/],
    ['with routes before the peers', table4, /^MRT record at byte 0: peer 0 is not/],
    ['with a prefix that is too long', joined(peers, record(2, '00000000 21 0000000000 0000')), /a prefix of 33 bits/],
    ['with a record that is cut off', joined(peers, record(2, '00000000 18 0a00')), /too short/],
    ['with bytes behind the routes', joined(peers, record(2, '00000000 08 0a 0000 00')), /too long/],
    [
      'with attributes that do not fit',
      joined(peers, record(2, `00000000 00 0001 ${entry(0, '400105')}`)),
      /too short/,
    ],
    ['with an endless record', bytesOfHex('00000000 000d0002 ffffffff'), /a length of 4294967295 bytes/],
  ])('%s is refused, with the place', (_, bytes, message) => {
    expect(() => readAll(bytes)).toThrow(message);
  });
});

const hex = (text: string) => text.replaceAll(' ', '');

describe('imported attributes', () => {
  const written = (attributes: string, options: { isInternal: boolean; fourByteAs: boolean }) => {
    const writer = new MessageWriter();
    const { isInternal, fourByteAs } = options;
    const read = importAttributes(bytesOfHex(attributes), { localAs: 65_010, isInternal });
    writeAttributes(writer, read, { fourByteAs, nextHop4: undefined });
    return hexOfBytes(writer.take());
  };

  it('keep all that passes between networks, with the own AS before the path', () => {
    expect(written(attributes4, { isInternal: false, fourByteAs: true })).toBe(
      hex('40010100 400218 0203 0000fdf2 0000fde8 fa56ea00 0102 00000001 00000002 80040400000005 c00804fde80001'),
    );
    expect(written(attributes6, { isInternal: false, fourByteAs: true })).toBe(
      hex('40010102 40020a 0202 0000fdf2 fa56ea00 c00708fa56ea00c0000201 c0200c000000010000000200000003 e0f002beef'),
    );
  });

  it('keep the preference within the AS', () => {
    expect(written(attributes6, { isInternal: true, fourByteAs: true })).toMatch(
      /^400101024002060201fa56ea004005040000012c/,
    );
    expect(written(attributes4, { isInternal: true, fourByteAs: true })).toContain('40050400000064');
  });

  it('are written for neighbours that know short AS numbers only', () => {
    expect(written(attributes6, { isInternal: true, fourByteAs: false })).toBe(
      hex(`40010102 4002040201 5ba0 4005040000012c c01106 0201 fa56ea00
        c00706 5ba0 c0000201 c01208 fa56ea00 c0000201 c0200c000000010000000200000003 e0f002beef`).replaceAll(/\s/g, ''),
    );
  });
});

describe('an imported table', () => {
  const importFile = (bytes: Uint8Array, options: { peerIndex?: number; maxRoutes?: number } = {}) => {
    const table = new ImportedTable({ maxRoutes: 1e6, ...options });
    const reader = new MrtReader((route) => table.add(route));
    reader.read(bytes);
    reader.end();
    return table;
  };
  const hops = new Map([
    [v4, bytesOfHex('c0000201')],
    [v6, bytesOfHex('20010db8000000000000000000000001')],
  ]);
  const options = { localAs: 65_000, isInternal: false, nextHopOf: (family: typeof v4) => hops.get(family) };

  it('takes the first route to each prefix, or those of one peer', () => {
    expect(importFile(file).count).toBe(3);
    expect(importFile(file, { peerIndex: 1 }).count).toBe(2);
    expect(importFile(file, { peerIndex: 0 }).count).toBe(2);
    const limited = importFile(file, { maxRoutes: 2 });
    expect([limited.count, limited.left]).toEqual([2, 1]);
  });

  it('is announced over a session with its attributes', () => {
    const prefix = (i: number) => `18 ${(0x0a0000 + i).toString(16).padStart(6, '0')}`;
    const many = Array.from({ length: 5000 }, (_, i) =>
      record(
        2,
        `00000000 ${prefix(i)} 0001 ${entry(0, i % 5 === 0 ? attributes4 : attributes4.replace('00000005', (i % 1000).toString(16).padStart(8, '0')))}`,
      ),
    );
    const sources = importFile(joined(peers, table6, ...many)).sources(options);
    expect(sources.reduce((sum, { count }) => sum + count, 0)).toBe(5001);
    const pair = createBgpPair({ capabilities: { families: [v4, v6] }, leftSources: sources });
    pair.run(5000);
    expect(pair.right.rib.tables.map(({ family, count }) => [family.name, count]).toSorted()).toEqual([
      ['ipv4-unicast', 5000],
      ['ipv6-unicast', 1],
    ]);
    const shown = pair.right.rib
      .tableOf(v6)
      .list(0, 1)
      .map(({ route, attributes, nextHop }) => {
        const { detail, nextHop: hop } = describeAttributes(attributes, nextHop, true);
        return `${route} via ${hop}: ${detail}`;
      });
    expect(shown).toEqual(['2001:db8::/32 via 2001:db8::1: origin incomplete, path 65000 4200000000']);
    expect(importFile(file).sources({ ...options, nextHopOf: () => undefined })).toEqual([]);
  });
});

it('changed files are read or refused, never more', () => {
  let state = 11;
  const next = (limit: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % limit;
  };
  const counts = { read: 0, refused: 0 };
  for (let i = 0; i < mutationRuns(20_000); i++) {
    const bytes = copyOf(file, 0, i % 7 === 0 ? next(file.length) : file.length);
    for (let k = next(3); k >= 0 && bytes.length > 0; k--) bytes[next(bytes.length)] = next(256);
    const table = new ImportedTable({ maxRoutes: 100 });
    const reader = new MrtReader((route) => table.add(route));
    try {
      reader.read(bytes);
      reader.end();
      counts.read++;
    } catch (error) {
      expect((error as Error).message).toMatch(/^MRT record at byte \d+: /);
      counts.refused++;
    }
    const writer = new MessageWriter();
    for (const source of table.sources({ localAs: 1, isInternal: false, nextHopOf: () => new Uint8Array(4) })) {
      writeAttributes(writer, source.attributes, { fourByteAs: i % 2 === 0, nextHop4: undefined });
      for (let index = 0; index < source.count; index++) source.write(writer, index, false);
    }
  }
  expect(Math.min(counts.read, counts.refused)).toBeGreaterThan(3000);
});
