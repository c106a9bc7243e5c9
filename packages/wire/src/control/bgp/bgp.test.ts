import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, hexOfBytes } from '../../bytes/memory.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { createBgpPair, sourceOf } from '../testing/bgp-pair.ts';
import { Announcer } from './announcer.ts';
import { familyOf } from './families.ts';
import { keepaliveMessage, MessageReader, notificationMessage, refreshMessage } from './message.ts';
import { BgpError } from './notification.ts';
import { openMessage, parseOpen } from './open.ts';
import { Rib } from './rib.ts';
import { parseUpdate } from './update.ts';

const marker = 'ff'.repeat(16);
const v4 = familyOf('ipv4-unicast');
const v6 = familyOf('ipv6-unicast');
const capabilities = {
  families: [v4],
  fourByteAs: true,
  routeRefresh: true,
  extendedMessages: false,
  extendedNextHop: [],
  addPath: { sends: [], receives: [] },
  gracefulRestart: undefined,
};

describe('messages', () => {
  it('are written byte for byte as RFC 4271, 2918, 4760 and 6793 define them', () => {
    expect(hexOfBytes(keepaliveMessage())).toBe(`${marker}001304`);
    expect(hexOfBytes(notificationMessage(new BgpError(6, 2)))).toBe(`${marker}0015030602`);
    expect(hexOfBytes(refreshMessage(v6))).toBe(`${marker}00170500020001`);
    const open = { as: 196_618, holdSec: 90, routerId: 0xc0000201, capabilities };
    // AS_TRANS in the header; multiprotocol, route refresh, four-byte AS.
    const body = '04 5ba0 005a c0000201 10 020e 0104 0001 00 01 0200 4104 0003000a';
    const bytes = openMessage(open);
    expect(hexOfBytes(bytes)).toBe(`${marker}002d01${body.replaceAll(' ', '')}`);
    expect(parseOpen(bytes, 19, bytes.length)).toEqual(open);
  });

  it('carry more than 255 bytes of capabilities with long lengths (RFC 9072)', () => {
    const names = [
      'ipv4-unicast',
      'ipv6-unicast',
      'vpnv4',
      'vpnv6',
      'l2vpn-vpls',
      'l2vpn-evpn',
      'ipv4-labeled',
    ] as const;
    const more = ['ipv6-labeled', 'ipv4-multicast', 'ipv6-multicast', 'ipv4-flowspec', 'ipv6-flowspec'] as const;
    const families = [...names, ...more].map(familyOf);
    const all = {
      ...capabilities,
      families,
      extendedMessages: true,
      extendedNextHop: families,
      addPath: { sends: families, receives: families },
      gracefulRestart: { restartSec: 120, isRestarting: true, families, forwarded: families.slice(3) },
    };
    const open = { as: 65_000, holdSec: 180, routerId: 1, capabilities: all };
    const bytes = openMessage(open);
    expect(bytes[28]).toBe(255);
    expect(parseOpen(bytes, 19, bytes.length)).toEqual(open);
  });

  it('announce and withdraw prefixes in one message each', () => {
    const announcer = new Announcer();
    const source = sourceOf({ first: '10.128.0.0/24', count: 2, communities: [(65_000 << 16) | 100] });
    announcer.add(source, { from: 0, to: 2 });
    announcer.add(source, { from: 1, to: 2, isWithdrawn: true });
    announcer.addEndOfRib(v6);
    const expected = [
      // ORIGIN IGP, AS_PATH 65000, NEXT_HOP 192.0.2.1, MED 0, COMMUNITIES 65000:100, two prefixes.
      `${marker}004102 0000 0022 40010100 4002060201 0000fde8 400304c0000201 80040400000000 c00804fde80064 180a8000 180a8001`,
      `${marker}001b02 0004 180a8001 0000`,
      `${marker}001d02 0000 0006 800f03000201`,
    ];
    expect(hexOfBytes(announcer.next(10_000) as Uint8Array)).toBe(expected.join('').replaceAll(' ', ''));
    expect(announcer.next(10_000)).toBeUndefined();
  });
});

const updateHex = (attributes: string, nlri: string): Uint8Array => {
  const body = bytesOfHex(attributes);
  const length = body.length.toString(16).padStart(4, '0');
  return bytesOfHex(`0000${length}${attributes}${nlri}`);
};
const origin = '40010100';
const asPath = '40020602010000fde8';
const nextHop = '400304c0000201';
const options = { fourByteAs: true };

describe('errors in updates', () => {
  it.each([
    ['attributes longer than the message', '0000ffff', 1],
    ['withdrawn routes longer than the message', 'ffff0000', 1],
    ['an attribute longer than the list', '00000004400104ff', 5],
    ['MP_REACH_NLRI twice', '00000012 800e06000101040000 800e06000101040000', 9],
  ])('%s resets the session', (_name, hex, subcode) => {
    const bytes = bytesOfHex(hex);
    expect(() => parseUpdate(bytes, 0, bytes.length, options)).toThrow(expect.objectContaining({ code: 3, subcode }));
  });

  it.each([
    ['a missing ORIGIN', asPath + nextHop, 3],
    ['an ORIGIN of 3', `40010103${asPath}${nextHop}`, 6],
    ['wrong flags', `c0010100${asPath}${nextHop}`, 4],
    ['a wrong length', `4001020000${asPath}${nextHop}`, 5],
    ['an AS_PATH that is cut off', `${origin}40020502010000fd${nextHop}`, 11],
    ['a multicast next hop', `${origin}${asPath}400304e0000001`, 8],
    ['an unknown well-known attribute', `${origin}${asPath}${nextHop}40630100`, 2],
  ])('%s withdraws the routes (RFC 7606)', (_name, attributes, subcode) => {
    const rib = new Rib();
    const good = updateHex(origin + asPath + nextHop, '180a8000');
    rib.apply(parseUpdate(good, 0, good.length, options), () => false);
    expect(rib.count).toBe(1);
    const bad = updateHex(attributes, '180a8000');
    const update = parseUpdate(bad, 0, bad.length, options);
    expect(update.defect).toMatchObject({ code: 3, subcode });
    rib.apply(update, () => false);
    expect(rib.count).toBe(0);
    expect(rib.sets.count).toBe(0);
  });

  it('a prefix that is too long resets the session', () => {
    const bytes = updateHex(origin + asPath + nextHop, '210a80000000');
    const update = parseUpdate(bytes, 0, bytes.length, options);
    expect(() => new Rib().apply(update, () => false)).toThrow(expect.objectContaining({ code: 3, subcode: 10 }));
  });
});

describe('two sessions', () => {
  const families = [v4, v6, familyOf('vpnv4'), familyOf('ipv4-labeled'), familyOf('ipv4-flowspec')];

  it('exchange routes of several families, extended messages and four-byte AS numbers', () => {
    const pair = createBgpPair({
      capabilities: { families, extendedMessages: true },
      leftAs: 4_200_000_000,
      leftSources: [
        sourceOf({ first: '10.0.0.0/24', count: 5000 }),
        sourceOf({ first: '2001:db8::/48', count: 3000, family: v6 }),
        ...families.slice(2).map((family) => sourceOf({ first: '172.16.0.0/28', count: 100, family })),
      ],
    });
    pair.run(1000);
    expect(pair.left.state).toBe('established');
    expect(pair.right.rib.tables.map(({ family, count }) => [family.name, count])).toEqual([
      ['ipv4-unicast', 5000],
      ['ipv6-unicast', 3000],
      ['vpnv4', 100],
      ['ipv4-labeled', 100],
      ['ipv4-flowspec', 100],
    ]);
    const routes = pair.right.rib.tables[0]?.list(4999, 10);
    expect(routes).toMatchObject([{ route: '10.19.135.0/24' }]);
    expect(pair.right.rib.tables[2]?.list(1, 1)).toMatchObject([{ route: '192.0.2.1:1 172.16.0.16/28' }]);
    pair.left.change({ from: 0, to: 0.2, isWithdrawn: true });
    pair.run(1000);
    expect(pair.right.rib.tables[0]?.count).toBe(4000);
    expect(pair.right.rib.tables[2]?.count).toBe(80);
  });

  it('announce several paths to a prefix with add-path', () => {
    const pair = createBgpPair({
      capabilities: { addPath: { sends: [v4], receives: [v4] } },
      leftSources: [sourceOf({ first: '10.0.0.0/24', count: 10 })],
      pathsPerPrefix: 4,
    });
    pair.run(1000);
    expect(pair.right.rib.count).toBe(40);
    expect(pair.right.rib.sets.count).toBe(4);
  });

  it('keep one connection when both have opened one', () => {
    const pair = createBgpPair({ leftSources: [], bothConnect: true });
    pair.run(2000);
    expect([pair.left.state, pair.right.state]).toEqual(['established', 'established']);
    expect(pair.openStreams).toBe(1);
    expect(pair.left.counters.established).toBe(1);
  });

  it('give up a connection that does not open and open another one', () => {
    const pair = createBgpPair({ leftSources: [] });
    pair.isDeaf = true;
    pair.run(4000);
    expect(pair.left.state).toBe('connect');
    pair.isDeaf = false;
    pair.run(1500);
    expect([pair.left.state, pair.openStreams, pair.left.lastError]).toEqual(['established', 1, 'no answer']);
  });

  it('answer a route refresh', () => {
    const pair = createBgpPair({ leftSources: [sourceOf({ first: '10.0.0.0/24', count: 10 })] });
    pair.run(1000);
    pair.right.requestRefresh();
    pair.run(1000);
    expect(pair.right.rib.counters.announced).toBe(20);
    expect(pair.right.rib.count).toBe(10);
  });

  it('end when the neighbour falls silent, and come back', () => {
    const pair = createBgpPair({ leftSources: [sourceOf({ first: '10.0.0.0/24', count: 10 })] });
    pair.run(1000);
    pair.isCut = true;
    pair.run(100_000);
    expect(pair.right.rib.count).toBe(0);
    expect(pair.right.lastError).toBe('sent hold timer expired (4/0)');
    pair.isCut = false;
    pair.run(20_000);
    expect(pair.right.state).toBe('established');
    expect(pair.right.rib.count).toBe(10);
  });

  it('keep routes over a graceful restart and drop those that do not come back', () => {
    const gracefulRestart = { restartSec: 60, isRestarting: false, families: [v4], forwarded: [] };
    const pair = createBgpPair({
      capabilities: { gracefulRestart },
      leftSources: [sourceOf({ first: '10.0.0.0/24', count: 10 })],
    });
    pair.run(1000);
    pair.left.restart(pair.now);
    pair.run(1000);
    expect(pair.right.state).not.toBe('established');
    expect(pair.right.rib.count).toBe(10);
    pair.left.start(pair.now);
    pair.run(10_000);
    expect(pair.right.peerOpen?.capabilities.gracefulRestart?.isRestarting).toBe(true);
    expect(pair.right.rib.count).toBe(10);
    pair.left.restart(pair.now);
    pair.run(70_000);
    expect(pair.right.rib.count).toBe(0);
  });

  it('refuse a neighbour of another AS', () => {
    const pair = createBgpPair({ leftSources: [], leftAs: 64_999 });
    pair.run(1000);
    expect(pair.right.state).not.toBe('established');
    expect(pair.left.lastError).toBe('received OPEN message error: bad peer AS (2/2)');
  });
});

it('changed messages end with a NOTIFICATION or are accepted, never with another failure', () => {
  const announcer = new Announcer();
  const sources = [v4, v6, familyOf('vpnv4'), familyOf('ipv6-labeled'), familyOf('ipv6-flowspec')].map((family) =>
    sourceOf({ first: family.addressBits === 32 ? '10.0.0.0/24' : '2001:db8::/48', count: 3, family }),
  );
  for (const source of sources) {
    announcer.add(source, { from: 0, to: 3 });
    announcer.add(source, { from: 0, to: 3, isWithdrawn: true });
  }
  const updates = announcer.next(100_000) as Uint8Array;
  const open = openMessage({ as: 65_000, holdSec: 90, routerId: 1, capabilities });
  const seeds = [updates, open, keepaliveMessage(), notificationMessage(new BgpError(6, 4)), refreshMessage(v4)];
  const change = fc.tuple(fc.nat(), fc.nat({ max: 255 }));
  fc.assert(
    fc.property(
      fc.nat({ max: seeds.length - 1 }),
      fc.array(change, { minLength: 1, maxLength: 6 }),
      (seed, changes) => {
        const bytes = (seeds[seed] as Uint8Array).slice();
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        const rib = new Rib();
        try {
          new MessageReader().read(bytes, (type, input, start, end) => {
            if (type === 1) parseOpen(input, start, end);
            if (type === 2) rib.apply(parseUpdate(input, start, end, options), () => false);
          });
        } catch (error) {
          expect(error).toBeInstanceOf(BgpError);
          expect((error as BgpError).message).toMatch(/^(message header|OPEN message|UPDATE message) error/);
        }
      },
    ),
    { numRuns: mutationRuns(20_000) },
  );
});
