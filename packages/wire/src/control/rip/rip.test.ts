import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeRip, infinity, parseRip, type RipAuthentication } from './packet.ts';
import { type RipOptions, RipRouter, ripGroup } from './router.ts';

const left = 0x0a630001;
const right = 0x0a630002;
const mask = 0xffffff00;
const md5: RipAuthentication = {
  kind: 'digest',
  keyId: 3,
  digest: (packet) => createHash('md5').update(packet).update('secret').digest(),
};
const simple: RipAuthentication = { kind: 'simple', key: Uint8Array.from(Buffer.from('password')) };
const none: RipAuthentication = { kind: 'none' };

const optionsOf = (address: number, first: number, more: Partial<RipOptions> = {}): RipOptions => ({
  version: 2,
  address,
  mask,
  updateMs: 1000,
  timeoutMs: 3000,
  garbageMs: 2000,
  send: 'multicast',
  splitHorizon: 'poisoned',
  routes: { count: 60, first, length: 24, metric: 2, tag: 7 },
  authentication: none,
  random: () => 0.5,
  ...more,
});

/** Two routers on one network. */
const createPair = (a: Partial<RipOptions> = {}, b: Partial<RipOptions> = a) => {
  const waiting: { readonly bytes: Uint8Array; readonly destination: number; readonly source: number }[] = [];
  const create = (address: number, first: number, more: Partial<RipOptions>) =>
    new RipRouter(optionsOf(address, first, more), {
      send: (bytes, destination) => waiting.push({ bytes, destination, source: address }),
      onNeighbour: () => {},
    });
  const routers = [create(left, 0x0b000000, a), create(right, 0x0c000000, b)] as const;
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
    ['version 2 by broadcast', { send: 'broadcast' }],
    ['version 2 by unicast', { send: 'unicast' }],
    ['a password', { authentication: simple }],
    ['MD5', { authentication: md5 }],
    ['no split horizon', { splitHorizon: 'none' }],
  ] as const)('tell each other their routes: %s', (_, more) => {
    const { routers, run } = createPair(more as Partial<RipOptions>);
    run(2500);
    expect(routers[0].routes.size).toBe(60);
    expect(routers[1].routes.get(`${0x0b000500}/${mask}`)).toMatchObject({ metric: 3, tag: 7, from: left });
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
      const { routers, run } = createPair({ authentication: a }, { authentication: b });
      run(2500);
      for (const router of routers) {
        expect(router.routes.size).toBe(0);
        expect(router.lastError).not.toBe('');
      }
    }
  });

  it('of version 1 have routes without masks', () => {
    const routes = { count: 3, first: 0x0a700000, length: 24, metric: 1, tag: 0 };
    const { routers, run } = createPair({ version: 1, routes }, { version: 1 });
    run(1500);
    expect([...routers[1].routes.values()].map((route) => route.mask)).toEqual([mask, mask, mask]);
  });

  it('send to the group', () => {
    const sent: number[] = [];
    const router = new RipRouter(optionsOf(left, 0x0b000000), {
      send: (_, destination) => sent.push(destination),
      onNeighbour: () => {},
    });
    router.start(0);
    router.advance(10);
    // A request, and 60 routes in packets of 25.
    expect(sent).toEqual([ripGroup, ripGroup, ripGroup, ripGroup]);
  });
});

describe('packets of RIP', () => {
  const entry = fc.record({
    length: fc.integer({ min: 0, max: 32 }),
    bits: fc.integer({ min: 0, max: 0xdfffffff }),
    metric: fc.integer({ min: 1, max: infinity }),
    tag: fc.nat(0xffff),
    nextHop: fc.nat(0xffffffff),
  });

  it('are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 24 }), fc.constantFrom(none, simple, md5), (given, authentication) => {
        const entries = given.map(({ length, bits, ...more }) => {
          const own = length === 0 ? 0 : (0xffffffff << (32 - length)) >>> 0;
          return { ...more, mask: own, address: (bits & own) >>> 0 };
        });
        const bytes = encodeRip({ command: 2, version: 2, entries, authentication, sequence: 1 });
        expect(parseRip(bytes, authentication, mask)).toEqual({ command: 2, version: 2, entries, isWhole: false });
      }),
    );
  });

  it('that are changed are read or refused, never more', () => {
    const route = { mask: 0xff000000, metric: 1, tag: 0, nextHop: 0 };
    const entries = [1, 2, 3].map((first) => ({ ...route, address: first << 24 }));
    const seeds = [none, simple, md5].map((authentication) =>
      encodeRip({ command: 2, version: 2, entries, authentication, sequence: 1 }),
    );
    const { routers } = createPair({ authentication: none });
    let state = 99;
    const next = (limit: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >>> 8) % limit;
    };
    for (let i = 0; i < 300_000; i++) {
      const seed = seeds[i % 3] as Uint8Array;
      const bytes = seed.slice(0, i % 7 === 0 ? next(seed.length) : undefined);
      for (let k = next(3); k >= 0 && bytes.length > 0; k--) bytes[next(bytes.length)] = next(256);
      routers[0].receive(bytes, right, i);
      routers[0].routes.clear();
      if (i % 1000 === 0) {
        const authentication = [none, simple, md5][next(3)] as RipAuthentication;
        parseRip(bytes, authentication, mask);
      }
    }
  });
});
