import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfHex, createMemory, Memory } from '../bytes/memory.ts';
import { createIcrc } from './icrc.ts';
import { RdmaNode } from './node.ts';
import { notReadyWaitUs, psnDistance, RdmaPacket } from './packet.ts';
import type { QueuePair, QueuePairOptions } from './queue-pair.ts';
import { defaultDcqcn, RateControl } from './rate-control.ts';
import type { RdmaVerb } from './requester.ts';

const pattern = new Uint8Array(4096).fill(0x5a);

interface Frame {
  readonly bytes: Uint8Array;
  readonly isMarked: boolean;
}

/** A node whose packets wait to be carried. */
class End {
  readonly frames: Frame[] = [];
  readonly memory = createMemory(8192);
  readonly pairs: QueuePair[] = [];
  readonly done: { readonly message: number; readonly us: number }[] = [];
  readonly failures: string[] = [];
  readonly node: RdmaNode;
  constructor(options: QueuePairOptions, seed: number) {
    const handler = {
      onReady: (pair: QueuePair) => this.pairs.push(pair),
      onComplete: (message: number, beganUs: number, nowUs: number) => this.done.push({ message, us: nowUs - beganUs }),
      onFail: (reason: string) => this.failures.push(reason),
      onLost: (reason: string) => this.failures.push(reason),
    };
    const accept = () => ({ options, handler });
    this.node = new RdmaNode(this, { random: () => seed, portOf: () => 50_000, accept });
    this.connect = () => this.node.connect(Int32Array.of(0, 0, 0xffff, 1, 0, 0, 0xffff, 2), 0, { options, handler });
  }
  readonly connect: () => void;
  aim(): void {}
  begin(): number {
    return 0;
  }
  commit(at: number, length: number): void {
    this.frames.push({ bytes: this.memory.bytes.slice(at, at + length), isMarked: false });
  }
}

interface World {
  readonly verb?: RdmaVerb;
  readonly messageBytes?: number;
  readonly mtu?: number;
  /** What happens to the n-th packet of a direction. */
  readonly fate?: (n: number, towards: 'server' | 'client') => 'lost' | 'marked' | 'carried';
  readonly responder?: Partial<QueuePairOptions['responder']>;
  readonly more?: Partial<QueuePairOptions>;
}

const stepUs = 100;

const createWorld = ({ verb = 'write', messageBytes = 5000, mtu = 1024, fate, responder, more }: World) => {
  const region = { address: 0x10000n, key: 7, bytes: messageBytes };
  const options: QueuePairOptions = {
    responder: { mtu, region, pattern, ...responder },
    maxBps: Number.POSITIVE_INFINITY,
    congestionDelayUs: 50,
    ...more,
  };
  const requester = { verb, messageBytes, mtu, retryUs: 5000, retryCount: 7, windowPackets: 32, pattern };
  // 24-bit numbers wrap within the test.
  const client = new End({ ...options, requester }, 0.999_999_5);
  const server = new End(options, 0.5);
  let [nowUs, carried] = [0, 0];
  const carry = (from: End, to: End, towards: 'server' | 'client') => {
    for (const { bytes } of from.frames.splice(0)) {
      const outcome = fate?.(carried++, towards) ?? 'carried';
      if (outcome === 'lost') continue;
      const arrival = {
        key: Int32Array.of(0, 0, 0xffff, 2, 0, 0, 0xffff, 1, 0),
        path: 0,
        isMarked: outcome === 'marked',
      };
      to.node.receive(arrival, new Memory(bytes), 0, bytes.length, nowUs);
    }
  };
  const step = () => {
    nowUs += stepUs;
    for (const end of [client, server]) end.node.transmit(nowUs, 256);
    carry(client, server, 'server');
    carry(server, client, 'client');
  };
  const run = (until: () => boolean, steps = 20_000) => {
    for (let i = 0; i < steps && !until(); i++) step();
    return until();
  };
  client.connect();
  return { client, server, step, run };
};

const post = (world: ReturnType<typeof createWorld>, count: number): boolean => {
  world.run(() => world.client.pairs.length > 0);
  for (let i = 0; i < count; i++) world.client.pairs[0]?.requester?.post();
  return world.run(() => world.client.done.length === count || world.client.failures.length > 0);
};

describe('the invariant CRC', () => {
  it('is the one that a network adapter computes', () => {
    const frame = bytesOfHex(`45c2003c718c4000401191610a0011010a001201 000012b700280000 8100ffff40000118 00000000
      00000000000000000000000000000000 82fd002a`);
    const crc = createIcrc(crc32)(frame, 0, frame.length - 4);
    expect(crc).toBe(new DataView(frame.buffer).getUint32(frame.length - 4, true));
    // What routers change does not matter, everything else does.
    for (const at of [1, 8, 10, 11, 26, 32]) frame[at] = (frame[at] as number) ^ 0xff;
    expect(createIcrc(crc32)(frame, 0, frame.length - 4)).toBe(crc);
    frame[40] = 1;
    expect(createIcrc(crc32)(frame, 0, frame.length - 4)).not.toBe(crc);
  });
});

describe('a queue pair', () => {
  it.each(['write', 'writeImm', 'send', 'sendImm', 'read'] as const)('completes messages of %s in order', (verb) => {
    for (const messageBytes of [1, 1023, 1024, 1025, 100_000]) {
      const world = createWorld({ verb, messageBytes });
      expect(post(world, 20)).toBe(true);
      expect(world.client.failures).toEqual([]);
      expect(world.client.done.map(({ message }) => message)).toEqual(Array.from({ length: 20 }, (_, i) => i));
      const responder = world.server.pairs[0]?.responder.counters;
      expect(responder).toMatchObject({ messages: 20, outOfOrder: 0, duplicates: 0 });
      if (verb !== 'read') expect(responder?.bytes).toBe(20 * messageBytes);
      if (verb.endsWith('Imm')) expect(responder?.immediates).toBe(20);
      expect(world.client.pairs[0]?.requester?.counters.retransmits).toBe(0);
    }
  });

  it.each(['write', 'send', 'read'] as const)('repairs losses of %s: every byte arrives once', (verb) => {
    for (const every of [11, 13, 50]) {
      const world = createWorld({
        verb,
        messageBytes: 20_000,
        fate: (n) => (n % every === every - 1 ? 'lost' : 'carried'),
      });
      expect(post(world, 30)).toBe(true);
      expect(world.client.failures).toEqual([]);
      expect(world.client.done).toHaveLength(30);
      expect(world.client.pairs[0]?.requester?.counters.retransmits).toBeGreaterThan(0);
      if (verb !== 'read') expect(world.server.pairs[0]?.responder.counters.bytes).toBe(30 * 20_000);
    }
  });

  it('fails after its retries when nothing is acknowledged', () => {
    const world = createWorld({ fate: (n) => (n > 3 ? 'lost' : 'carried') });
    post(world, 1);
    expect(world.client.failures).toEqual(['timeout']);
    expect(world.client.pairs[0]?.requester?.counters.timeouts).toBe(8);
  });

  it('waits while the receiver is not ready, and goes on when it is', () => {
    const world = createWorld({ verb: 'send', messageBytes: 100, responder: { receives: 3, notReadyTimer: 14 } });
    world.run(() => world.client.pairs.length > 0);
    for (let i = 0; i < 5; i++) world.client.pairs[0]?.requester?.post();
    world.run(() => world.client.done.length === 3);
    expect(world.run(() => world.client.done.length > 3, 50)).toBe(false);
    world.server.pairs[0]?.responder.postReceives(2);
    expect(world.run(() => world.client.done.length === 5)).toBe(true);
    expect(notReadyWaitUs(14)).toBe(1280);
  });

  it('is refused what lies outside of the memory of the other end', () => {
    const region = { address: 0x10000n, key: 7, bytes: 100 };
    const world = createWorld({ verb: 'write', messageBytes: 5000, responder: { region } });
    post(world, 1);
    expect(world.client.failures).toEqual(['refused']);
  });

  it('notifies of congestion at most once in an interval, and the sender slows down', () => {
    const fate = (_: number, towards: string) => (towards === 'server' ? 'marked' : 'carried');
    const more = { maxBps: 1e9, dcqcn: { ...defaultDcqcn, timeResetUs: 5000 }, congestionDelayUs: 1000 };
    const world = createWorld({ messageBytes: 20_000, fate, more });
    expect(post(world, 20)).toBe(true);
    const [server, client] = [world.server.pairs[0]?.counters, world.client.pairs[0]?.counters];
    expect(server?.marked).toBeGreaterThanOrEqual(400);
    expect(server?.congestionSent).toBe(client?.congestionReceived);
    expect(server?.congestionSent).toBeLessThan(server?.marked ?? 0);
    expect(world.client.pairs[0]?.rateBps).toBeLessThan(0.6e9);
  });

  it('keeps its rate', () => {
    const world = createWorld({ messageBytes: 10_240, more: { maxBps: 100e6 } });
    post(world, 100);
    const lastUs = world.client.done.reduce((sum, { us }) => sum + us, 0);
    // 1 MB and headers at 100 Mbit/s.
    expect(lastUs).toBeGreaterThan(80_000);
    expect(lastUs).toBeLessThan(110_000);
  });

  it('ends with the other end', () => {
    const world = createWorld({});
    post(world, 1);
    world.client.node.close();
    world.step();
    expect(world.server.failures).toEqual(['disconnected']);
    expect(world.server.node.pairs).toEqual([]);
  });
});

describe('rate control', () => {
  it('halves at first, recovers fast, then additively, up to the line rate', () => {
    const control = new RateControl(10e9, { ...defaultDcqcn, byteReset: 0 });
    control.reduce(1000);
    expect(control.rateBps).toBeCloseTo(5e9, -7);
    // Within the least time between reductions.
    control.reduce(1010);
    expect(control.rateBps).toBeCloseTo(5e9, -7);
    control.advance(1000 + 5 * 55);
    expect(control.rateBps).toBeGreaterThan(9.8e9);
    control.advance(100_000);
    expect(control.rateBps).toBe(10e9);
  });

  it('never exceeds the line and never stops, whatever happens', () => {
    const event = fc.record({ us: fc.nat(1000), kind: fc.constantFrom('reduce', 'sent', 'advance') });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const control = new RateControl(1e9, { ...defaultDcqcn, byteReset: 10_000 });
        let now = 0;
        for (const { us, kind } of events) {
          now += us;
          if (kind === 'reduce') control.reduce(now);
          else if (kind === 'sent') control.sent(us * 10);
          else control.advance(now);
          expect(control.rateBps).toBeGreaterThanOrEqual(10e6);
          expect(control.rateBps).toBeLessThanOrEqual(1e9);
          expect(control.alpha).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});

describe('anything at all', () => {
  it('never breaks a node', () => {
    const world = createWorld({ messageBytes: 3000 });
    world.run(() => world.client.pairs.length > 0);
    for (let i = 0; i < 5; i++) world.client.pairs[0]?.requester?.post();
    const seeds: Uint8Array[] = [];
    for (const end of [world.client, world.server]) {
      end.node.transmit(1e6, 64);
      seeds.push(...end.frames.splice(0).map(({ bytes }) => bytes.slice(0, 400)));
    }
    expect(seeds.length).toBeGreaterThan(3);
    const packet = new RdmaPacket();
    let state = 12_345;
    const next = (limit: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >>> 8) % limit;
    };
    for (let i = 0; i < 300_000; i++) {
      const bytes = (seeds[i % seeds.length] as Uint8Array).slice(0, i % 5 === 0 ? next(400) : undefined);
      for (let k = next(4); k >= 0 && bytes.length > 0; k--) bytes[next(Math.min(bytes.length, 64))] = next(256);
      packet.parse(new Memory(bytes), 0, bytes.length);
      const arrival = { key: new Int32Array(9), path: 0, isMarked: i % 3 === 0 };
      const { node } = i % 2 === 0 ? world.client : world.server;
      node.receive(arrival, new Memory(bytes), 0, bytes.length, 1e6 + i);
      if (i % 100 === 0) {
        node.transmit(1e6 + i, 64);
        world.client.frames.length = 0;
        world.server.frames.length = 0;
      }
    }
  });

  it('numbers of 24 bits wrap', () => {
    expect(psnDistance(0xffffff, 0)).toBe(1);
    expect(psnDistance(0, 0xffffff)).toBe(-1);
    expect(psnDistance(5, 5)).toBe(0);
  });
});
