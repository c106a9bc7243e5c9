import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyOf, hexOfBytes, Memory } from '../../bytes/memory.ts';
import { AccessLab } from '../../testing/access-lab.ts';
import {
  createL2tpEnds,
  headerOf,
  type L2tpEnds,
  lacPeer,
  lnsOptions,
  lnsPeer,
  typesOf,
  withTunnel,
} from '../../testing/l2tp-ends.ts';
import { mutationRuns } from '../../testing/mutation-runs.ts';
import { sessionState } from '../session-table.ts';
import { avpType, halfValue, wordValue } from './avp.ts';
import { messageType, readControl, writeControl } from './control-message.ts';

const { up } = sessionState;
const second = 1000;
const text = (value: string) => new TextEncoder().encode(value);
const none = new Uint8Array(0);

/** What a peer that is not ours says of itself. */
const startAvps = [
  { type: avpType.protocolVersion, value: halfValue(0x0100) },
  { type: avpType.framingCapabilities, value: wordValue(3) },
  { type: avpType.hostName, value: text('stranger') },
  { type: avpType.assignedTunnelId, value: halfValue(77) },
];

/** An LNS to which such a peer sends requests. */
const createStranger = () => {
  const { lab, lns } = createL2tpEnds({ count: 0 });
  const types: number[] = [];
  lab.tamper = (frame) => {
    types.push(...typesOf([frame]));
    return undefined;
  };
  const request = (avps: typeof startAvps) => {
    const bytes = writeControl(messageType.sccrq, { tunnelId: 0, sessionId: 0 }, avps);
    lns.receive(lacPeer, new Memory(bytes), 0, bytes.length);
  };
  return { lab, lns, types, request };
};

const openPair = { tunnel: { ...lnsOptions.tunnel, secret: none } };

describe('messages of a stranger', () => {
  const openTunnel = () => {
    const lab = new AccessLab();
    const { lns } = createL2tpEnds({ count: 0 }, openPair, lab);
    const answers: { type: number; avps: ReadonlyMap<number, Uint8Array>; sessionId: number }[] = [];
    lab.tamper = (frame, from) => {
      const { payload, end, sessionId } = headerOf(frame);
      const message = readControl(new Memory(copyOf(frame)), { payload, end, sessionId }, none);
      if (from === 1 && message !== undefined) answers.push(message);
      return undefined;
    };
    let ns = 0;
    const send = (bytes: Uint8Array) => {
      new DataView(bytes.buffer).setUint16(8, ns++);
      new DataView(bytes.buffer).setUint16(10, answers.length);
      lns.receive(lacPeer, new Memory(bytes), 0, bytes.length);
    };
    send(writeControl(messageType.sccrq, { tunnelId: 0, sessionId: 0 }, startAvps));
    const tunnelId = [...lns.tunnels.tunnels][0]?.localId ?? 0;
    send(writeControl(messageType.scccn, { tunnelId, sessionId: 0 }, []));
    expect([...lns.tunnels.tunnels].map(({ isOpen }) => isOpen)).toEqual([true]);
    return { lab, lns, answers, send, tunnelId };
  };
  const incoming = [
    { type: avpType.assignedSessionId, value: halfValue(5) },
    { type: avpType.callSerialNumber, value: wordValue(1) },
  ];
  const lastOf = <Item>(items: readonly Item[]) => items[items.length - 1];

  it('that ask for an outgoing call are refused, and the tunnel lives', () => {
    const { lns, answers, send, tunnelId } = openTunnel();
    send(writeControl(messageType.ocrq, { tunnelId, sessionId: 0 }, incoming));
    expect(lastOf(answers)).toMatchObject({ type: messageType.cdn, sessionId: 5 });
    expect(hexOfBytes(lastOf(answers)?.avps.get(avpType.resultCode) ?? none)).toBe('00050004');
    expect([...lns.tunnels.tunnels].map(({ isOpen }) => isOpen)).toEqual([true]);
  });

  it('with an unknown mandatory attribute end the call, or the tunnel', () => {
    const { lns, answers, send, tunnelId } = openTunnel();
    const unknown = Uint8Array.of(0x80, 8, 0, 0, 3, 0xe7, 0, 1);
    const withUnknown = (bytes: Uint8Array) => {
      const longer = new Uint8Array([...bytes, ...unknown]);
      new DataView(longer.buffer).setUint16(2, longer.length);
      return longer;
    };
    send(withUnknown(writeControl(messageType.icrq, { tunnelId, sessionId: 0 }, incoming)));
    expect(lastOf(answers)).toMatchObject({ type: messageType.cdn, sessionId: 5 });
    expect(hexOfBytes(lastOf(answers)?.avps.get(avpType.resultCode) ?? none).slice(0, 8)).toBe('00020008');
    send(withUnknown(writeControl(messageType.hello, { tunnelId, sessionId: 0 }, [])));
    expect(lastOf(answers)?.type).toBe(messageType.stopCcn);
    expect(new TextDecoder().decode(lastOf(answers)?.avps.get(avpType.resultCode)?.subarray(4))).toBe('attribute 999');
    expect([...lns.tunnels.tunnels].map(({ isLive }) => isLive)).toEqual([false]);
  });

  it.each([
    ['unknown and mandatory', 0x80, false],
    ['unknown and not mandatory', 0x00, true],
  ])('of a type that is %s', (_name, bit, isOpen) => {
    const { lns, send, tunnelId } = openTunnel();
    const bytes = writeControl(99, { tunnelId, sessionId: 0 }, []);
    bytes[12] = bit;
    send(bytes);
    expect([...lns.tunnels.tunnels].map((tunnel) => tunnel.isOpen)).toEqual([isOpen]);
  });

  it('out of sequence end the tunnel with the result for it', () => {
    const { answers, send, tunnelId } = openTunnel();
    send(writeControl(messageType.scccn, { tunnelId, sessionId: 0 }, []));
    expect(lastOf(answers)?.type).toBe(messageType.stopCcn);
    expect(hexOfBytes(lastOf(answers)?.avps.get(avpType.resultCode) ?? none)).toBe('0007');
  });

  it('of another version are answered with ours', () => {
    const { lns, types, request } = createStranger();
    request([{ type: avpType.protocolVersion, value: halfValue(0x0200) }, ...startAvps.slice(1)]);
    expect(types[0]).toBe(messageType.stopCcn);
    expect([...lns.tunnels.tunnels].map(({ isLive }) => isLive)).toEqual([false]);
  });

  it('with a tie breaker win over a request without one', () => {
    const lab = new AccessLab();
    const { lac, subscribers } = createL2tpEnds({ count: 1, tunnel: withTunnel({ secret: none }) }, {}, lab);
    const types: number[] = [];
    lab.tamper = (frame, from) => {
      if (from === 0) types.push(...typesOf([frame]));
      return undefined;
    };
    subscribers.begin();
    lab.run(50, () => types.length > 0);
    const breaker = { type: avpType.tieBreaker, value: new Uint8Array(8) };
    const request = writeControl(messageType.sccrq, { tunnelId: 0, sessionId: 0 }, [...startAvps, breaker]);
    lac.receive(lnsPeer, new Memory(request), 0, request.length);
    expect(types).toEqual([messageType.sccrq, messageType.sccrp]);
    expect([...lac.tunnels.tunnels].map(({ peerId }) => peerId)).toEqual([77]);
  });

  it('from another address do not touch a tunnel', () => {
    const { lns, tunnelId } = openTunnel();
    const stop = writeControl(messageType.stopCcn, { tunnelId, sessionId: 0 }, [
      { type: avpType.assignedTunnelId, value: halfValue(77) },
      { type: avpType.resultCode, value: halfValue(1) },
    ]);
    new DataView(stop.buffer).setUint16(8, 2);
    lns.receive({ ...lacPeer, address: 1 }, new Memory(stop), 0, stop.length);
    expect([...lns.tunnels.tunnels].map(({ isOpen }) => isOpen)).toEqual([true]);
    expect(lns.tunnels.counters.unknown).toBe(1);
  });

  it('that begin more tunnels than there may be leave no more, and all of them end', () => {
    const { lab, lns, request } = createStranger();
    for (let id = 1; id <= 500; id++)
      request([...startAvps.slice(0, 3), { type: avpType.assignedTunnelId, value: halfValue(id) }]);
    expect(lns.tunnels.count).toBe(64);
    expect(lab.run(70 * second, () => lns.tunnels.count === 0, 50)).toBe(true);
    expect(lns.tunnels.timerCount).toBe(0);
  });
});

/** Addresses messages to a tunnel that lives, with the number and the session that it expects. */
const createAim = ({ lab, lac, lns }: L2tpEnds) => {
  /** What an end expects next, by the identifier that it sends to. */
  const expected: [Map<number, number>, Map<number, number>] = [new Map(), new Map()];
  lab.tamper = (frame, from) => {
    const { isControl, tunnelId, nr } = headerOf(frame);
    if (isControl) expected[from].set(tunnelId, nr);
    return frame;
  };
  return (frame: Uint8Array, to: 0 | 1, choice: number): void => {
    const tunnels = [...(to === 0 ? lac : lns).tunnels.tunnels].filter(({ isLive }) => isLive);
    const tunnel = tunnels[choice % Math.max(tunnels.length, 1)];
    if (tunnel === undefined || frame.length < 12) return;
    const view = new DataView(frame.buffer);
    const isControl = (view.getUint16(0) & 0x8000) !== 0;
    const at = (view.getUint16(0) & 0x4000) === 0 ? 2 : 4;
    view.setUint16(at, tunnel.localId);
    const call = lac.calls.find(choice % 20);
    if (view.getUint16(at + 2) !== 0 && call !== undefined)
      view.setUint16(at + 2, to === 0 ? call.localId : call.peerId);
    if (isControl) view.setUint16(8, expected[to].get(tunnel.peerId) ?? 0);
    if (isControl) view.setUint16(2, frame.length);
  };
};

it('mutated messages break neither end and leave nothing behind', () => {
  const tunnel = withTunnel({ timeoutMs: 100, attempts: 3 });
  const pair = createL2tpEnds({ proxyAuth: true, tunnel }, { proxyAuth: true, tunnel: { ...tunnel, maxTunnels: 64 } });
  const { lab, lac, lns, table } = pair;
  lab.keepsFrames = true;
  const aim = createAim(pair);
  expect(pair.start()).toBe(true);
  const frames = lab.frames.slice();
  lab.keepsFrames = false;
  const change = fc.tuple(fc.nat(120), fc.nat(255));
  const changes = fc.array(change, { minLength: 1, maxLength: 6 });
  const mutation = fc.record({ index: fc.nat(frames.length - 1), changes, length: fc.nat(200), choice: fc.nat(999) });
  const runs = mutationRuns(20_000);
  let count = 0;
  fc.assert(
    fc.property(mutation, ({ index, changes, length, choice }) => {
      for (const to of [0, 1] as const) {
        const frame = copyOf(frames[index] as Uint8Array, 0, Math.max(length, 6));
        for (const [at, value] of changes) if (at < frame.length) frame[at] = value;
        if (choice % 2 === 0) aim(frame, to, choice >> 1);
        const [end, peer] = to === 0 ? [lac, lnsPeer] : [lns, lacPeer];
        end.receive(peer, new Memory(frame), 0, frame.length);
      }
      // Most of them end a tunnel: new ones come up for those that follow.
      if (++count % 20 === 0) lab.run(1500, () => (table.counts[up] as number) > 10, 10);
      return lac.tunnels.count <= 22 && lns.tunnels.count <= 64;
    }),
    { numRuns: runs },
  );
  expect(count).toBe(runs);
  // They have reached what is behind the numbers: calls and tunnels have been ended by them.
  expect(table.flaps.reduce((sum, flaps) => sum + flaps)).toBeGreaterThan(500);
  expect(lns.calls.counters.refused + lns.calls.counters.invalid).toBeGreaterThan(50);
  expect(lab.run(300 * second, () => table.counts[up] === 20 && lns.table.counts[up] === 20, 5)).toBe(true);
  expect(pair.end(60 * second)).toBe(true);
  expect(pair.leftovers()).toBe(0);
});
