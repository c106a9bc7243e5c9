import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../ip/address.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { MessageWriter } from '../message-writer.ts';
import { addresses, createPair, left, optionsOf, right } from '../testing/ldp-pair.ts';
import { LdpBindings } from './bindings.ts';
import { writePrefixFec } from './fec.ts';
import { encodeHello, parseHello } from './hello.ts';
import { LdpError, ldpPduLength, ldpTlv, ldpType, parsePdu, writeLdpMessage, writePdu, writeTlv } from './pdu.ts';
import { LdpSession } from './session.ts';

describe('LDP routers', () => {
  it('find each other and give out labels', () => {
    const { run, sessionOf } = createPair();
    run(3000);
    for (const index of [0, 1]) expect(sessionOf(index)).toMatchObject({ state: 'operational', labelsSent: 501 });
    expect(sessionOf(1)?.labels.get('10.99.0.1/32')).toBe(3);
    expect(sessionOf(1)?.labels.get('11.0.7.0/24')).toBe(1007);
    expect(sessionOf(0)?.labels.size).toBe(501);
    run(20_000);
    expect(sessionOf(0)?.state).toBe('operational');
  });

  it('find neighbours that are not adjacent', () => {
    const targeted = { peers: [addresses.ipv4[0]], helloMs: 1000, holdSec: 4, accepts: true };
    const { run, sessionOf } = createPair({ targeted }, { hasLink: false });
    run(5000);
    expect(sessionOf(0)?.state).toBe('operational');
    const refused = createPair({ targeted: { ...targeted, accepts: false } }, { hasLink: false });
    refused.run(5000);
    expect(refused.sessionOf(0)).toBeUndefined();
  });

  it('of IPv6 find each other and give out labels of IPv6', () => {
    const { run, sessionOf } = createPair({}, { version: 'ipv6' });
    run(3000);
    for (const index of [0, 1]) expect(sessionOf(index)).toMatchObject({ state: 'operational', labelsSent: 501 });
    expect(sessionOf(1)?.labels.get('fd99::1/128')).toBe(3);
    expect(sessionOf(1)?.labels.get('2001:db8:b:7::/64')).toBe(1007);
    run(20_000);
    expect(sessionOf(0)?.state).toBe('operational');
  });

  it('of IPv6 that are not adjacent are found by their addresses, not by LSR ids', () => {
    const targeted = { peers: [addresses.ipv6[0]], helloMs: 1000, holdSec: 4, accepts: true };
    const { run, sessionOf, routers } = createPair({ targeted }, { hasLink: false, version: 'ipv6' }, ([, second]) =>
      second?.extend({ capabilities: [], onUp() {}, onDown() {}, onRoom() {}, take: () => undefined }, ['10.99.0.1']),
    );
    run(5000);
    expect(sessionOf(0)?.state).toBe('operational');
    expect(routers[1]?.lastError).toBe('');
  });

  it('withdraw labels and give them out again', () => {
    const { routers, run, sessionOf } = createPair();
    run(3000);
    routers[0]?.withdraw();
    run(100);
    expect(sessionOf(1)?.labels.size).toBe(0);
    routers[0]?.announce();
    run(100);
    expect(sessionOf(1)?.labels.size).toBe(501);
  });

  it('forget a neighbour that is silent or ends the session', () => {
    const silent = createPair();
    silent.run(3000);
    silent.routers[0]?.interrupt(silent.now());
    silent.run(7000);
    expect(silent.routers[1]?.neighbours.size).toBe(0);
    expect(silent.routers[1]?.counters.flaps).toBe(1);
    const ended = createPair();
    ended.run(3000);
    ended.routers[0]?.stop(ended.now());
    ended.run(100);
    expect(ended.routers[1]?.lastError).toBe('received shutdown');
  });
});

/** The hello of a router, in the bytes of RFC 5036. */
const hello = Uint8Array.from(
  Buffer.from('0001001e0a63000100000100001400000001040000040' + '00f0000040100040a630001', 'hex'),
);

describe('labels that are given out', () => {
  const address = 'fd99::1';
  const bindings = new LdpBindings({
    ...{ address, isImplicitNull: false, count: 300, start: '2001:db8::/64', offset: 300, firstLabel: 1000 },
  });

  it('are found by their prefixes', () => {
    expect(bindings.find('2001:db8:0:12c::/64')?.label).toBe(1000);
    expect(bindings.find('2001:db8:0:257::/64')?.label).toBe(1299);
    expect(bindings.find('fd99::1/128')?.label).toBe(2);
    for (const prefix of ['2001:db8:0:12b::/64', '2001:db8:0:258::/64', '2001:db8:0:12c::/65', '10.0.0.0/8'])
      expect(bindings.find(prefix)).toBeUndefined();
    expect([2, 3, 999, 1000, 1299, 1300].map((label) => bindings.has(label))).toEqual([
      ...[true, false, false, true, true, false],
    ]);
  });
});

describe('messages of LDP', () => {
  it('have the bytes of the RFC', () => {
    const content = { lsrId: left, holdSec: 15, isTargeted: false, isRequest: false, transport: addresses.ipv4[0] };
    expect(Buffer.from(encodeHello(content, 1)).toString('hex')).toBe(Buffer.from(hello).toString('hex'));
    expect(parseHello(hello, false)).toEqual(content);
    // A transport address of the other version says nothing.
    expect(parseHello(hello, true)).toEqual({ ...content, transport: undefined });
  });

  const mapping = (): Uint8Array => {
    const writer = new MessageWriter();
    writePdu(writer, right, () => {
      for (let id = 1; id < 4; id++)
        writeLdpMessage(writer, ldpType.labelMapping, id, () => {
          writePrefixFec(writer, { words: parseAddress('11.0.0.0'), isV4: true, length: 8 * id });
          writeTlv(writer, ldpTlv.label, () => writer.u32(16 + id));
        });
    });
    return writer.take();
  };

  it('that are changed are read or end the session with a notification, never more', () => {
    const init = '00010020 0a630002 0000 0200 0016 00000001 0500000e 0001 0006 0000 0000 0a630001 0000';
    const keepalive = '0001000e 0a630002 0000 0201 0004 00000002';
    const opening = [init, keepalive].map((text) => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex')));
    const seeds = [mapping(), ...opening, hello];
    let state = 7;
    const next = (limit: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >>> 8) % limit;
    };
    let ended = 0;
    let wrong = 0;
    const own = {
      ...optionsOf(0),
      peerLsrId: right,
      isActive: false,
      isAnnouncing: false,
      capabilities: [],
    };
    const create = () => {
      const written: Uint8Array[] = [];
      const stream = { write: (bytes: Uint8Array) => written.push(bytes), close: () => {} };
      const session = new LdpSession(stream, own, {
        onMessage: () => {},
        onLabel: () => {},
        onOperational: () => {},
        take: () => false,
        onRoom: () => {},
        onClosed: (reason) => {
          ended++;
          if (!reason.startsWith('sent')) return;
          // Nothing ends without a notification that can be read.
          if (parsePdu(written.at(-1) as Uint8Array).messages[0]?.type !== ldpType.notification) wrong++;
        },
      });
      session.opened(0);
      for (const bytes of opening) session.received(bytes, 0);
      if (session.state !== 'operational') wrong++;
      return session;
    };
    let session = create();
    for (let i = 0; i < mutationRuns(30_000); i++) {
      const seed = seeds[i % seeds.length] as Uint8Array;
      const bytes = seed.slice();
      for (let k = next(3); k >= 0; k--) bytes[next(bytes.length)] = next(256);
      if (i % 4 === 3) {
        try {
          parseHello(bytes, i % 8 === 7);
        } catch (error) {
          if (!(error instanceof LdpError)) throw error;
        }
        continue;
      }
      session.received(bytes, i);
      session.labels.clear();
      if (session.state === 'closed') session = create();
    }
    expect(wrong).toBe(0);
    expect(ended).toBeGreaterThan(1000);
  });

  it('arrive in parts', () => {
    const bytes = mapping();
    expect(ldpPduLength(bytes.subarray(0, 3))).toBe(0);
    expect(ldpPduLength(bytes)).toBe(bytes.length);
  });
});
