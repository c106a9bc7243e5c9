import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../testing/random.ts';
import { SimulatedWire, type WireOptions } from '../testing/simulated-wire.ts';
import { randomBytes, startTransfer } from '../testing/transfer.ts';
import type { TcpSettings } from './settings.ts';

const simulatedHour = 3_600_000_000;

const transfer = (
  options: Omit<WireOptions, 'random'> & {
    seed: number;
    up: number;
    down: number;
    client?: Partial<TcpSettings>;
    server?: Partial<TcpSettings>;
  },
) => {
  const random = createRandom(options.seed);
  const wire = new SimulatedWire({ ...options, random });
  const ends = startTransfer(wire, {
    up: randomBytes(random, options.up),
    down: randomBytes(random, options.down),
    client: options.client ?? {},
    server: options.server ?? {},
  });
  const began = wire.nowUs;
  const isOver = wire.run(simulatedHour, () => ends.client.isClosed && ends.server.isClosed);
  const elapsedUs = wire.nowUs - began;
  return { wire, ...ends, isOver, elapsedUs };
};

const expectWhole = (result: ReturnType<typeof transfer>, up: number, down: number) => {
  const { client, server, wire } = result;
  expect({
    isOver: result.isOver,
    up: server.received,
    down: client.received,
    differs: client.isDifferent || server.isDifferent,
    causes: [client.cause, server.cause],
  }).toEqual({ isOver: true, up, down, differs: false, causes: [undefined, undefined] });
  for (const stack of wire.stacks) {
    expect(stack.connectionCount).toBe(0);
    expect(stack.memoryInUse).toEqual({ pieces: 0, sentSegments: 0 });
  }
};

describe('a transfer between two stacks', () => {
  it('arrives whole on a clean wire without a single repetition', () => {
    const result = transfer({ seed: 1, up: 3_000_000, down: 1_000_000 });
    expectWhole(result, 3_000_000, 1_000_000);
    expect([result.client.retransmits, result.server.retransmits]).toEqual([0, 0]);
  });

  it('leaves in large segments where the wire cuts them, and lost parts are repeated alone', () => {
    const result = transfer({ seed: 3, up: 3_000_000, down: 1_000_000, cuts: true });
    expectWhole(result, 3_000_000, 1_000_000);
    expect([result.client.retransmits, result.server.retransmits]).toEqual([0, 0]);
    const { bursts, segments } = result.wire;
    expect(segments / bursts).toBeGreaterThan(3);
    const lossy = transfer({ seed: 4, up: 2_000_000, down: 0, cuts: true, lossRate: 0.02 });
    expectWhole(lossy, 2_000_000, 0);
    expect(lossy.wire.bursts).toBeGreaterThan(10);
    expect(lossy.client.retransmits).toBeLessThan(100);
  });

  it.each(['newreno', 'cubic'] as const)('recovers from 2 %% loss with %s', (congestion) => {
    const result = transfer({
      seed: 7,
      up: 2_000_000,
      down: 100_000,
      lossRate: 0.02,
      delayUs: 5000,
      client: { congestion },
      server: { congestion },
    });
    expectWhole(result, 2_000_000, 100_000);
    expect(result.client.retransmits).toBeGreaterThan(10);
    expect(result.elapsedUs).toBeLessThan(20_000_000);
  });

  it('arrives whole whatever the wire does and whichever options are used', () => {
    const settings = fc.record({
      sack: fc.boolean(),
      timestamps: fc.boolean(),
      windowScale: fc.boolean(),
      ecn: fc.boolean(),
      noDelay: fc.boolean(),
      mss: fc.constantFrom(0, 88, 536, 1400),
      window: fc.constantFrom(2304, 16_384, 65_535, 300_000, 1 << 20),
      congestion: fc.constantFrom('newreno' as const, 'cubic' as const),
      delayedAckMs: fc.constantFrom(0, 40),
      dataRetries: fc.constant(60),
      synRetries: fc.constant(60),
      maxRtoMs: fc.constant(4000),
      finWait2Ms: fc.constant(600_000),
    });
    const run = fc.record({
      seed: fc.integer(),
      up: fc.nat(120_000),
      down: fc.nat(120_000),
      lossRate: fc.constantFrom(0, 0.01, 0.05, 0.2),
      duplicateRate: fc.constantFrom(0, 0.05),
      markRate: fc.constantFrom(0, 0.1),
      delayUs: fc.constantFrom(20, 1000, 40_000),
      jitterUs: fc.constantFrom(0, 500, 20_000),
      cuts: fc.boolean(),
      client: settings,
      server: settings,
    });
    fc.assert(
      fc.property(run, (options) => {
        // The last FIN of a side may be lost with every repetition; the peer then fails after the data has arrived.
        const result = transfer(options);
        expectWhole(result, options.up, options.down);
      }),
      { numRuns: 150 },
    );
  });
});
