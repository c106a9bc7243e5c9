import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress, parseAddress } from '../../ip/address.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { PrefixSequence } from '../prefix-sequence.ts';
import { infinity, type RipAuthentication, type RipFormat, ripFormat } from './packet.ts';
import { ripngFormat } from './packet-next-generation.ts';
import { type RipOptions, RipRouter, ripGroups } from './router.ts';

const left = parseAddress('10.99.0.1');
const right = parseAddress('10.99.0.2');
const addresses = [left, right] as const;
const networkLength = 24;
const md5: RipAuthentication = {
  kind: 'digest',
  keyId: 3,
  digest: (packet) => createHash('md5').update(packet).update('secret').digest(),
};
const simple: RipAuthentication = { kind: 'simple', key: Uint8Array.from(Buffer.from('password')) };
const none: RipAuthentication = { kind: 'none' };
const version2 = (authentication: RipAuthentication = none) => ripFormat(2, authentication, networkLength);
const routesFrom = (first: string) => {
  const prefixes = new PrefixSequence(first);
  return { count: 60, prefixes, offset: 0, metric: 2, tag: 7 };
};

const optionsOf = (address: Int32Array, first: string, more: Partial<RipOptions> = {}): RipOptions => ({
  format: version2(),
  address,
  networkLength,
  group: ripGroups.multicast,
  isUnicast: false,
  updateMs: 1000,
  timeoutMs: 3000,
  garbageMs: 2000,
  splitHorizon: 'poisoned',
  routes: routesFrom(first),
  random: () => 0.5,
  ...more,
});

/** Two routers on one network. */
const createPair = (
  a: Partial<RipOptions> = {},
  b: Partial<RipOptions> = a,
  [left, right]: readonly [Int32Array, Int32Array] = addresses,
) => {
  const waiting: { readonly bytes: Uint8Array; readonly destination: Int32Array; readonly source: Int32Array }[] = [];
  const create = (address: Int32Array, first: string, more: Partial<RipOptions>) =>
    new RipRouter(optionsOf(address, first, more), {
      send: (bytes, destination) => waiting.push({ bytes, destination, source: address }),
      onNeighbour: () => {},
    });
  const routers = [create(left, '11.0.0.0/24', a), create(right, '12.0.0.0/24', b)] as const;
  let now = 0;
  const run = (ms: number) => {
    for (const end = now + ms; now < end; now += 10) {
      for (const router of routers) router.advance(now);
      for (const { bytes, destination, source } of waiting.splice(0)) {
        if (destination !== right) routers[0].receive(bytes, source, now);
        if (destination !== left) routers[1].receive(bytes, source, now);
      }
    }
  };
  for (const router of routers) router.start(0);
  return { routers, run, now: () => now };
};

describe('RIP routers', () => {
  it.each([
    ['version 2', {}],
    ['version 2 by broadcast', { group: ripGroups.broadcast }],
    ['version 2 by unicast', { isUnicast: true }],
    ['a password', { format: version2(simple) }],
    ['MD5', { format: version2(md5) }],
    ['no split horizon', { splitHorizon: 'none' }],
  ] as const)('tell each other their routes: %s', (_, more) => {
    const { routers, run } = createPair(more as Partial<RipOptions>);
    run(2500);
    expect(routers[0].routes.size).toBe(60);
    expect(routers[1].routes.get('11.0.5.0/24')).toMatchObject({ metric: 3, tag: 7, from: left });
    expect(routers[0].lastError).toBe('');
  });

  it('withdraw routes, and forget those of a silent neighbour', () => {
    const { routers, run, now } = createPair();
    run(1500);
    routers[0].withdraw(now());
    run(100);
    expect(routers[1].routes.size).toBe(0);
    expect(routers[1].neighbours.size).toBe(1);
    routers[0].announce(now());
    run(100);
    expect(routers[1].routes.size).toBe(60);
    routers[0].interrupt();
    run(3500);
    expect(routers[1].routes.size).toBe(0);
    expect(routers[1]).toMatchObject({ counters: { flaps: 1 } });
    expect(routers[1].neighbours.size).toBe(0);
  });

  it('do not believe the wrong key', () => {
    for (const [a, b] of [
      [md5, none],
      [simple, md5],
      [simple, { kind: 'simple', key: Uint8Array.of(1) }],
    ] as const) {
      const { routers, run } = createPair({ format: version2(a) }, { format: version2(b) });
      run(2500);
      for (const router of routers) {
        expect(router.routes.size).toBe(0);
        expect(router.lastError).not.toBe('');
      }
    }
  });

  it('of version 1 have routes without masks', () => {
    const routes = { ...routesFrom('10.112.0.0/24'), count: 3 };
    const format = ripFormat(1, none, networkLength);
    const { routers, run } = createPair({ format, routes }, { format });
    run(1500);
    expect([...routers[1].routes.keys()]).toEqual(['10.112.0.0/24', '10.112.1.0/24', '10.112.2.0/24']);
  });

  it('send to the group', () => {
    const sent: Int32Array[] = [];
    const router = new RipRouter(optionsOf(left, '11.0.0.0/24'), {
      send: (_, destination) => sent.push(destination),
      onNeighbour: () => {},
    });
    router.start(0);
    router.advance(10);
    // A request, and 60 routes in packets of 25.
    expect(sent.map((words) => formatAddress(words))).toEqual(Array(4).fill('224.0.0.9'));
  });
});

describe('RIPng routers', () => {
  const [leftLocal, rightLocal] = ['fe80::a63:1', 'fe80::a63:2'].map(parseAddress) as [Int32Array, Int32Array];
  const optionsFor = (address: Int32Array, first: string): Partial<RipOptions> => ({
    ...{ address, networkLength: 64, group: ripGroups.nextGeneration, format: ripngFormat(1500) },
    routes: { ...routesFrom(first), count: 200 },
  });

  it('tell each other their routes', () => {
    const { routers, run } = createPair(
      optionsFor(leftLocal, '2001:db8:1::/64'),
      optionsFor(rightLocal, '2001:db8:2::/64'),
      [leftLocal, rightLocal],
    );
    run(2500);
    expect(routers[0].routes.size).toBe(200);
    expect(routers[1].routes.get('2001:db8:1:c7::/64')).toMatchObject({ metric: 3, tag: 7, from: leftLocal });
    expect(routers.map(({ lastError }) => lastError)).toEqual(['', '']);
  });

  it('fill packets to the MTU', () => {
    const sent: number[] = [];
    const options = optionsOf(leftLocal, '::/0', optionsFor(leftLocal, '2001:db8:1::/64'));
    const router = new RipRouter(options, { send: (bytes) => sent.push(bytes.length), onNeighbour: () => {} });
    router.start(0);
    router.advance(10);
    expect(sent).toEqual([24, 4 + 72 * 20, 4 + 72 * 20, 4 + 56 * 20]);
  });
});

describe('packets of RIP', () => {
  const prefix = (bits: number) =>
    fc.record({
      length: fc.integer({ min: 0, max: bits }),
      words: fc.array(fc.integer({ min: 0x01000000, max: 0xdfffffff }), { minLength: 4, maxLength: 4 }),
      metric: fc.integer({ min: 1, max: infinity - 1 }),
      tag: fc.nat(0xffff),
    });
  const addressOf = (given: readonly number[], bits: number, length: number): Int32Array => {
    const words = bits === 32 ? [0, 0, 0xffff, given[3] as number] : given;
    return Int32Array.from(words, (word, i) => {
      const left = Math.max(0, Math.min(length + 128 - bits - i * 32, 32));
      return left === 32 ? word : word & ~(0xffffffff >>> left);
    });
  };
  const formats: [number, RipFormat][] = [
    ...[none, simple, md5].map((authentication): [number, RipFormat] => [32, version2(authentication)]),
    [128, ripngFormat(1500)],
  ];

  it.each(formats)('are read as they were written: addresses of %i bits', (bits, format) => {
    fc.assert(
      fc.property(fc.array(prefix(bits), { minLength: 1, maxLength: 23 }), (given) => {
        const entries = given.map(({ length, words, ...more }) => ({
          ...more,
          ...{ length, nextHop: undefined, address: addressOf(words, bits, length) },
        }));
        const bytes = format.encode({ command: 2, entries, sequence: 1 });
        expect(format.parse(bytes)).toEqual({ command: 2, entries, isWhole: false });
        const whole = format.encode({ command: 1, entries: [], sequence: 2 });
        expect(format.parse(whole)).toEqual({ command: 1, entries: [], isWhole: true });
      }),
    );
  });

  it.each(formats)('that are changed are read or refused, never more: addresses of %i bits', (bits, format) => {
    const route = { length: 8, metric: 1, tag: 0, nextHop: undefined };
    const entries = [1, 2, 3].map((first) => ({ ...route, address: addressOf(Array(4).fill(first << 24), bits, 8) }));
    const seeds = [1, 2].map((command) => format.encode({ command, entries, sequence: 1 }));
    const { routers } = createPair({ format });
    let state = 99;
    const next = (limit: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >>> 8) % limit;
    };
    for (let i = 0; i < mutationRuns(100_000); i++) {
      const seed = seeds[i % 2] as Uint8Array;
      const bytes = seed.slice(0, i % 7 === 0 ? next(seed.length) : undefined);
      for (let k = next(3); k >= 0 && bytes.length > 0; k--) bytes[next(bytes.length)] = next(256);
      routers[0].receive(bytes, right, i);
      routers[0].routes.clear();
    }
  });
});
