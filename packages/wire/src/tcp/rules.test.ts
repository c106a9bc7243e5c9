import { beforeEach, describe, expect, it } from 'vitest';
import { RawPeer } from '../testing/raw-peer.ts';
import { keyFor } from '../testing/simulated-wire.ts';
import { Recorder, testSettings } from '../testing/transfer.ts';
import { resetConnection, TcpConnection, type TcpEvents } from './connection.ts';
import { tcpFlag } from './segment/segment.ts';

const { syn, ack, rst, fin } = tcpFlag;
const second = 1_000_000;
const peerIss = 5000;

let peer: RawPeer;
let recorder: Recorder;
const key = keyFor(4000, 80);

const connect = (settings = {}) =>
  peer.wire.stacks[0].connect(key, { settings: testSettings(settings), events: recorder, path: 0 });

/** Opens a connection of the stack to the raw peer; returns the next sequence number of the stack. */
const establish = (settings = {}, window = 65_535): number => {
  connect(settings);
  const [opening] = peer.take();
  const next = ((opening?.seq ?? 0) + 1) | 0;
  peer.send(key, { flags: syn | ack, seq: peerIss, ack: next, mss: 1000, window });
  peer.take();
  return next;
};

beforeEach(() => {
  peer = new RawPeer();
  recorder = new Recorder(peer.wire.stacks[0], new Uint8Array(0));
  recorder.closesWhenSent = false;
});

describe('opening', () => {
  it('sends the options as ordered', () => {
    connect({ mss: 700, window: 100_000, sack: true, timestamps: false, windowScale: true });
    expect(peer.take()).toMatchObject([
      { flags: syn, mss: 700, window: 65_535, windowShift: 1, isSackPermitted: true, hasTimestamps: false },
    ]);
  });

  it('leaves options out and announces a small window exactly', () => {
    connect({ window: 2304, sack: false, timestamps: false, windowScale: false });
    expect(peer.take()).toMatchObject([{ mss: 1460, window: 2304, windowShift: -1, isSackPermitted: false }]);
  });

  it('asks for ECN', () => {
    connect({ ecn: true });
    expect(peer.take()).toMatchObject([{ flags: syn | tcpFlag.ece | tcpFlag.cwr }]);
  });

  it('repeats the SYN as often as ordered, each time later, then fails', () => {
    connect({ synRetries: 3 });
    peer.wire.run(100 * second, () => recorder.isClosed);
    expect(peer.take().map(({ flags }) => flags)).toEqual([syn, syn, syn, syn]);
    expect(recorder.cause).toBe('ETIMEDOUT');
    expect(peer.wire.nowUs).toBeGreaterThan(15 * second);
  });

  it('is refused by a RST that acknowledges the SYN, and by no other', () => {
    connect();
    const [opening] = peer.take();
    peer.send(key, { flags: rst | ack, seq: 0, ack: (opening?.seq ?? 0) | 0 });
    expect(recorder.isClosed).toBe(false);
    peer.send(key, { flags: rst | ack, seq: 0, ack: ((opening?.seq ?? 0) + 1) | 0 });
    expect(recorder.cause).toBe('ECONNREFUSED');
  });

  it('works from both sides at the same time', () => {
    connect();
    const [opening] = peer.take();
    const next = ((opening?.seq ?? 0) + 1) | 0;
    peer.send(key, { flags: syn, seq: peerIss, mss: 1000 });
    expect(peer.take()).toMatchObject([{ flags: syn | ack, seq: opening?.seq, ack: peerIss + 1 }]);
    peer.send(key, { flags: ack, seq: peerIss + 1, ack: next });
    expect(recorder.isOpen).toBe(true);
  });
});

describe('resets', () => {
  it('end a connection only at the exact sequence number; others are challenged (RFC 5961)', () => {
    const next = establish();
    peer.send(key, { flags: rst, seq: peerIss + 500 });
    expect(peer.take()).toMatchObject([{ flags: ack, seq: next, ack: peerIss + 1 }]);
    peer.send(key, { flags: rst, seq: peerIss - 500 });
    expect(peer.take()).toEqual([]);
    expect(recorder.isClosed).toBe(false);
    peer.send(key, { flags: rst, seq: peerIss + 1 });
    expect(recorder.cause).toBe('ECONNRESET');
  });

  it('answer a SYN in the window with a challenge', () => {
    establish();
    peer.send(key, { flags: syn, seq: peerIss + 100 });
    expect(peer.take()).toMatchObject([{ flags: ack, ack: peerIss + 1 }]);
    expect(recorder.isClosed).toBe(false);
  });

  it('answer segments to closed ports, but never a reset', () => {
    peer.send(keyFor(9, 9), { flags: syn, seq: 77 });
    expect(peer.take()).toMatchObject([{ flags: rst | ack, seq: 0, ack: 78 }]);
    peer.send(keyFor(9, 9), { flags: ack, seq: 77, ack: 99 });
    expect(peer.take()).toMatchObject([{ flags: rst, seq: 99 }]);
    peer.send(keyFor(9, 9), { flags: rst, seq: 77 });
    expect(peer.take()).toEqual([]);
  });

  it('limit challenges', () => {
    establish();
    for (let i = 0; i < 3000; i++) peer.send(key, { flags: syn, seq: peerIss + 100 });
    expect(peer.take().length).toBe(1000);
  });
});

describe('a peer that does not answer', () => {
  it('is given up after the ordered number of repetitions', () => {
    establish({ dataRetries: 5 });
    peer.wire.stacks[0].send(recorder.connection as TcpConnection, new Uint8Array(100));
    peer.wire.run(300 * second, () => recorder.isClosed);
    expect(recorder.cause).toBe('ETIMEDOUT');
    expect(recorder.retransmits).toBe(5);
  });

  it('is found by keep-alive probes', () => {
    const next = establish({ keepAliveMs: 1000, keepAliveProbes: 3 });
    peer.wire.run(1.5 * second);
    expect(peer.take()).toMatchObject([{ flags: ack, seq: next - 1 }]);
    peer.send(key, { flags: ack, seq: peerIss + 1, ack: next });
    peer.wire.run(30 * second, () => recorder.isClosed);
    expect(recorder.cause).toBe('ETIMEDOUT');
    expect(peer.take().length).toBe(4);
  });
});

describe('windows', () => {
  it('that stay closed for a minute are probed and survive', () => {
    const next = establish({}, 0);
    const c = recorder.connection as TcpConnection;
    peer.wire.stacks[0].send(c, new Uint8Array(3000));
    let probes = 0;
    for (let time = 0; time < 60; time++) {
      peer.wire.run(second);
      for (const segment of peer.take()) {
        expect(segment).toMatchObject({ seq: next - 1, data: new Uint8Array(0) });
        probes++;
        peer.send(key, { flags: ack, seq: peerIss + 1, ack: next, window: 0 });
      }
    }
    expect(probes).toBeGreaterThan(4);
    expect(recorder.isClosed).toBe(false);
    peer.send(key, { flags: ack, seq: peerIss + 1, ack: next, window: 5000 });
    const lengths = peer.take().map(({ data }) => data.length);
    expect(lengths).toEqual([1000, 1000, 1000]);
  });

  it('that shrink below what is in flight stop new data only', () => {
    const next = establish({}, 10_000);
    const [stack] = peer.wire.stacks;
    const c = recorder.connection as TcpConnection;
    stack.send(c, new Uint8Array(4000));
    expect(peer.take().map(({ data }) => data.length)).toEqual([1000, 1000, 1000, 1000]);
    peer.send(key, { flags: ack, seq: peerIss + 1, ack: next + 1000, window: 500 });
    stack.send(c, new Uint8Array(2000));
    peer.wire.run(30 * second);
    // The first segment is repeated; nothing new is sent.
    const ends = peer.take().map(({ seq, data }) => seq + data.length - next);
    expect(ends.length).toBeGreaterThan(2);
    expect(new Set(ends)).toEqual(new Set([2000]));
    peer.send(key, { flags: ack, seq: peerIss + 1, ack: next + 4000, window: 10_000 });
    expect(peer.take().map(({ seq }) => seq - next)).toEqual([4000, 5000]);
    expect(recorder.isClosed).toBe(false);
  });

  it('of ours close while reading is paused and open again', () => {
    const next = establish({ window: 4000, windowScale: false, delayedAckMs: 0 });
    const [stack] = peer.wire.stacks;
    const c = recorder.connection as TcpConnection;
    stack.pause(c);
    for (let i = 0; i < 6; i++)
      peer.send(key, { flags: ack, seq: peerIss + 1 + i * 1000, ack: next, data: new Uint8Array(1000) });
    expect(peer.take().at(-1)).toMatchObject({ ack: peerIss + 4001, window: 0 });
    expect(recorder.received).toBe(0);
    stack.resume(c);
    expect(peer.take()).toMatchObject([{ ack: peerIss + 4001, window: 4000 }]);
    expect(recorder.received).toBe(4000);
  });
});

describe('data out of order', () => {
  const acknowledgements = (isSackPermitted: boolean): number[] => {
    connect();
    const next = ((peer.take()[0]?.seq ?? 0) + 1) | 0;
    peer.send(key, { flags: syn | ack, seq: peerIss, ack: next, mss: 1000, isSackPermitted });
    peer.take();
    const segment = (index: number) => {
      return { flags: ack, seq: peerIss + 1 + index * 1000, ack: next, data: new Uint8Array(1000) };
    };
    const counts = [17, 1].map((size, index) => {
      peer.send(key, ...Array.from({ length: size }, (_, i) => segment(index * 17 + 1 + i)));
      return peer.take().length;
    });
    peer.send(key, segment(0));
    expect(peer.take()).toMatchObject([{ ack: peerIss + 1 + 19_000 }]);
    expect(recorder.received).toBe(19_000);
    return counts;
  };

  it('is acknowledged at once where it begins, then once for eight segments at hand and after the last of them', () => {
    expect(acknowledgements(true)).toEqual([3, 1]);
  });

  it('is acknowledged segment by segment to a peer that counts acknowledgements', () => {
    expect(acknowledgements(false)).toEqual([17, 1]);
  });
});

describe('closing', () => {
  it('answers a repeated FIN in TIME-WAIT and lets a newer SYN take the flow over', () => {
    const [stack] = peer.wire.stacks;
    const next = establish();
    stack.close(recorder.connection as TcpConnection);
    expect(peer.take()).toMatchObject([{ flags: fin | ack, seq: next }]);
    peer.send(key, { flags: fin | ack, seq: peerIss + 1, ack: (next + 1) | 0 });
    expect(peer.take()).toMatchObject([{ flags: ack, ack: peerIss + 2 }]);
    expect([recorder.isClosed, recorder.cause, stack.timeWaitCount, stack.connectionCount]).toEqual([
      true,
      undefined,
      1,
      0,
    ]);
    peer.send(key, { flags: fin | ack, seq: peerIss + 1, ack: (next + 1) | 0 });
    expect(peer.take()).toMatchObject([{ flags: ack, seq: (next + 1) | 0, ack: peerIss + 2 }]);
    stack.listen(4000, { settings: testSettings(), backlog: 1, accept: () => recorder });
    peer.send(key, { flags: syn, seq: peerIss + 100_000 });
    expect(peer.take()).toMatchObject([{ flags: syn | ack, ack: peerIss + 100_001 }]);
    expect(stack.timeWaitCount).toBe(0);
  });

  it('from both sides at once ends in order', () => {
    const [stack] = peer.wire.stacks;
    const next = establish();
    stack.close(recorder.connection as TcpConnection);
    peer.take();
    peer.send(key, { flags: fin | ack, seq: peerIss + 1, ack: next });
    expect(peer.take()).toMatchObject([{ flags: ack, ack: peerIss + 2 }]);
    peer.send(key, { flags: ack, seq: peerIss + 2, ack: (next + 1) | 0 });
    expect([recorder.isClosed, recorder.cause, stack.timeWaitCount]).toEqual([true, undefined, 1]);
  });
});

describe('the path', () => {
  it('is learnt from ICMP: smaller segments at once', () => {
    const next = establish({ timestamps: false });
    const [stack] = peer.wire.stacks;
    stack.send(recorder.connection as TcpConnection, new Uint8Array(2000));
    expect(peer.take().map(({ data }) => data.length)).toEqual([1000, 1000]);
    stack.receiveError(key, (next - 5000) | 0, { mtu: 400, cause: undefined });
    expect(peer.take()).toEqual([]);
    stack.receiveError(key, next, { mtu: 640, cause: undefined });
    const again = peer.take();
    expect(again[0]).toMatchObject({ seq: next });
    expect(again.map(({ data }) => data.length)).toEqual([600, 400, 600, 400]);
  });
});

describe('a flood of SYNs', () => {
  it('uses no more memory than the backlog; a cookie still makes a connection', () => {
    const [stack] = peer.wire.stacks;
    const accepted: TcpConnection[] = [];
    const events: TcpEvents = recorder;
    stack.listen(4000, {
      settings: testSettings(),
      backlog: 50,
      accept: (c) => {
        accepted.push(c);
        return events;
      },
    });
    for (let i = 0; i < 20_000; i++)
      peer.send(keyFor(4000, 1000 + (i % 60_000), i >> 8), { flags: syn, seq: i, mss: 1460 });
    expect(stack.connectionCount).toBe(50);
    expect(stack.counters.cookiesSent).toBe(19_950);
    const answers = peer.take();
    const last = keyFor(4000, 1000 + 19_999, 19_999 >> 8);
    const cookie = (answers.at(-1)?.seq ?? 0) + 1;
    peer.send(last, { flags: ack, seq: 20_000, ack: (cookie + 1000) | 0 });
    expect(accepted.length).toBe(0);
    peer.send(last, { flags: ack, seq: 20_000, ack: cookie | 0, data: new Uint8Array(7) });
    expect(accepted.length).toBe(1);
    expect(recorder.received).toBe(7);
    expect(accepted[0]?.peerMss).toBe(1460);
    peer.wire.run(200 * second);
    expect(stack.connectionCount).toBe(1);
  });
});

it('a recycled connection is like a new one', () => {
  const used = new TcpConnection();
  for (const name of Object.keys(used) as (keyof TcpConnection)[]) {
    if (name === 'isDirty' || name === 'isBlocked' || name === 'nextFree') continue;
    Object.assign(used, { [name]: 12_345 });
  }
  resetConnection(used);
  expect(used).toEqual(new TcpConnection());
});

describe('congestion window', () => {
  const sentBytes = () => peer.take().reduce((sum, { data }) => sum + data.length, 0);

  it('grows by all bytes that acknowledgements handled together cover', () => {
    const next = establish({ initialWindow: 10, congestion: 'newreno' });
    const [stack] = peer.wire.stacks;
    stack.send(recorder.connection as TcpConnection, new Uint8Array(60_000));
    expect(sentBytes()).toBe(10_000);
    const acks = [2, 4, 6, 8, 10].map((count) => ({ flags: ack, seq: peerIss + 1, ack: next + count * 1000 }));
    peer.send(key, ...acks);
    expect(sentBytes()).toBe(20_000);
  });

  it('does not grow while the application sends less than it allows', () => {
    const next = establish({ initialWindow: 10, congestion: 'newreno' });
    const [stack] = peer.wire.stacks;
    for (let count = 1; count <= 20; count++) {
      stack.send(recorder.connection as TcpConnection, new Uint8Array(1000));
      expect(sentBytes()).toBe(1000);
      peer.send(key, { flags: ack, seq: peerIss + 1, ack: next + count * 1000 });
    }
    stack.send(recorder.connection as TcpConnection, new Uint8Array(60_000));
    expect(sentBytes()).toBe(10_000);
  });
});
