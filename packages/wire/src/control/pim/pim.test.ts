import { describe, expect, it } from 'vitest';
import { bytesOfAddress as ip, textOfAddress } from '../address-bytes.ts';
import { ends4, groupOf as group, PimLink } from '../testing/pim-link.ts';
import { Bootstrap, pointHash } from './bootstrap.ts';
import { type PimMessage, writePim } from './message.ts';

describe('neighbours', () => {
  it('hear each other and elect a designated router by priority, then by address', () => {
    const link = new PimLink();
    const [first, second, third] = [link.add({ drPriority: 5 }), link.add({}), link.add({})];
    link.start();
    link.run(1000);
    expect(link.routers.map(({ neighbours }) => neighbours.all.size)).toEqual([2, 2, 2]);
    expect(link.routers.map(({ designated }) => textOfAddress(designated))).toEqual(Array(3).fill('10.0.0.1'));
    first.stop();
    link.run(1000);
    expect([second, third].map(({ designated }) => textOfAddress(designated))).toEqual(['10.0.0.3', '10.0.0.3']);
    expect(link.events).toContain('1 10.0.0.1 false has left');
    expect(first.neighbours.all.size).toBe(0);
  });

  it('without a priority make the address count alone', () => {
    const link = new PimLink();
    const router = link.add({ drPriority: 5 });
    link.start();
    const old = writePim(
      { kind: 'hello', holdSec: 105, pruneDelay: undefined, drPriority: undefined, generationId: 1 },
      ends4,
    );
    router.receive(old, ip('10.0.0.200'), { destination: ip('224.0.0.13'), now: 0 });
    expect(textOfAddress(router.designated)).toBe('10.0.0.200');
    expect(router.neighbours.pruneDelay).toEqual({ canTrack: false, propagationMs: 500, overrideMs: 2500 });
  });

  it('are forgotten when they fall silent, and noticed when they restart', () => {
    const link = new PimLink();
    const [first, second] = [link.add({}), link.add({ propagationMs: 900 })];
    link.start();
    link.run(40_000);
    expect(first.neighbours.pruneDelay).toMatchObject({ propagationMs: 900, overrideMs: 2500 });
    second.drop();
    second.start(link.now);
    link.run(1000);
    expect(link.events).toContain('0 10.0.0.2 true has restarted');
    link.isCut.add(1);
    link.run(110_000);
    expect(first.neighbours.all.size).toBe(0);
    expect([first.lastError, first.counters.flaps]).toEqual(['10.0.0.2 has fallen silent', 2]);
    expect(textOfAddress(first.designated)).toBe('10.0.0.1');
  });

  it('greet each other soon, then at their interval', () => {
    const link = new PimLink();
    link.add({});
    link.add({});
    link.start();
    link.run(66_000);
    const times = link.sent.filter(({ from, message }) => from === 1 && message.kind === 'hello').map(({ at }) => at);
    expect(times.length).toBeGreaterThanOrEqual(3);
    expect(times.length).toBeLessThanOrEqual(4);
    link.routers[0]?.dropNeighbour(ip('10.0.0.2'), 'BFD is down');
    expect(link.events.at(-2)).toBe('0 10.0.0.2 false BFD is down');
  });
});

const upstream = ip('10.0.0.1');
const joins = { periodSec: 60, firstGroup: ip('239.0.0.254'), groupCount: 3, sources: [] };

describe('trees', () => {
  it('are joined at the upstream neighbour, repeated, and given back', () => {
    const link = new PimLink();
    const up = link.add({});
    const down = link.add({
      upstream,
      joins,
      rendezvous: { kind: 'static', address: ip('10.9.9.9'), bootstrapPriority: 0 },
    });
    link.start();
    link.run(7000);
    expect([...up.received.all.keys()]).toEqual(['239.0.0.254 *', '239.0.0.255 *', '239.0.1.0 *']);
    expect(link.of('joinPrune')).toHaveLength(1);
    const [message] = link.of('joinPrune') as (PimMessage & { kind: 'joinPrune' })[];
    expect(message?.holdSec).toBe(210);
    expect(message?.groups[0]?.joined).toEqual([{ address: ip('10.9.9.9'), flags: 7 }]);
    link.run(120_000);
    expect(link.of('joinPrune')).toHaveLength(3);
    expect([down.counters.joinsSent, up.counters.joinsReceived]).toEqual([9, 9]);
    down.stop();
    link.run(500);
    expect(up.received.all.size).toBe(0);
  });

  it('of many groups are packed into messages, with their sources', () => {
    const link = new PimLink();
    const up = link.add({});
    const sources = [ip('192.0.2.1'), ip('192.0.2.2')];
    link.add({
      upstream,
      mode: 'source-specific',
      joins: { ...joins, firstGroup: ip('232.0.0.1'), groupCount: 1000, sources },
    });
    link.start();
    link.run(2000);
    expect(up.received.all.size).toBe(2000);
    const messages = link.of('joinPrune') as (PimMessage & { kind: 'joinPrune' })[];
    expect(messages.map(({ groups }) => groups.length)).toEqual([...Array<number>(20).fill(49), 20]);
    expect(Math.max(...messages.map((message) => writePim(message, ends4).length))).toBeLessThanOrEqual(1400);
    expect(up.received.all.get('232.0.0.1 192.0.2.2')).toMatchObject({ source: { flags: 4 } });
  });

  it('are joined over IPv6', () => {
    const link = new PimLink();
    const six = { ...joins, firstGroup: ip('ff3e::8000:fffe') };
    const up = link.add({ address: ip('fe80::1'), joins: { ...six, groupCount: 0 } });
    const down = link.add({ address: ip('fe80::2'), joins: { ...six, sources: [ip('2001:db8::9')] } });
    link.start();
    link.run(2000);
    expect(textOfAddress(up.designated)).toBe('fe80::2');
    expect([...up.received.all.keys()]).toEqual([
      'ff3e::8000:fffe 2001:db8::9',
      'ff3e::8000:ffff 2001:db8::9',
      'ff3e::8001:0 2001:db8::9',
    ]);
    expect([up.counters.invalid, down.counters.invalid]).toEqual([0, 0]);
  });

  it('end when they are not joined again', () => {
    const link = new PimLink();
    const up = link.add({});
    link.add({ upstream, joins });
    link.start();
    link.run(2000);
    expect(up.received.all.size).toBe(3);
    link.isCut.add(1);
    link.run(209_000);
    expect(up.received.all.size).toBe(0);
  });

  it('are joined again when another router prunes them, and kept', () => {
    const link = new PimLink();
    const up = link.add({});
    const [stayer, leaver] = [link.add({ upstream, joins }), link.add({ upstream, joins })];
    link.start();
    link.run(8000);
    expect(stayer.isRunning).toBe(true);
    leaver.stop();
    link.run(6000);
    expect(up.received.all.size).toBe(3);
    expect([...up.received.all.values()].map(({ neighbour }) => textOfAddress(neighbour))).toEqual(
      Array(3).fill('10.0.0.2'),
    );
    stayer.stop();
    link.run(6000);
    expect(up.received.all.size).toBe(0);
  });

  it('that another router joins are not joined as often', () => {
    const link = new PimLink();
    link.add({});
    link.add({ upstream, joins });
    link.add({ upstream, joins });
    link.start();
    link.run(600_000);
    const groups = link
      .of('joinPrune')
      .reduce((sum, message) => sum + (message as PimMessage & { kind: 'joinPrune' }).groups.length, 0);
    // Two routers would say 3 groups 10 times each.
    expect(groups).toBeLessThan(50);
    expect(link.routers[0]?.received.all.size).toBe(3);
  });

  it('are taken from neighbours only', () => {
    const link = new PimLink();
    const up = link.add({});
    link.start();
    const join = {
      kind: 'joinPrune',
      upstream,
      holdSec: 210,
      groups: [{ group: group('239.1.1.1'), joined: [{ address: ip('10.9.9.9'), flags: 7 }], pruned: [] }],
    } as const;
    up.receive(writePim(join, ends4), ip('10.0.0.77'), { destination: ip('224.0.0.13'), now: 0 });
    expect([up.received.all.size, up.lastError]).toEqual([0, '10.0.0.77 is no neighbour']);
  });

  it.each([
    [{ mode: 'source-specific', joins }, 'joins.sources'],
    [{ rendezvous: { kind: 'none', bootstrapPriority: 0 }, joins }, 'joins.sources'],
    [
      { rendezvous: { kind: 'none', bootstrapPriority: 0 }, registers: { perSec: 1, isNull: true } },
      'registers.perSec',
    ],
    [{ joins: { ...joins, firstGroup: ip('10.0.0.1') } }, 'joins.groupStart'],
    [{ joins: { ...joins, sources: [ip('2001:db8::1')] } }, 'joins: addresses'],
  ] as const)('that cannot be joined are refused: %#', (more, path) => {
    expect(() => new PimLink().add(more)).toThrow(path);
  });
});

describe('registers', () => {
  it.each([true, false])('are sent at their pace and fall silent when they are answered (null: %s)', (isNull) => {
    const link = new PimLink();
    const point = link.add({});
    const rendezvous = { kind: 'static', address: upstream, bootstrapPriority: 0 } as const;
    const sender = link.add({
      rendezvous,
      registers: { perSec: 2, isNull },
      joins: { ...joins, sources: [ip('192.0.2.1')] },
    });
    link.start();
    link.run(29_000);
    // Three groups: each is registered once, then its answer counts for half a minute at least.
    expect([sender.counters.registersSent, point.counters.registersReceived, sender.counters.stopsReceived]).toEqual([
      3, 3, 3,
    ]);
    expect(link.sent.find(({ message }) => message.kind === 'register')?.to).toBe('10.0.0.1');
    link.run(65_000);
    expect(sender.counters.registersSent).toBeGreaterThanOrEqual(6);
  });

  it('are repeated at their pace without an answer', () => {
    const link = new PimLink();
    const sender = link.add({
      rendezvous: { kind: 'static', address: ip('10.5.5.5'), bootstrapPriority: 0 },
      registers: { perSec: 50, isNull: true },
    });
    link.start();
    link.run(10_000);
    expect(sender.counters.registersSent).toBeGreaterThan(480);
    expect(sender.counters.registersSent).toBeLessThan(510);
  });
});

describe('bootstrap', () => {
  const candidate = (priority: number, address?: Uint8Array) => ({
    rendezvous: { kind: 'bootstrap', bootstrapPriority: priority, address } as const,
  });

  it('elects the candidate of the highest priority; the others take its rendezvous points', () => {
    const link = new PimLink();
    const [low, high, listener] = [
      link.add(candidate(10)),
      link.add(candidate(20, ip('10.8.8.8'))),
      link.add({ ...candidate(0), upstream, joins }),
    ];
    link.start();
    link.run(200_000);
    expect(link.routers.map(({ bootstrap }) => bootstrap.state)).toEqual(['candidate', 'elected', 'listening']);
    for (const { bootstrap } of link.routers) {
      expect(textOfAddress(bootstrap.elected?.router as Uint8Array)).toBe('10.0.0.2');
      expect(textOfAddress(bootstrap.findPoint(ip('239.1.1.1')) as Uint8Array)).toBe('10.8.8.8');
    }
    expect([...low.received.all.values()].map(({ source }) => textOfAddress(source.address))).toEqual(
      Array(3).fill('10.8.8.8'),
    );
    high.drop();
    link.run(300_000);
    expect(low.bootstrap.state).toBe('elected');
    expect(textOfAddress(listener.bootstrap.findPoint(ip('239.1.1.1')) as Uint8Array)).toBe('10.0.0.1');
  });

  it('hears of candidates for rendezvous point and shares the groups out among them', () => {
    const link = new PimLink();
    link.add(candidate(10));
    const other = link.add(candidate(0, ip('10.0.0.2')));
    link.start();
    link.run(400_000);
    const points = new Set(
      Array.from({ length: 64 }, (_, i) => textOfAddress(other.bootstrap.findPoint(ip(`239.1.${i}.0`)) as Uint8Array)),
    );
    expect([...points].toSorted()).toEqual(['10.0.0.1', '10.0.0.2']);
    // Groups that differ in the last two bits only go to the same one.
    const find = (text: string) => other.bootstrap.findPoint(ip(text));
    expect(find('239.1.1.4')).toEqual(find('239.1.1.7'));
  });

  it('hashes as RFC 7761 defines it', () => {
    // ((1103515245 * ((1103515245 * (G & M) + 12345) ^ C) + 12345) mod 2^31.
    const mod = 2n ** 31n;
    const expected = (g: bigint, c: bigint) => (1_103_515_245n * ((1_103_515_245n * g + 12_345n) ^ c) + 12_345n) % mod;
    expect(BigInt(pointHash(ip('239.1.1.6'), 30, ip('10.0.0.2')))).toBe(expected(0xef010104n, 0x0a000002n));
    expect(BigInt(pointHash(ip('224.255.0.255'), 32, ip('192.168.1.1')))).toBe(expected(0xe0ff00ffn, 0xc0a80101n));
  });

  it('prefers longer ranges and lower priorities, and forgets points that are no longer announced', () => {
    const bootstrap = new Bootstrap({ address: ip('10.0.0.1'), priority: 0, own: undefined, random: () => 0 });
    bootstrap.start(0);
    const point = (address: string, priority: number, holdSec = 150) => ({ address: ip(address), priority, holdSec });
    const base = {
      kind: 'bootstrap',
      isNoForward: false,
      fragmentTag: 1,
      hashBits: 30,
      priority: 1,
      router: ip('10.0.0.9'),
    } as const;
    const wide = { group: group('224.0.0.0', 4), count: 2, points: [point('10.1.1.1', 5), point('10.1.1.2', 4)] };
    bootstrap.receive(
      { ...base, ranges: [wide, { group: group('239.0.0.0', 8), count: 1, points: [point('10.1.1.3', 200)] }] },
      0,
    );
    const find = (text: string) => textOfAddress(bootstrap.findPoint(ip(text)) ?? new Uint8Array(4));
    expect([find('239.1.1.1'), find('232.1.1.1')]).toEqual(['10.1.1.3', '10.1.1.2']);
    // One point of two is in another fragment.
    bootstrap.receive({ ...base, ranges: [{ ...wide, points: [point('10.1.1.1', 5)] }] }, 60_000);
    expect(find('232.1.1.1')).toBe('10.1.1.2');
    bootstrap.receive({ ...base, ranges: [{ ...wide, count: 1, points: [point('10.1.1.1', 5)] }] }, 60_000);
    expect(find('232.1.1.1')).toBe('10.1.1.1');
    // A router of a lower priority is not listened to.
    bootstrap.receive({ ...base, priority: 0, ranges: [] }, 60_000);
    expect(bootstrap.elected).toMatchObject({ priority: 1 });
    bootstrap.advance(160_000);
    expect(find('239.1.1.1')).toBe('10.1.1.1');
    bootstrap.advance(220_000);
    expect([find('239.1.1.1'), bootstrap.elected]).toEqual(['0.0.0.0', undefined]);
  });
});
