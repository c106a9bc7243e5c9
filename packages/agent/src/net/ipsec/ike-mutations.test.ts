import { type IpsecCrypto, ikeOffers, type PacketCipher } from '@rushhour/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeIpsecCrypto } from './node-crypto.ts';
import { IkePair, type PairOptions, peerOf } from './testing/ike-pair.ts';

/** Messages that are mutated in the long form: RUSHHOUR_IKE_MUTATIONS=500000. */
const mutations = Number(process.env['RUSHHOUR_IKE_MUTATIONS'] ?? 0);

const { timers } = peerOf();

/** Byte of a message with the type of the first payload that is encrypted. */
const firstPayloadAt = 28;

/** The same numbers in every run. */
const createRandom = () => {
  let seed = 1;
  return (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
};

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

  /** Opens SAs until so many messages were changed, and looks for what is left of them. */
  const openUntil = (total: number, changed: () => number, options: PairOptions) => {
    const more = { ikeOffers: ikeOffers({ group: 'curve25519' }), timers: { ...timers, maxRetransmits: 2 } };
    const pair = new IkePair({ client: more, server: more, ...options });
    while (changed() < total) {
      for (let i = 0; i < 20; i++) pair.open();
      pair.pass(60_000, 2000);
      expect(pair.server.endpoint.halfOpenCount).toBe(0);
      for (const { endpoint } of [pair.client, pair.server])
        for (const sa of [...endpoint.sas()]) endpoint.close(sa, true);
      expect([pair.client.endpoint.count, pair.server.endpoint.count]).toEqual([0, 0]);
    }
  };

  it(
    'leave no half-open SA behind, of a responder that gets many of them',
    () => {
      const random = createRandom();
      let count = 0;
      const onWire = (message: Uint8Array) => {
        if (random(4) === 0) return [message];
        count++;
        const bytes = random(5) === 0 ? message.slice(0, random(message.length + 1)) : message;
        for (let i = random(4); i >= 0 && bytes.length > 0; i--) bytes[random(bytes.length)] = random(256);
        if (random(2) === 0 && bytes.length >= 28) Buffer.from(bytes.buffer).writeUInt32BE(bytes.length, 24);
        return random(8) === 0 ? [bytes, message, bytes] : [bytes];
      };
      openUntil(Math.max(1000, mutations), () => count, { onWire });
    },
    60_000 + 4 * mutations,
  );

  it(
    'do no harm either when the peer itself has encrypted them',
    () => {
      const random = createRandom();
      let count = 0;
      const createCipher: IpsecCrypto['createCipher'] = (spec, keys) => {
        const cipher = nodeIpsecCrypto.createCipher(spec, keys);
        const { ivBytes, icvBytes, blockBytes } = cipher;
        const seal: PacketCipher['seal'] = (bytes, range) => {
          const textAt = range.ivAt + ivBytes;
          if (random(3) > 0) {
            count++;
            // Half of the changes are at the beginning, where types and lengths of payloads are.
            const room = range.textEnd - textAt;
            for (let i = random(3); i >= 0; i--)
              bytes[textAt + random(random(2) === 0 ? Math.min(room, 40) : room)] = random(256);
            // Type of the first payload.
            if (random(6) === 0) bytes[firstPayloadAt] = 33 + random(22);
          }
          cipher.seal(bytes, range);
        };
        return { ivBytes, icvBytes, blockBytes, seal, open: (bytes, range) => cipher.open(bytes, range) };
      };
      openUntil(Math.max(1000, mutations), () => count, { crypto: { ...nodeIpsecCrypto, createCipher } });
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
