import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hexOfBytes } from '../../bytes/memory.ts';
import { AccessLab } from '../../testing/access-lab.ts';
import {
  createL2tpEnds,
  headerOf,
  lacOptions,
  lacPeer,
  lnsOptions,
  typesOf,
  withTunnel,
} from '../../testing/l2tp-ends.ts';
import { sessionState } from '../session-table.ts';
import { messageType } from './control-message.ts';
import type { L2tpLacOptions } from './lac.ts';
import type { L2tpLnsOptions } from './lns.ts';

const { up } = sessionState;
const second = 1000;
const text = (value: string) => new TextEncoder().encode(value);
const none = new Uint8Array(0);

describe('a LAC and an LNS', () => {
  it('set up tunnels, calls and PPP, and end them', () => {
    const pair = createL2tpEnds();
    const { lac, lns, table, lab, tosOfLac } = pair;
    expect(pair.start()).toBe(true);
    lab.run(10);
    expect(lns.table.counts[up]).toBe(20);
    // Twenty sessions, eight in a tunnel.
    expect([lac.tunnels.count, lns.tunnels.count]).toEqual([3, 3]);
    expect(new Set(lac.ppp.ipv4.address).size).toBe(20);
    expect(lns.sessionOf(lac.addressOf(7))).toBeGreaterThanOrEqual(0);
    expect(tosOfLac).toEqual(new Set([0xc0, 0]));
    expect(pair.end()).toBe(true);
    expect(table.viewOf(3)).toMatchObject({ state: 'ended', cause: 'stopped', flaps: 0 });
    expect(pair.leftovers()).toBe(0);
  });

  it('exchange the messages of RFC 2661 in their order', () => {
    const pair = createL2tpEnds({ count: 1 });
    pair.lab.keepsFrames = true;
    expect(pair.start()).toBe(true);
    const { sccrq, sccrp, scccn, icrq, icrp, iccn, cdn, stopCcn } = messageType;
    expect(typesOf(pair.lab.frames).filter((type) => type !== 0)).toEqual([sccrq, sccrp, scccn, icrq, icrp, iccn]);
    pair.lab.frames.length = 0;
    expect(pair.end()).toBe(true);
    // LCP ends before the call: both ends see it and disconnect.
    expect(typesOf(pair.lab.frames).filter((type) => type !== 0)).toEqual([cdn, cdn, stopCcn]);
  });

  it.each([
    ['without a secret', { tunnel: withTunnel({ secret: none }) }],
    ['with a window of one message', { tunnel: withTunnel({ receiveWindow: 1 }) }],
    ['with lengths and numbers in data', { dataLength: true, dataSequencing: true }],
    ['with proxy authentication', { proxyAuth: true }],
    ['with all sessions in a tunnel of their own', { maxPerTunnel: 1 }],
  ])('work %s', (_name, more) => {
    const { maxPerTunnel = 65_535, tunnel = lacOptions.tunnel, ...rest } = more as Partial<L2tpLacOptions>;
    const lns = { ...rest, tunnel: { ...tunnel, maxTunnels: 64 } };
    const pair = createL2tpEnds({ ...more }, lns);
    expect(pair.start()).toBe(true);
    expect([pair.lac.tunnels.count, pair.lns.table.counts[up]]).toEqual([maxPerTunnel === 1 ? 20 : 3, 20]);
    expect(pair.end()).toBe(true);
    expect(pair.leftovers()).toBe(0);
  });

  it('carry packets in both directions', () => {
    const { lab, lac, lns, table, start } = createL2tpEnds();
    expect(start()).toBe(true);
    for (let session = 0; session < 20; session++) lac.prove(session);
    lab.run(20);
    expect([lac.counters.echoReceived, lns.counters.echoAnswered]).toEqual([20, 20]);
    expect([table.rxPackets[5], lns.table.usageOf(0).rxPackets]).toEqual([1, 1]);
    // 20 bytes of IPv4, 8 of UDP, 10 of L2TP with numbers, 4 of PPP.
    expect([lac.mtu, lns.mtu]).toEqual([1500 - 42, 1500 - 42]);
    expect([lac.ppp.link.peerMru[0], lns.ppp.link.peerMru[0]]).toEqual([1458, 1458]);
  });

  it('keep an idle tunnel with hellos', () => {
    const { lab, start, table } = createL2tpEnds(
      { count: 1, ppp: { ...lacOptions.ppp, lcp: { ...lacOptions.ppp.lcp, echoMs: 0 } } },
      {
        ppp: { ...lnsOptions.ppp, lcp: { ...lnsOptions.ppp.lcp, echoMs: 0 } },
      },
    );
    expect(start()).toBe(true);
    lab.keepsFrames = true;
    lab.run(100 * second, undefined, 10);
    const hellos = typesOf(lab.frames).filter((type) => type === messageType.hello).length;
    expect(hellos).toBeGreaterThanOrEqual(4);
    expect(hellos).toBeLessThanOrEqual(10);
    expect(table.viewOf(0)).toMatchObject({ state: 'up', flaps: 0 });
  });

  it('notice that the peer is gone, and come back', () => {
    const { lab, lns, table, start } = createL2tpEnds({
      ppp: { ...lacOptions.ppp, lcp: { ...lacOptions.ppp.lcp, echoMs: 0 } },
    });
    expect(start()).toBe(true);
    lab.tamper = () => undefined;
    lab.run(60 * second, () => table.flaps.every((flaps) => flaps === 1), 10);
    expect(table.flaps.every((flaps) => flaps === 1)).toBe(true);
    expect(table.causeOf(0)).toBe('L2TP: tunnel without answer');
    lab.run(60 * second, () => lns.tunnels.count === 0, 10);
    expect([lns.count, lns.tunnels.count]).toEqual([0, 0]);
    lab.tamper = undefined;
    expect(lab.run(120 * second, () => table.counts[up] === 20, 5)).toBe(true);
  });

  it('let the LNS call where the LAC waits', () => {
    const pair = createL2tpEnds({ count: 5, peer: undefined }, { peer: lacPeer });
    const { lns, lab, table, subscribers } = pair;
    lns.start();
    expect(pair.start()).toBe(true);
    lns.closeAll();
    expect(lab.run(5 * second, () => table.counts[up] === 0)).toBe(true);
    expect(table.causeOf(0)).toBe('L2TP: tunnel ended by the peer');
    lns.start();
    expect(lab.run(60 * second, () => table.counts[up] === 5, 5)).toBe(true);
    subscribers.end();
    expect(lab.run(20 * second, () => subscribers.isOver)).toBe(true);
  });

  it('come up where both call each other', () => {
    const { lab, lac, lns, table, subscribers } = createL2tpEnds({ count: 5 }, { peer: lacPeer });
    lns.start();
    subscribers.begin();
    expect(lab.run(20 * second, () => table.counts[up] === 5)).toBe(true);
    lab.run(60 * second, undefined, 10);
    expect([table.counts[up], table.flaps[0], lac.tunnels.count, lns.tunnels.count]).toEqual([5, 0, 1, 1]);
  });

  it('end a session from the side of the LNS with its cause', () => {
    const { lab, lns, table, start } = createL2tpEnds({ count: 2 });
    expect(start()).toBe(true);
    lns.calls.end(0, { result: 3 });
    lab.run(100, () => table.flaps[0] === 1);
    expect(table.viewOf(0)).toMatchObject({ flaps: 1, cause: 'L2TP: call ended by the peer' });
    expect(table.flaps[1]).toBe(0);
  });
});

describe('what fails is reported', () => {
  const wrong = (session: number) => ({ userName: `user${session + 1}@test`, password: 'no' });
  const ppp = { ...lacOptions.ppp, auth: { ...lacOptions.ppp.auth, credentials: wrong } };
  it.each<[string, Partial<L2tpLacOptions>, Partial<L2tpLnsOptions>, string]>([
    ['another secret', { tunnel: withTunnel({ secret: text('other') }) }, {}, 'L2TP: tunnel refused'],
    ['a secret of the LNS only', { tunnel: withTunnel({ secret: none }) }, {}, 'L2TP: tunnel refused'],
    ['a secret of the LAC only', {}, { tunnel: { ...lnsOptions.tunnel, secret: none } }, 'L2TP: tunnel refused'],
    ['an LNS that calls itself', {}, { peer: { address: 9, port: 1701 } }, 'L2TP: no tunnel'],
    ['too many sessions in a tunnel', {}, { maxPerTunnel: 1 }, 'L2TP: call refused'],
    ['too many sessions', {}, { maxSessions: 1 }, 'L2TP: call refused'],
    ['a wrong password', { ppp }, {}, 'authentication: refused'],
    ['a wrong password through the LAC', { ppp, proxyAuth: true }, { proxyAuth: true }, 'authentication: refused'],
    ['an exhausted pool', {}, { pools: [{ name: '', start: 0x64400002, size: 1 }] }, 'LCP: ended by the peer'],
    ['no LNS to wait for', { peer: undefined }, {}, 'L2TP: no tunnel'],
  ])('%s', (_name, lac, lns, cause) => {
    const pair = createL2tpEnds({ count: 2, ...lac }, lns);
    pair.subscribers.begin();
    const isFailed = () => pair.table.state.some((_, session) => pair.table.causeOf(session) !== 'none');
    expect(pair.lab.run(60 * second, isFailed, 2)).toBe(true);
    const failed = pair.table.state.findIndex((_, session) => pair.table.causeOf(session) !== 'none');
    expect(pair.table.causeOf(failed)).toBe(cause);
    expect(pair.end(60 * second)).toBe(true);
    expect(pair.leftovers()).toBe(0);
  });
});

describe('proxy authentication', () => {
  const proxied = { count: 4, proxyAuth: true };
  const offered = (offer: 'any' | 'chap' | 'pap' | 'msChapV2' | 'none') => ({
    ppp: { ...lacOptions.ppp, auth: { ...lacOptions.ppp.auth, offer } },
  });
  const wanted = (offer: 'any' | 'chap' | 'pap' | 'msChapV2' | 'none') => ({
    ppp: { ...lnsOptions.ppp, auth: { ...lnsOptions.ppp.auth, offer } },
  });

  it.each(['chap', 'pap', 'none'] as const)('goes on with %s without LCP between subscriber and LNS', (offer) => {
    const pair = createL2tpEnds({ ...proxied, ...offered(offer) }, { proxyAuth: true, ...wanted(offer) });
    expect(pair.start()).toBe(true);
    expect(pair.lns.counters.proxied).toBe(4);
    expect([pair.lac.ppp.lcp.counters.sent, pair.lns.ppp.lcp.counters.sent]).toEqual([0, 0]);
  });

  it.each<[string, Partial<L2tpLacOptions>, Partial<L2tpLnsOptions>]>([
    ['the LNS does not trust it', {}, { proxyAuth: false }],
    ['the LNS wants another method', offered('any'), { proxyAuth: true, ...wanted('pap') }],
    ['the method cannot be passed on', offered('msChapV2'), { proxyAuth: true, ...wanted('msChapV2') }],
  ])('begins anew where %s', (_name, lac, lns) => {
    const pair = createL2tpEnds({ ...proxied, ...lac }, lns);
    expect(pair.start(60 * second)).toBe(true);
    expect(pair.lns.counters.proxied).toBe(0);
    expect(pair.lns.ppp.lcp.counters.sent).toBeGreaterThan(0);
  });

  it('hides who a subscriber is', () => {
    const capture = (more: Partial<L2tpLacOptions>, lns: Partial<L2tpLnsOptions>) => {
      const pair = createL2tpEnds(
        { ...proxied, ...offered('pap'), ...more },
        { proxyAuth: true, ...wanted('pap'), ...lns },
      );
      pair.lab.keepsFrames = true;
      expect(pair.start()).toBe(true);
      return pair.lab.frames.map((frame) => hexOfBytes(frame)).join();
    };
    const [name, password] = [hexOfBytes(text('user2@test')), hexOfBytes(text('test-2'))];
    const open = capture({ tunnel: withTunnel({ secret: none }) }, { tunnel: { ...lnsOptions.tunnel, secret: none } });
    expect([open.includes(name), open.includes(password)]).toEqual([true, true]);
    const hidden = capture({}, {});
    expect([hidden.includes(name), hidden.includes(password)]).toEqual([false, false]);
  });
});

describe('numbers of data', () => {
  const numbered = (frames: readonly Uint8Array[]) => {
    const data = frames.filter((frame) => !headerOf(frame).isControl);
    return [data.length > 0, new Set(data.map((frame) => headerOf(frame).isSequenced))];
  };

  it.each<[string, Partial<L2tpLacOptions>, Partial<L2tpLnsOptions>, boolean]>([
    ['the LAC requires them', { dataSequencing: true }, {}, true],
    ['no end wants them', {}, {}, false],
  ])('where %s', (_name, lac, lns, isNumbered) => {
    const pair = createL2tpEnds({ count: 2, ...lac }, lns);
    pair.lab.keepsFrames = true;
    expect(pair.start()).toBe(true);
    expect(numbered(pair.lab.frames)).toEqual([true, new Set([isNumbered])]);
  });

  it('follow the LNS', () => {
    const pair = createL2tpEnds({ count: 2 }, { dataSequencing: true });
    expect(pair.start()).toBe(true);
    pair.lab.keepsFrames = true;
    for (const session of [0, 1]) pair.lac.prove(session);
    pair.lab.run(10);
    expect(numbered(pair.lab.frames)).toEqual([true, new Set([true])]);
    expect(pair.lac.counters.echoReceived).toBe(2);
  });
});

it('come up and end on a wire that loses, repeats and reorders', () => {
  const wire = fc.record({
    seed: fc.nat(),
    lossPct: fc.nat(15),
    duplicatePct: fc.nat(20),
    jitterMs: fc.nat(60),
    proxyAuth: fc.boolean(),
    dataSequencing: fc.boolean(),
    dataLength: fc.boolean(),
  });
  fc.assert(
    fc.property(wire, ({ seed, lossPct, duplicatePct, jitterMs, ...more }) => {
      const lab = new AccessLab(seed);
      Object.assign(lab, { lossPct, duplicatePct, jitterMs });
      const pair = createL2tpEnds(more, more, lab);
      expect(pair.start(400 * second)).toBe(true);
      Object.assign(lab, { lossPct: 0, duplicatePct: 0, jitterMs: 0 });
      expect(lab.run(200 * second, () => pair.table.counts[up] === 20 && pair.lns.table.counts[up] === 20, 5)).toBe(
        true,
      );
      expect(new Set(pair.lac.ppp.ipv4.address).size).toBe(20);
      Object.assign(lab, { lossPct, duplicatePct, jitterMs });
      expect(pair.end(200 * second)).toBe(true);
      Object.assign(lab, { lossPct: 0, duplicatePct: 0, jitterMs: 0 });
      expect(pair.leftovers()).toBe(0);
    }),
    { numRuns: 12 },
  );
});
