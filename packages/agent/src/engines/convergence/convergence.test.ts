import type { ResultRow } from '@rushhour/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SampleStore } from '../../samples.ts';
import { Flow } from './flow.ts';
import { FlowMonitor } from './flow-monitor.ts';

/** A packet each millisecond; `delayUs` is the time on the path. */
const timesOf = (sequence: number, delayUs = 100) => ({ txUs: sequence * 1000, rxUs: sequence * 1000 + delayUs });

const flowOf = (sequences: readonly number[]) => {
  const flow = new Flow();
  const ended = sequences.flatMap((sequence) => flow.arrive(sequence, timesOf(sequence)) ?? []);
  return { flow, ended };
};

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

describe('a flow', () => {
  it('is interrupted from the last packet before a gap to the first after it', () => {
    const { flow, ended } = flowOf([...range(0, 100), ...range(150, 200)]);
    expect(flow).toMatchObject({ lost: 50, lossDurationUs: 50_000, interruptions: 1, longestUs: 50_000 });
    expect(ended).toEqual([{ beginUs: 99_100, endUs: 150_100, durationUs: 50_000 }]);
  });

  it('is not interrupted by one lost packet in twenty, nor by packets out of order', () => {
    expect(flowOf([...range(0, 30), ...range(31, 60), ...range(61, 90)]).flow).toMatchObject({
      lost: 2,
      interruptions: 0,
    });
    const { flow } = flowOf([...range(0, 30), 33, 30, 31, 32, ...range(34, 80)]);
    expect(flow).toMatchObject({ lost: 0, reordered: 3, interruptions: 0, lossDurationUs: 0 });
    expect(flow.isDown(79_200)).toBe(false);
  });

  it('is interrupted once while it flickers', () => {
    const every = range(0, 400).filter((sequence) => sequence < 100 || sequence >= 300 || sequence % 2 === 0);
    const { flow, ended } = flowOf(every);
    expect(flow.lost).toBe(100);
    expect(ended).toHaveLength(1);
    expect(ended[0]?.durationUs).toBeGreaterThan(197_000);
    expect(ended[0]?.durationUs).toBeLessThanOrEqual(200_000);
  });

  it('is down while nothing arrives, and stays so at the end', () => {
    const { flow } = flowOf(range(0, 100));
    expect(flow.isDown(100_000)).toBe(false);
    expect(flow.isDown(200_000)).toBe(true);
    expect(flow.finish()).toBeUndefined();
  });

  it('that recovers shortly before the end has its interruption', () => {
    const { flow, ended } = flowOf([...range(0, 50), ...range(80, 85)]);
    expect(ended).toEqual([]);
    expect(flow.finish()).toMatchObject({ durationUs: 30_000 });
  });

  it('counts losses as missing numbers, whatever arrives', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200), { minLength: 1 }), (sequences) => {
        const { flow } = flowOf(sequences);
        const different = new Set(sequences);
        expect(flow.received).toBe(different.size);
        expect(flow.lost).toBe(Math.max(...sequences) + 1 - different.size);
        expect(flow.duplicates).toBe(sequences.length - different.size);
        expect(flow.lossDurationUs).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('the monitor', () => {
  const monitorOf = () => {
    const samples = new SampleStore();
    const rows = new Map<number, ResultRow>();
    const monitor = new FlowMonitor(samples, (row) => rows.set(row.index, row));
    const send = (stream: number, sequences: readonly number[]) => {
      for (const sequence of sequences) monitor.take({ sender: 1, stream, sequence }, timesOf(sequence));
    };
    return { samples, rows, monitor, send };
  };

  it('relates the recovery of flows to the event before it', () => {
    const { samples, rows, monitor, send } = monitorOf();
    send(0, range(0, 100));
    send(1, range(0, 300));
    monitor.addEvent({ action: 'withdraw', from: 0, to: 3, values: ['10.0.0.0/8'] }, 98_000);
    send(0, range(150, 300));
    monitor.report(299_500);
    expect(samples.histogram('convergence.dataPlane').count).toBe(1);
    expect(samples.histogram('convergence.controlToDataPlane').count).toBe(1);
    expect(samples.counter('convergence.lost').value).toBe(50);
    // One of two flows was without packets for 50 ms.
    expect(samples.counter('convergence.lossDurationMs').value).toBeCloseTo(25);
    expect(rows.get(0)).toMatchObject({
      state: 'up',
      cells: { lost: 50, lastUs: 50_000, event: 'withdraw 0–3 10.0.0.0/8', controlToDataPlaneUs: 52_100 },
    });
    expect(rows.get(0)?.cells).toMatchObject({ beganAt: '1970-01-01T00:00:00.099100Z' });
    expect(rows.get(1)).toMatchObject({ state: 'up', cells: { lost: 0, lastUs: null, controlToDataPlaneUs: null } });
    // A later interruption has nothing to do with that event.
    send(0, range(400, 450));
    expect(samples.histogram('convergence.dataPlane').count).toBe(2);
    expect(samples.histogram('convergence.controlToDataPlane').count).toBe(1);
  });

  it('shows flows that are down', () => {
    const { samples, rows, monitor, send } = monitorOf();
    send(0, range(0, 100));
    send(1, range(0, 400));
    monitor.report(399_200);
    expect(samples.gauge('convergence.flowsDown').value).toBe(1);
    expect(rows.get(0)).toMatchObject({ state: 'down', cells: { lastPacketAt: '1970-01-01T00:00:00.099100Z' } });
    send(0, range(300, 400));
    monitor.finish(399_900);
    expect(samples.gauge('convergence.flowsDown').value).toBe(0);
    expect(rows.get(0)).toMatchObject({ state: 'up', cells: { lost: 200, interruptions: 1 } });
  });
});
