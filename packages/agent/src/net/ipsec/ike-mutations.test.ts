import { ikeOffers } from '@rushhour/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IkePair, type PairOptions, peerOf } from './testing/ike-pair.ts';

/** Messages that are mutated in the long form: RUSHHOUR_IKE_MUTATIONS=500000. */
const mutations = Number(process.env['RUSHHOUR_IKE_MUTATIONS'] ?? 0);

const { timers } = peerOf();

const up = (options: PairOptions = {}): IkePair => {
  const pair = new IkePair(options);
  pair.open();
  return pair;
};

describe('mutated messages', () => {
  const mutation = fc.record({
    message: fc.nat(5),
    at: fc.nat(600),
    value: fc.nat(255),
    cut: fc.option(fc.nat(200), { nil: undefined }),
    extra: fc.option(fc.uint8Array({ maxLength: 40 }), { nil: undefined }),
    keepsLength: fc.boolean(),
  });

  it('neither crash nor leak half-open SAs, whatever is changed', () => {
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
        let count = 0;
        const onWire = (message: Uint8Array) => {
          const index = count++;
          let bytes = message;
          for (const one of mutations.filter((each) => each.message === index)) {
            if (one.cut !== undefined) bytes = bytes.slice(0, Math.max(0, bytes.length - one.cut));
            if (one.extra !== undefined) bytes = Uint8Array.from([...bytes, ...one.extra]);
            if (one.at < bytes.length) bytes[one.at] = one.value;
            if (one.keepsLength && bytes.length >= 28) Buffer.from(bytes.buffer).writeUInt32BE(bytes.length, 24);
          }
          return [bytes];
        };
        const pair = up({ client: { timers: { ...timers, maxRetransmits: 2 } }, onWire });
        pair.pass(60_000, 5000);
        expect(pair.server.endpoint.halfOpenCount).toBe(0);
        expect(pair.client.endpoint.count).toBeLessThanOrEqual(1);
        if (pair.client.endpoint.count === 1) expect(pair.carries()).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it(
    'leave no half-open SA behind, of a responder that gets many of them',
    () => {
      const total = Math.max(1000, mutations);
      let seed = 1;
      const random = (below: number) => {
        seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
        return Math.floor((seed / 2 ** 32) * below);
      };
      let count = 0;
      const onWire = (message: Uint8Array) => {
        if (random(4) === 0) return [message];
        count++;
        const bytes = random(5) === 0 ? message.slice(0, random(message.length + 1)) : message;
        for (let i = random(4); i >= 0 && bytes.length > 0; i--) bytes[random(bytes.length)] = random(256);
        if (random(2) === 0 && bytes.length >= 28) Buffer.from(bytes.buffer).writeUInt32BE(bytes.length, 24);
        return random(8) === 0 ? [bytes, message, bytes] : [bytes];
      };
      const more = { ikeOffers: ikeOffers({ group: 'curve25519' }), timers: { ...timers, maxRetransmits: 2 } };
      const pair = new IkePair({ client: more, server: more, onWire });
      while (count < total) {
        for (let i = 0; i < 20; i++) pair.open();
        pair.pass(60_000, 2000);
        expect(pair.server.endpoint.halfOpenCount).toBe(0);
        for (const { endpoint } of [pair.client, pair.server])
          for (const sa of [...endpoint.sas()]) endpoint.close(sa, true);
        expect([pair.client.endpoint.count, pair.server.endpoint.count]).toEqual([0, 0]);
      }
      expect(count).toBeGreaterThanOrEqual(total);
    },
    60_000 + 4 * mutations,
  );

  it('random bytes are ignored', () => {
    const pair = up();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        pair.server.endpoint.receive(pair.route, bytes);
        pair.client.endpoint.receive(pair.route, bytes);
      }),
      { numRuns: 2000 },
    );
    expect(pair.carries()).toBe(true);
  });
});
