import { setTimeout as sleep } from 'node:timers/promises';
import type { Rfc2544Record } from '@rushhour/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Totals } from '../job.ts';
import { type Cable, createCable, deviceCounter, runJobIn, startJobIn } from '../namespaces.ts';
import { takePriority } from '../priority.ts';
import { useCable } from '../use-cable.ts';

takePriority();

const port = 15_009;
const defaults = {
  frameSizes: [1518],
  tests: ['throughput', 'latency', 'frameLoss', 'backToBack'],
  trialSec: 1,
  settleSec: 0.2,
  resolutionPct: 1,
  acceptableLossPct: 0,
  burstSec: 0.1,
  burstRepeats: 1,
};
const receiver = () => ({
  engine: 'stream',
  config: { role: 'server', listen: [{ host: '10.99.0.2', port }], countsTrials: true, ringBytes: 268_435_456 },
  duration: { mode: 'continuous' as const },
});
const sender = (plan: object = {}, config: object = {}) => ({
  engine: 'stream',
  config: { role: 'client', targets: [{ host: '10.99.0.2', port }], rfc2544: { ...defaults, ...plan }, ...config },
  duration: { seconds: 120 },
});

type Kind = Rfc2544Record['kind'];
const recordsOf = <K extends Kind>({ summaries }: Totals, kind: K) =>
  summaries
    .flatMap(({ records = [] }) => records as Rfc2544Record[])
    .filter((record): record is Extract<Rfc2544Record, { kind: K }> => record.kind === kind);

/** Waits until the far end has received this many frames. */
const arrivals = async (count: number) => {
  while (deviceCounter(cable.right, 'rx_packets') < count) await sleep(50);
};

const cable = useCable('test');

describe('a path slower than the sender', () => {
  const limitBps = 20e6;
  // Enough for the burst of a sender that was delayed.
  const [burstBytes, queueBytes] = [12_000, 24_000];
  let second: Cable;
  beforeEach(() => {
    second = createCable();
    const middle = cable.right;
    second.left.run('ip', 'link', 'set', second.left.device, 'netns', middle.namespace);
    middle.run('ip', 'address', 'flush', 'dev', middle.device);
    middle.run('ip', 'link', 'add', 'br0', 'type', 'bridge');
    for (const device of [middle.device, second.left.device]) {
      middle.run('ip', 'link', 'set', device, 'up');
      middle.run('ip', 'link', 'set', device, 'master', 'br0');
    }
    middle.run('ip', 'link', 'set', 'br0', 'up');
    const bucket = ['rate', `${limitBps}bit`, 'burst', String(burstBytes), 'limit', String(queueBytes)];
    middle.run('tc', 'qdisc', 'add', 'dev', second.left.device, 'root', 'tbf', ...bucket);
  });
  afterEach(() => second.remove());

  it('is measured within two percent, with its loss, its latency and its bursts', { retry: 1 }, async () => {
    const server = await startJobIn(second.right, receiver());
    const sent = await runJobIn(cable.left, sender({}, { load: { rate: 4000 } }));
    await server.stop();
    const trueFps = limitBps / (8 * 1514);
    const [throughput] = recordsOf(sent, 'throughput');
    expect(throughput).toMatchObject({ frameSize: 1518, limit: 'path' });
    expect(Math.abs((throughput?.fps ?? 0) / trueFps - 1)).toBeLessThan(0.02);
    expect(throughput?.bps).toBeCloseTo((throughput?.fps ?? 0) * 8 * 1518);
    expect(throughput?.linePct).toBeCloseTo(((throughput?.fps ?? 0) * 8 * 1538) / 1e8, 3);
    const [latency] = recordsOf(sent, 'latency');
    expect(latency?.frames).toBeGreaterThan(trueFps * 0.9);
    expect(latency?.minUs).toBeLessThanOrEqual(latency?.p50Us ?? 0);
    expect(latency?.p99Us).toBeLessThanOrEqual(latency?.maxUs ?? 0);
    // A frame waits no longer than a full queue takes to drain.
    expect(latency?.p50Us).toBeLessThan(((burstBytes + queueBytes) * 8e6) / limitBps);
    const losses = recordsOf(sent, 'frameLoss');
    expect(losses.map(({ ratePct }) => ratePct)).toEqual([100, 90, 80, 70, 60, 50, 40, 30]);
    for (const { offeredFps, lossPct, sent: left, received } of losses) {
      expect(Math.abs(lossPct - Math.max(0, 1 - trueFps / offeredFps) * 100)).toBeLessThan(2);
      expect(received).toBe(Math.round(left * (1 - lossPct / 100)));
    }
    const [burst] = recordsOf(sent, 'backToBack');
    expect(burst).toMatchObject({ repeats: 1, isLongest: false });
    expect(burst?.frames).toBeGreaterThanOrEqual(8);
    expect(burst?.frames).toBeLessThan(60);
    const trials = recordsOf(sent, 'trial');
    expect(trials.map(({ number }) => number)).toEqual(trials.map((_, index) => index + 1));
    const notes = [expect.stringContaining('frames by AF_XDP')];
    expect(sent.outcome).toMatchObject({ status: 'finished', notes, saturatedSeconds: {} });
  });

  it('is not reported to carry more because its bucket fills', { retry: 1 }, async () => {
    // Over one second the bucket passes 2.4 % more than the path carries.
    const bucket = ['rate', `${limitBps}bit`, 'burst', '60000', 'limit', '6000'];
    cable.right.run('tc', 'qdisc', 'replace', 'dev', second.left.device, 'root', 'tbf', ...bucket);
    const server = await startJobIn(second.right, receiver());
    const plan = { tests: ['throughput'], confirmSec: 8 };
    const sent = await runJobIn(cable.left, sender(plan, { load: { rate: 4000 } }));
    await server.stop();
    const trueFps = limitBps / (8 * 1514);
    const passed = recordsOf(sent, 'trial').filter((trial) => trial.passed);
    expect(Math.max(...passed.map(({ offeredFps }) => offeredFps))).toBeGreaterThan(trueFps * 1.01);
    const [throughput] = recordsOf(sent, 'throughput');
    expect(throughput?.limit).toBe('path');
    expect(throughput?.fps).toBeLessThanOrEqual(trueFps);
    expect(throughput?.fps).toBeGreaterThan(trueFps * 0.97);
  });
});

describe('a path without limit', () => {
  it('is reported to carry at least what the sender can offer', { retry: 2 }, async () => {
    const server = await startJobIn(cable.right, receiver());
    const plan = { frameSizes: [64, 9018], tests: ['throughput', 'latency'] };
    const sent = await runJobIn(cable.left, sender(plan));
    const received = await server.stop();
    const [throughput] = recordsOf(sent, 'throughput');
    expect(throughput).toMatchObject({ frameSize: 64, limit: 'generator' });
    expect(throughput?.fps).toBeGreaterThan(20_000);
    expect(throughput?.linePct).toBeLessThan(98);
    expect(sent.outcome.notes.join()).toContain('the sender could not offer more than');
    expect(sent.outcome.notes.join()).toContain('frames of 9018 bytes were skipped: the MTU of l0 is 1500');
    expect(received.counter('stream.received')).toBe(sent.counter('stream.sent'));
  });

  it('is tested up to the configured rate, also in VLANs and over IPv6', { retry: 2 }, async () => {
    for (const side of [cable.left, cable.right]) {
      side.run('ip', 'address', 'add', `fd99::${side === cable.left ? 1 : 2}/64`, 'dev', side.device, 'nodad');
    }
    const listen = [{ host: 'fd99::2', port }];
    const server = await startJobIn(cable.right, {
      ...receiver(),
      config: { ...receiver().config, listen, protocol: 'other' },
    });
    const plan = { frameSizes: [128, 256], tests: ['throughput'], trialSec: 0.5 };
    const headers = { vlan: [{ id: 7, type: 0x88a8 }, { id: 8 }] };
    const sent = await runJobIn(cable.left, sender(plan, { targets: listen, headers, load: { rate: 1000 } }));
    await server.stop();
    const found = recordsOf(sent, 'throughput').map(({ frameSize, fps, limit }) => [frameSize, fps, limit]);
    expect(found).toEqual([
      [128, 1000, 'ordered'],
      [256, 1000, 'ordered'],
    ]);
  });
});

describe('a test that cannot continue', () => {
  it('reports that the receiver is silent', async () => {
    await expect(runJobIn(cable.left, sender({ tests: ['throughput'] }))).rejects.toThrow(
      'the receiver did not report its counts within 5 s',
    );
  });

  it('ends when the link goes down, because the trial is void', async () => {
    const server = await startJobIn(cable.right, receiver());
    const before = deviceCounter(cable.right, 'rx_packets');
    const client = await startJobIn(cable.left, sender({ trialSec: 2 }, { load: { rate: 1000 } }));
    await arrivals(before + 200);
    cable.left.run('ip', 'link', 'set', cable.left.device, 'down');
    await expect(client.totals).rejects.toThrow('the link went down during a trial');
    await server.stop();
  });

  it('keeps its results when it is stopped', async () => {
    const server = await startJobIn(cable.right, receiver());
    const before = deviceCounter(cable.right, 'rx_packets');
    const plan = { frameSizes: [64, 128], tests: ['throughput'] };
    const client = await startJobIn(cable.left, sender(plan, { load: { rate: 500 } }));
    // The second trial has started.
    await arrivals(before + 600);
    const sent = await client.stop();
    await server.stop();
    expect(sent.outcome.status).toBe('stopped');
    expect(sent.outcome.notes).toContain('the run ended before all trials were made');
    expect(recordsOf(sent, 'throughput').length).toBeLessThan(2);
    expect(recordsOf(sent, 'throughput')[0]).toMatchObject({ frameSize: 64 });
  });
});
