import { describe, expect, it } from 'vitest';
import { copyOf, createMemory, Memory } from '../bytes/memory.ts';
import { mutationRuns } from '../testing/mutation-runs.ts';
import { createRandom } from '../testing/random.ts';
import { type GptpMessage, gptpKind, maxGptpBytes, readGptp, writeGptp } from './message.ts';
import { TimePort, type TimePortOptions } from './time-port.ts';

const optionsOf = (last: number, more: Partial<TimePortOptions> = {}): TimePortOptions => ({
  ...{ role: 'auto', domain: 0, mac: Uint8Array.of(2, 0, 0, 0, 0, last), twoStep: true },
  rank: { priority1: 246, clockClass: 248, accuracy: 254, variance: 17_258, priority2: 248 },
  ...{ announceLog: 0, syncLog: -3, delayLog: 0, announceTimeout: 3, syncTimeout: 3, delayThresholdNs: 800 },
  error: { offsetNs: 0, driftPpb: 0, lossPct: 0 },
  ...more,
});

const delayNs = 500n;

/** Two clocks on a wire of a known delay; the second one is ahead by a constant and runs faster. */
const createPair = (first: Partial<TimePortOptions> = {}, second: Partial<TimePortOptions> = {}) => {
  let nowNs = 0n;
  let isCut = false;
  const offsets: number[] = [];
  const queue: { dueNs: bigint; to: 0 | 1; bytes: Uint8Array }[] = [];
  const frames: Uint8Array[] = [];
  const clocks = [(at: bigint) => at, (at: bigint) => at + 5_000_000_000n + at / 50_000n] as const;
  const ports = ([first, second] as const).map((more, index) => {
    const read = clocks[index as 0 | 1];
    return new TimePort(
      {
        machineNs: () => 1_700_000_000_000_000_000n + read(nowNs),
        random: createRandom(index + 1),
        send: (message: GptpMessage) => {
          const memory = createMemory(maxGptpBytes);
          const bytes = copyOf(memory.bytes, 0, writeGptp(memory, 0, message));
          frames.push(bytes);
          if (!isCut) queue.push({ dueNs: nowNs + delayNs, to: index === 0 ? 1 : 0, bytes });
          return 1_700_000_000_000_000_000n + read(nowNs);
        },
        ...(index === 1 && { onOffset: (offset: number) => void offsets.push(offset) }),
      },
      optionsOf(index + 1, more),
    );
  });
  const [left, right] = ports as [TimePort, TimePort];
  for (const port of ports) port.setLink(true);
  const run = (ms: number) => {
    for (const endNs = nowNs + BigInt(ms) * 1_000_000n; nowNs < endNs; ) {
      nowNs += 1_000_000n;
      for (const port of ports) port.advance(Number(nowNs / 1_000_000n));
      while (queue.length > 0) {
        const { dueNs, to, bytes } = queue.shift() as (typeof queue)[number];
        if (dueNs > nowNs) nowNs = dueNs;
        const port = ports[to] as TimePort;
        port.receive(new Memory(bytes), 0, bytes.length, 1_700_000_000_000_000_000n + clocks[to](nowNs));
      }
    }
  };
  return {
    left,
    right,
    run,
    offsets,
    frames,
    cut: () => {
      isCut = true;
    },
  };
};

describe('clocks of gPTP', () => {
  it('measure the delay of their link and the rate of the other one', () => {
    // Neither follows the other.
    const { left, right, run } = createPair({ role: 'leader' }, { role: 'leader' });
    run(10_000);
    expect(left.delay.meanNs).toBeGreaterThan(450);
    expect(left.delay.meanNs).toBeLessThan(550);
    expect(Math.abs(right.delay.ratePpm + 20)).toBeLessThan(1);
    expect(Math.abs(left.delay.ratePpm - 20)).toBeLessThan(1);
    expect(left.isCapable && right.isCapable).toBe(true);
  });

  it('agree on the better one, and the other follows it', () => {
    const { left, right, run, offsets } = createPair();
    run(60_000);
    expect([left.state, right.state]).toEqual(['leader', 'follower']);
    expect(right.leader?.rank.identity).toBe('020000fffe000001');
    expect(right.clock.steps).toBe(1);
    for (const offset of offsets.slice(-50)) expect(Math.abs(offset)).toBeLessThan(100);
    const other = createPair({}, { rank: { ...optionsOf(2).rank, priority1: 10 } });
    other.run(20_000);
    expect([other.left.state, other.right.state]).toEqual(['follower', 'leader']);
  });

  it('lead and follow as their role says, and by one step', () => {
    const { left, right, run } = createPair({ role: 'follower' }, { role: 'leader', twoStep: false });
    run(20_000);
    expect([left.state, right.state]).toEqual(['follower', 'leader']);
    expect(Math.abs(left.offsetNs ?? 1e9)).toBeLessThan(1000);
  });

  it('do not trust a link that is too long, and lose a leader that falls silent', () => {
    const far = createPair({ delayThresholdNs: 100 }, { delayThresholdNs: 100 });
    far.run(5000);
    expect([far.left.state, far.right.state]).toEqual(['listening', 'listening']);
    const { right, run, cut } = createPair();
    run(10_000);
    cut();
    run(5000);
    expect([right.state, right.counters.timeouts > 0]).toEqual(['leader', true]);
    run(20_000);
    expect([right.state, right.isCapable]).toEqual(['listening', false]);
  });

  it('err on purpose', () => {
    const { right, run, left } = createPair({ error: { offsetNs: 0, driftPpb: 0, lossPct: 50 } });
    run(20_000);
    expect(left.omitted).toBeGreaterThan(40);
    expect(right.state).toBe('follower');
    const wrong = createPair({ error: { offsetNs: 1_000_000, driftPpb: 0, lossPct: 0 } });
    wrong.run(10_000);
    const distance = Number(wrong.right.clock.nowNs - createPair().left.clock.nowNs) - 10_000_000_000;
    expect(Math.abs(distance - 1_000_000)).toBeLessThan(100_000);
  });

  it('write messages that read back, and stand mutated ones', () => {
    const { left, run, frames } = createPair();
    run(3000);
    const kinds = new Set(frames.map((bytes) => readGptp(new Memory(bytes), 0, bytes.length)?.kind));
    expect(kinds).toEqual(new Set(Object.values(gptpKind)));
    const random = createRandom(5);
    for (let i = 0; i < mutationRuns(20_000); i++) {
      const bytes = copyOf(frames[i % frames.length] as Uint8Array);
      for (let k = 0; k < 3; k++) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      const length = random() < 0.2 ? Math.floor(random() * bytes.length) : bytes.length;
      left.receive(new Memory(bytes), 0, length, 1_700_000_003_000_000_000n);
    }
    left.setLink(false);
    expect(left.state).toBe('down');
  });
});
