import { espOffer, formatAddress, type IkePeer, ikeOffers, parseAddress, selectorOf } from '@rushhour/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IkePair, type PairOptions, peerOf, sharedKey } from './testing/ike-pair.ts';

const { timers } = peerOf();
const both = (more: Partial<IkePeer>): PairOptions => ({ client: more, server: more });

const up = (options: PairOptions = {}): IkePair => {
  const pair = new IkePair(options);
  pair.open();
  return pair;
};

describe('an IKE SA', () => {
  it('comes up with its child SA in four messages', () => {
    let messages = 0;
    const pair = up({
      onWire: (message) => {
        messages++;
        return [message];
      },
    });
    expect(pair.client.log).toEqual(['established', 'child 0 up']);
    expect(pair.server.log).toEqual(['established', 'child 0 up']);
    expect(messages).toBe(4);
    expect(pair.carries()).toBe(true);
    expect(pair.server.endpoint.halfOpenCount).toBe(0);
  });

  const groups = ['modp2048', 'modp3072', 'modp4096', 'ecp256', 'ecp384', 'ecp521', 'curve25519', 'x448'];
  it.each([
    ...['aes128', 'aes192', 'aes256', 'aes128ctr', 'aes256ctr', 'aes256gcm8', 'aes256gcm12', 'aes128gcm16'].map(
      (encryption) => ({ encryption }),
    ),
    { encryption: 'chacha20poly1305' },
    ...['sha1', 'sha256', 'sha384', 'sha512'].map((prf) => ({ prf })),
    ...groups.map((group) => ({ group })),
  ])('uses %o', (names) => {
    const pair = up(both({ ikeOffers: ikeOffers(names) }));
    expect(pair.client.log).toEqual(['established', 'child 0 up']);
    expect(pair.carries()).toBe(true);
  });

  it.each([
    'aes128-sha1',
    'aes256-sha256',
    'aes192-sha384',
    'aes256ctr-sha512',
    'aes128gcm8',
    'aes192gcm12',
    'aes256gcm16',
    'aes256gcm16-esn',
    'aes128-sha256-esn',
    'chacha20poly1305',
    'chacha20poly1305-esn',
    'aes128gmac',
    'aes256gmac-esn',
    'null-sha256',
    'AES-256-CBC-HMAC-SHA1',
  ])('has child SAs of %s', (cipher) => {
    const pair = up(both({ espOffers: [espOffer(cipher)] }));
    expect(pair.client.log).toEqual(['established', 'child 0 up']);
    expect(pair.carries()).toBe(true);
  });

  it.each(['curve25519+mlkem768', 'ecp256+mlkem1024', 'modp2048-ke1_mlkem512', 'x25519+ecp384'])(
    'makes a second key exchange: %s',
    (group) => {
      const exchanges: number[] = [];
      const onWire = (message: Uint8Array) => {
        exchanges.push(message[18] as number);
        return [message];
      };
      const pair = up({ ...both({ ikeOffers: ikeOffers({ group }) }), onWire });
      expect(pair.client.log).toEqual(['established', 'child 0 up']);
      expect(new Set(exchanges)).toEqual(new Set([34, 43, 35]));
      const [sa] = pair.client.sas;
      expect(sa?.suite?.additional).not.toBe(0);
      expect(pair.carries()).toBe(true);
      for (const side of [pair.client, pair.server]) for (const one of side.sas) one.addTask({ kind: 'rekeyIke' });
      for (const one of pair.client.sas) one.owner.setTimer(one, 0);
      pair.pass(5000);
      expect(pair.client.log).toContain('replaced');
      expect(pair.carries()).toBe(true);
    },
  );

  it('does without a second key exchange where either side does not need one', () => {
    const optional = { ikeOffers: ikeOffers({ group: 'curve25519+mlkem768,curve25519' }) };
    const plain = { ikeOffers: ikeOffers({ group: 'curve25519' }) };
    const needed = { ikeOffers: ikeOffers({ group: 'curve25519+mlkem768' }) };
    const logOf = (client: Partial<IkePeer>, server: Partial<IkePeer>) => up({ client, server }).client.log;
    expect(logOf(optional, plain)).toEqual(['established', 'child 0 up']);
    expect(logOf(plain, optional)).toEqual(['established', 'child 0 up']);
    expect(logOf(needed, plain)).toEqual(['closed NO_PROPOSAL_CHOSEN']);
    expect(logOf(plain, needed)).toEqual(['closed NO_PROPOSAL_CHOSEN']);
  });

  it('comes up with a second key exchange whose fragments are lost and repeated, and not with a changed one', () => {
    const client = { ikeOffers: ikeOffers({ group: 'curve25519+mlkem768' }), timers: { ...timers, maxRetransmits: 9 } };
    let count = 0;
    const onWire = (message: Uint8Array) => (++count % 4 === 0 ? [] : count % 3 === 0 ? [message, message] : [message]);
    const pair = up({ client, server: { ikeOffers: client.ikeOffers }, onWire });
    pair.pass(60_000);
    expect(pair.client.log).toEqual(['established', 'child 0 up']);
    expect(pair.carries()).toBe(true);
  });

  it('has timed out when the peer has not answered in the time for a handshake, and not once it is up', () => {
    const client = { timers: { ...timers, handshakeMs: 5000 } };
    const silent = up({ client, onWire: () => [] });
    silent.pass(4900);
    expect(silent.client.log).toEqual([]);
    silent.pass(200);
    expect(silent.client.log).toEqual(['closed timeout']);
    expect(silent.client.endpoint.count).toBe(0);
    // Half of it: the peer answers the first message alone.
    const half = up({ client, onWire: (message) => (message[18] === 34 ? [message] : []) });
    half.pass(5100);
    expect(half.client.log).toEqual(['closed timeout']);
    const answered = up({ client });
    answered.pass(60_000, 1000);
    expect(answered.client.log).toEqual(['established', 'child 0 up']);
  });

  it('without encryption takes GMAC or null', () => {
    expect(espOffer('aes256gcm16', { encrypts: false }).encryptions).toEqual([{ id: 21, keyBits: 256 }]);
    expect(espOffer('aes256-sha256', { encrypts: false }).encryptions).toEqual([{ id: 11, keyBits: 0 }]);
  });

  it.each([
    ['another key', { authentication: sharedKey('other') }, ['closed AUTHENTICATION_FAILED']],
    ['no common IKE proposal', { ikeOffers: ikeOffers({ encryption: 'aes192' }) }, ['closed NO_PROPOSAL_CHOSEN']],
    [
      'no common ESP proposal',
      { espOffers: [espOffer('aes256-sha512')] },
      ['established', 'child 0 failed NO_PROPOSAL_CHOSEN'],
    ],
    [
      'other selectors',
      { children: [{ local: [range('10.9.0.0', '10.9.0.9')], remote: [range('6.6.6.0', '6.6.6.9')] }] },
      ['established', 'child 0 failed TS_UNACCEPTABLE'],
    ],
    ['another mode', { isTransport: true }, ['established', 'child 0 failed NO_PROPOSAL_CHOSEN']],
    [
      'another identity expected',
      { remoteId: { type: 2, data: Buffer.from('x.test') } },
      ['closed AUTHENTICATION_FAILED'],
    ],
  ] as const)('is refused by a server with %s', (_, server, log) => {
    const client = {
      children: [{ local: [range('10.1.0.1', '10.1.0.1')], remote: [range('10.2.0.0', '10.2.0.255')] }],
    };
    const pair = up({ client, server });
    expect(pair.client.log).toEqual(log);
    pair.pass(60_000, 1000);
    expect(pair.server.endpoint.halfOpenCount).toBe(0);
  });

  it('tries the group that the server wants', () => {
    const client = { ikeOffers: ikeOffers({ group: 'modp2048,ecp256' }) };
    const pair = up({ client, server: { ikeOffers: ikeOffers({ group: 'ecp256' }) } });
    expect(pair.client.log).toEqual(['established', 'child 0 up']);
  });

  it('returns a cookie', () => {
    const pair = up({ cookieThreshold: 0 });
    expect(pair.client.log).toEqual(['cookie', 'established', 'child 0 up']);
    expect(pair.server.endpoint.counters.cookiesSent).toBe(1);
  });

  it('narrows selectors to what both have', () => {
    const client = {
      children: [{ local: [range('10.1.0.0', '10.1.255.255')], remote: [range('0.0.0.0', '255.255.255.255')] }],
    };
    const server = {
      children: [{ local: [range('10.2.0.0', '10.2.0.255')], remote: [range('10.1.3.0', '10.1.3.255')] }],
    };
    const child = up({ client, server }).client.children.get(0);
    expect(child?.local.map(textOf)).toEqual(['10.1.3.0-10.1.3.255']);
    expect(child?.remote.map(textOf)).toEqual(['10.2.0.0-10.2.0.255']);
  });

  it('gets an inner address', () => {
    const pair = up({ client: { requestsAddress: 4 }, server: { assignAddress: () => addressOf('10.7.0.9') } });
    expect(pair.client.children.get(0)?.local.map(textOf)).toEqual(['10.7.0.9-10.7.0.9']);
    expect(pair.server.children.get(0)?.remote.map(textOf)).toEqual(['10.7.0.9-10.7.0.9']);
    const refused = up({ client: { requestsAddress: 4 }, server: { assignAddress: () => undefined } });
    expect(refused.client.log).toEqual(['established', 'child 0 failed INTERNAL_ADDRESS_FAILURE']);
  });

  it('changes to port 4500 where addresses are translated, and keeps the mapping', () => {
    const pair = new IkePair({ translatedTo: Uint8Array.of(192, 0, 2, 7) });
    const sa = pair.open();
    expect(pair.client.log).toEqual(['established', 'child 0 up']);
    expect(sa).toMatchObject({ hasNat: true, isBehindNat: true, route: { remotePort: 4500, isEncapsulated: true } });
    const [server] = pair.server.sas;
    expect(server).toMatchObject({ hasNat: true, isBehindNat: false, route: { remotePort: 14_500 } });
    const forced = up(both({ forcesEncapsulation: true }));
    expect([...forced.client.sas][0]?.hasNat).toBe(true);
  });

  it('has several child SAs with key exchanges of their own', () => {
    const children = [0, 1, 2].map((i) => ({
      local: [range(`10.1.${i}.0`, `10.1.${i}.255`)],
      remote: [range('10.2.0.0', '10.2.0.255')],
    }));
    const server = children.map(({ local, remote }) => ({ local: remote, remote: local }));
    const espOffers = [espOffer('aes256gcm16', { group: 31 })];
    const pair = up({ client: { children, espOffers }, server: { children: server, espOffers } });
    expect(pair.client.log).toEqual(['established', 'child 0 up', 'child 1 up', 'child 2 up']);
    expect([0, 1, 2].map((index) => pair.carries(index))).toEqual([true, true, true]);
  });

  it('splits large messages into fragments', () => {
    const many = Array.from({ length: 90 }, (_, i) => range(`10.1.${i}.0`, `10.1.${i}.255`));
    const children = [{ local: many, remote: many }];
    const sizes: number[] = [];
    const pair = up({
      ...both({ children }),
      onWire: (message) => {
        sizes.push(message.length);
        return [message];
      },
    });
    expect(pair.carries()).toBe(true);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1200);
    expect(sizes.length).toBeGreaterThan(6);
  });
});

describe('an SA that is up', () => {
  it('renews the keys of child and IKE SA without a gap', () => {
    const pair = up({ client: { timers: { ...timers, rekeyMs: 10_000 } } });
    for (let i = 0; i < 60; i++) {
      pair.pass(1000);
      expect(pair.carries()).toBe(true);
    }
    const [sa] = pair.client.sas;
    expect(sa?.rekeys).toBeGreaterThanOrEqual(5);
    expect([...(sa?.children ?? [])].map(({ rekeys }) => rekeys)[0]).toBeGreaterThanOrEqual(5);
    expect(pair.server.endpoint.count).toBe(1);
    expect(pair.client.endpoint.count).toBe(1);
    expect(pair.server.log.filter((line) => line.startsWith('closed') && line !== 'closed replaced')).toEqual([]);
  });

  it('keeps one child SA and one IKE SA when both sides renew at once', () => {
    for (let i = 0; i < 20; i++) {
      const pair = up();
      const [a] = pair.client.sas;
      const [b] = pair.server.sas;
      if (a === undefined || b === undefined) throw new Error('no SA');
      for (const sa of [a, b]) {
        for (const child of sa.children) sa.addTask({ kind: 'rekeyChild', child });
        sa.owner.setTimer(sa, 0);
      }
      pair.pass(5000);
      expect(pair.carries()).toBe(true);
      expect([a.children.length, b.children.length]).toEqual([1, 1]);
      a.addTask({ kind: 'rekeyIke' });
      b.addTask({ kind: 'rekeyIke' });
      for (const sa of [a, b]) sa.owner.setTimer(sa, 0);
      pair.pass(5000);
      expect([pair.client.endpoint.count, pair.server.endpoint.count]).toEqual([1, 1]);
      expect([...pair.client.sas].map(({ children }) => children.length)).toEqual([1]);
      expect([...pair.server.sas].map(({ children }) => children.length)).toEqual([1]);
      expect(pair.carries()).toBe(true);
    }
  });

  it('goes on from another address, with the same keys (MOBIKE)', () => {
    const pair = up({ client: { isMobile: true, timers: { ...timers, rekeyMs: 20_000 } } });
    const [sa] = pair.client.sas;
    if (sa === undefined) throw new Error('no SA');
    expect(sa.route).toMatchObject({ localPort: 4500, remotePort: 4500, isEncapsulated: true });
    expect([sa.isMobile, sa.hasNat]).toEqual([true, false]);
    pair.client.endpoint.move(sa, { ...sa.route, localAddress: Uint8Array.of(10, 0, 0, 9) });
    pair.settle();
    expect(pair.server.log).toContain('moved to 10.0.0.9 10.0.0.2');
    expect([...pair.server.sas].map(({ route }) => route.remoteAddress.join('.'))).toEqual(['10.0.0.9']);
    pair.pass(40_000);
    expect(pair.client.log).toContain('replaced');
    expect([...pair.client.sas][0]?.isMobile).toBe(true);
    expect(pair.carries()).toBe(true);
  });

  it('does not move where the peer has no MOBIKE, or for a message from elsewhere', () => {
    const seen: Uint8Array[] = [];
    const pair = up({
      client: { isMobile: true },
      onWire: (message, toServer) => {
        if (toServer) seen.push(message);
        return [message];
      },
    });
    const [server] = pair.server.sas;
    const elsewhere = { ...pair.route, remoteAddress: Uint8Array.of(192, 0, 2, 66), remotePort: 4500 };
    for (const message of seen) pair.server.endpoint.receive(elsewhere, message);
    pair.settle();
    expect(server?.route.remoteAddress.join('.')).toBe('10.0.0.1');
    expect(up().client.log).toEqual(['established', 'child 0 up']);
  });

  it('notices that its peer is gone', () => {
    let isDown = false;
    const pair = up({
      client: { timers: { ...timers, dpdIntervalMs: 5000, dpdTimeoutMs: 20_000 } },
      onWire: (message) => (isDown ? [] : [message]),
    });
    pair.pass(60_000);
    expect(pair.client.sas.size).toBe(1);
    isDown = true;
    pair.pass(40_000);
    expect(pair.client.log.slice(-2)).toEqual(['child 0 down', 'closed deadPeer']);
  });

  it('ends when it is deleted, and when its lifetime is over', () => {
    const pair = up();
    pair.client.endpoint.close([...pair.client.sas][0] as never);
    pair.settle();
    expect(pair.client.log.slice(-2)).toEqual(['child 0 down', 'closed closed']);
    expect(pair.server.log.slice(-2)).toEqual(['child 0 down', 'closed deleted']);
    const short = up({ client: { timers: { ...timers, lifetimeMs: 5000 } } });
    short.pass(10_000);
    expect(short.client.log.at(-1)).toBe('closed lifetime');
    expect([short.client.endpoint.count, short.server.endpoint.count]).toEqual([0, 0]);
  });

  it('waits for another response to its first message when one cannot be read', () => {
    const responseFlag = 0x20;
    const isFirstResponse = (message: Uint8Array) =>
      message[18] === 34 && ((message[19] as number) & responseFlag) !== 0;
    // The SA payload is at 28, its proposal at 32: the number of its transforms is wrong.
    const spoilt = (message: Uint8Array) => message.with(39, 77);
    const pair = up({ onWire: (message) => (isFirstResponse(message) ? [spoilt(message), message] : [message]) });
    expect(pair.client.log).toEqual(['established', 'child 0 up']);
    expect(pair.carries()).toBe(true);
    const silent = up({ onWire: (message) => (isFirstResponse(message) ? [spoilt(message)] : [message]) });
    silent.pass(200_000);
    expect(silent.client.log).toEqual(['closed timeout']);
    expect(silent.client.endpoint.count).toBe(0);
  });

  it('comes up and renews its keys over a wire that loses, repeats and reorders', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { minLength: 50, maxLength: 50 }), (dice) => {
        let at = 0;
        const late: Uint8Array[] = [];
        const onWire = (message: Uint8Array, toServer: boolean) => {
          const die = dice[at++ % dice.length] as number;
          if (die < 2) return [];
          if (die < 4) return [message, message];
          if (die === 4 && toServer) late.push(message);
          return die === 4 && toServer ? [] : toServer ? [message, ...late.splice(0)] : [message];
        };
        const lossy = { ...timers, rekeyMs: 20_000, dpdTimeoutMs: 0, maxRetransmits: 50 };
        const pair = up({ client: { timers: lossy }, onWire });
        pair.pass(100_000, 250);
        const isStuck = dice.every((die) => die < 2 || die === 4);
        if (!isStuck && pair.client.log.includes('established'))
          expect(pair.client.log).not.toContain('closed timeout');
      }),
      { numRuns: 15 },
    );
  });
});

function addressOf(text: string): Uint8Array {
  const word = parseAddress(text)[3] as number;
  return Uint8Array.of(word >>> 24, word >>> 16, word >>> 8, word);
}

function range(start: string, end: string) {
  return selectorOf(addressOf(start), addressOf(end));
}

function textOf({ start, end }: { start: Uint8Array; end: Uint8Array }): string {
  const one = (bytes: Uint8Array) => formatAddress(Int32Array.of(0, 0, 0xffff, Buffer.from(bytes).readInt32BE()));
  return `${one(start)}-${one(end)}`;
}
