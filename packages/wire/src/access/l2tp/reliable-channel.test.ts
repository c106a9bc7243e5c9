import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../testing/random.ts';
import { messageType, writeControl } from './control-message.ts';
import { cycleMs, ReliableChannel } from './reliable-channel.ts';

const options = { receiveWindow: 16, timeoutMs: 1000, attempts: 5 };
const messageOf = (sessionId: number) => writeControl(messageType.cdn, { tunnelId: 1, sessionId }, []);
const idOf = (message: Uint8Array) => new DataView(message.buffer, message.byteOffset).getUint16(6);

interface Sent {
  readonly message: Uint8Array | undefined;
  readonly ns: number;
  readonly nr: number;
}

/** One end, with what it sends and when its timer is due. */
const createEnd = (nowMs: () => number, more = {}) => {
  const state = { sent: [] as Sent[], dueMs: Number.POSITIVE_INFINITY, isDead: false, isDrained: false };
  const channel = new ReliableChannel(
    {
      transmit: (message, ns, nr) => state.sent.push({ message: message && new Uint8Array(message), ns, nr }),
      setTimer: (delayMs) => {
        state.dueMs = nowMs() + delayMs;
      },
      clearTimer: () => {
        state.dueMs = Number.POSITIVE_INFINITY;
      },
      onDead: () => {
        state.isDead = true;
      },
      onDrained: () => {
        state.isDrained = true;
      },
    },
    { ...options, ...more },
  );
  const tick = () => {
    if (nowMs() < state.dueMs) return;
    state.dueMs = Number.POSITIVE_INFINITY;
    channel.onTimer();
  };
  const numbers = () =>
    state.sent.splice(0).map(({ message, ns, nr }) => [message === undefined ? 'ZLB' : idOf(message), ns, nr]);
  return { channel, state, tick, numbers };
};

const nothing = () => {};

interface WireChoice {
  readonly seed: number;
  readonly lossPct: number;
  readonly duplicatePct: number;
  readonly jitterMs: number;
  readonly window: number;
  readonly counts: readonly [number, number];
}

describe('the examples of RFC 2661, appendix B', () => {
  it('sets up a tunnel in lock-step (B.1)', () => {
    const [near, far] = [createEnd(() => 0), createEnd(() => 0)];
    near.channel.send(messageOf(1));
    expect(near.numbers()).toEqual([[1, 0, 0]]);
    far.channel.receive({ ns: 0, nr: 0 }, messageOf(1), () => far.channel.send(messageOf(2)));
    expect(far.numbers()).toEqual([[2, 0, 1]]);
    near.channel.receive({ ns: 0, nr: 1 }, messageOf(2), () => near.channel.send(messageOf(3)));
    expect(near.numbers()).toEqual([[3, 1, 1]]);
    far.channel.receive({ ns: 1, nr: 1 }, messageOf(3), nothing);
    expect(far.numbers()).toEqual([['ZLB', 1, 2]]);
    expect(far.state.isDrained).toBe(true);
  });

  it('repeats a lost message (B.2)', () => {
    let nowMs = 0;
    const [lac, lns] = [createEnd(() => nowMs), createEnd(() => nowMs)];
    // The tunnel exists: two messages of the LAC and one of the LNS have been exchanged.
    for (const id of [1, 2]) lac.channel.send(messageOf(id));
    lac.channel.receive({ ns: 0, nr: 1 }, messageOf(9), nothing);
    lac.channel.receive({ ns: 1, nr: 2 }, undefined, nothing);
    lns.channel.receive({ ns: 0, nr: 0 }, messageOf(1), () => lns.channel.send(messageOf(9)));
    lns.channel.receive({ ns: 1, nr: 1 }, messageOf(2), nothing);
    lac.numbers();
    lns.numbers();
    lac.channel.send(messageOf(10));
    expect(lac.numbers()).toEqual([[10, 2, 1]]);
    nowMs = 100;
    lns.channel.receive({ ns: 2, nr: 1 }, messageOf(10), () => lns.channel.send(messageOf(11)));
    expect(lns.numbers()).toEqual([[11, 1, 3]]);
    nowMs = 1000;
    lac.tick();
    expect(lac.numbers()).toEqual([[10, 2, 1]]);
    lns.channel.receive({ ns: 2, nr: 1 }, messageOf(10), nothing);
    expect(lns.numbers()).toEqual([['ZLB', 2, 3]]);
    lac.channel.receive({ ns: 2, nr: 3 }, undefined, nothing);
    nowMs = 1100;
    lns.tick();
    expect(lns.numbers()).toEqual([[11, 1, 3]]);
    lac.channel.receive({ ns: 1, nr: 3 }, messageOf(11), () => lac.channel.send(messageOf(12)));
    expect(lac.numbers()).toEqual([[12, 3, 2]]);
    lns.channel.receive({ ns: 3, nr: 2 }, messageOf(12), nothing);
    expect(lns.numbers()).toEqual([['ZLB', 2, 4]]);
  });
});

describe('a channel without an answer', () => {
  it('waits 1, 2, 4, 8 and 16 seconds, then the peer counts as gone', () => {
    let nowMs = 0;
    const { channel, state, tick } = createEnd(() => nowMs);
    channel.send(messageOf(1));
    const times: number[] = [];
    for (; nowMs < 60_000 && !state.isDead; nowMs += 100) {
      tick();
      if (state.sent.length > times.length) times.push(nowMs);
    }
    expect(times).toEqual([0, 1000, 3000, 7000, 15_000]);
    expect([state.isDead, nowMs - 100, cycleMs(options)]).toEqual([true, 31_000, 31_000]);
    expect(cycleMs({ ...options, attempts: 7 })).toBe(63_000);
  });
});

describe('windows', () => {
  it('grow from one by slow start up to that of the peer, and shrink after a loss', () => {
    let nowMs = 0;
    const { channel, state, tick, numbers } = createEnd(() => nowMs);
    channel.setPeerWindow(4);
    for (let id = 1; id <= 30; id++) channel.send(messageOf(id));
    expect(numbers()).toHaveLength(1);
    channel.receive({ ns: 0, nr: 1 }, undefined, nothing);
    expect(numbers().map(([id]) => id)).toEqual([2, 3]);
    for (let nr = 2; nr < 20; nr++) channel.receive({ ns: 0, nr }, undefined, nothing);
    numbers();
    expect([channel.congestionWindow, channel.pending]).toEqual([4, 11]);
    nowMs = state.dueMs;
    tick();
    expect(numbers()).toEqual([[20, 19, 0]]);
    expect(channel.congestionWindow).toBe(1);
    // All four had arrived but for the first.
    channel.receive({ ns: 0, nr: 23 }, undefined, nothing);
    expect(numbers().map(([, ns]) => ns)).toEqual([23, 24]);
  });

  it('take what comes early up to their own size', () => {
    const { channel, numbers } = createEnd(() => 0, { receiveWindow: 3 });
    const delivered: number[] = [];
    const take = (message: Uint8Array) => delivered.push(idOf(message));
    for (const ns of [2, 1, 3]) channel.receive({ ns, nr: 0 }, messageOf(ns), take);
    expect([delivered, numbers()]).toEqual([[], new Array(3).fill(['ZLB', 0, 0])]);
    channel.receive({ ns: 0, nr: 0 }, messageOf(0), take);
    expect([delivered, numbers()]).toEqual([[0, 1, 2], [['ZLB', 0, 3]]]);
    expect(channel.counters).toMatchObject({ early: 2, discarded: 1 });
  });

  it('compare numbers as RFC 2661, 5.8, says: after 15, 0 to 15 and 32784 to 65535 are duplicates', () => {
    const { channel } = createEnd(() => 0);
    for (let ns = 0; ns <= 15; ns++) channel.receive({ ns, nr: 0 }, messageOf(ns), nothing);
    for (const ns of [0, 15, 32_784, 65_535]) channel.receive({ ns, nr: 0 }, messageOf(ns), () => expect.unreachable());
    expect(channel.counters.duplicates).toBe(4);
    channel.receive({ ns: 32_783, nr: 0 }, messageOf(1), () => expect.unreachable());
    expect(channel.counters).toMatchObject({ duplicates: 4, discarded: 1 });
  });
});

it('delivers every message once and in order over a link that loses, repeats and reorders', () => {
  const wire = fc.record({
    seed: fc.nat(),
    lossPct: fc.nat(30),
    duplicatePct: fc.nat(30),
    jitterMs: fc.nat(3000),
    window: fc.integer({ min: 1, max: 40 }),
    counts: fc.tuple(fc.nat(60), fc.nat(60)),
  });
  const run = ({ seed, lossPct, duplicatePct, jitterMs, window, counts }: WireChoice) => {
    const random = createRandom(seed);
    let nowMs = 0;
    const more = { receiveWindow: window, attempts: 30 };
    const ends = [createEnd(() => nowMs, more), createEnd(() => nowMs, more)] as const;
    const delivered: [number[], number[]] = [[], []];
    let waiting: { dueMs: number; to: 0 | 1; sent: Sent }[] = [];
    for (const side of [0, 1] as const) {
      ends[side].channel.setPeerWindow(window);
      for (let id = 0; id < counts[side]; id++) ends[side].channel.send(messageOf(id));
    }
    for (; nowMs < 3_000_000 && ends.some(({ channel }) => channel.pending > 0); nowMs += 50) {
      for (const side of [0, 1] as const) {
        ends[side].tick();
        for (const sent of ends[side].state.sent.splice(0)) {
          if (random() * 100 < lossPct) continue;
          for (let copies = random() * 100 < duplicatePct ? 2 : 1; copies > 0; copies--)
            waiting.push({ dueMs: nowMs + random() * jitterMs, to: side === 0 ? 1 : 0, sent });
        }
      }
      const due = waiting.filter(({ dueMs }) => dueMs <= nowMs);
      waiting = waiting.filter(({ dueMs }) => dueMs > nowMs);
      for (const { to, sent } of due)
        ends[to].channel.receive(sent, sent.message, (message) => delivered[to].push(idOf(message)));
    }
    expect(delivered[1]).toEqual(Array.from({ length: counts[0] }, (_, id) => id));
    expect(delivered[0]).toEqual(Array.from({ length: counts[1] }, (_, id) => id));
    expect(ends.map(({ state }) => [state.isDead, state.dueMs])).toEqual(
      new Array(2).fill([false, Number.POSITIVE_INFINITY]),
    );
  };
  fc.assert(fc.property(wire, run), { numRuns: 60 });
});
