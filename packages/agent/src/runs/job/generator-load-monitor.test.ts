import { describe, expect, it } from 'vitest';
import { strainMetrics } from '../../net/metrics/generator-load-metrics.ts';
import { SampleStore } from '../../samples.ts';
import { StrainWatch, saturationReasonsOf } from './generator-load-monitor.ts';

const calm = { cpuPct: 40, loopLagMs: 1, scheduleLagMs: 0.1, isPaced: true, socketErrors: 0 };

describe('saturation', () => {
  it('is silent while the generator keeps up', () => {
    expect(saturationReasonsOf(calm, { cores: 1 })).toEqual([]);
  });

  it('names every reason', () => {
    const busy = { cpuPct: 199, loopLagMs: 180, scheduleLagMs: 30, isPaced: false, socketErrors: 2 };
    expect(saturationReasonsOf(busy, { cores: 2 })).toEqual(['cpu', 'eventLoopLag', 'scheduleLag', 'socketErrors']);
  });

  it('does not take waiting by turning the event loop for work', () => {
    const turning = { ...calm, cpuPct: 100 };
    expect(saturationReasonsOf(turning, { cores: 1 })).toEqual([]);
    expect(saturationReasonsOf({ ...turning, isPaced: false }, { cores: 1 })).toEqual(['cpu']);
  });

  it('sees a blocked event loop, a busy processor and failed sockets', async () => {
    const store = new SampleStore();
    const watch = new StrainWatch(store);
    await new Promise((resolve) => setTimeout(resolve, 30));
    watch.take();
    const end = performance.now() + 150;
    while (performance.now() < end);
    store.counter(strainMetrics.socketErrors).add(3);
    store.target('a').histogram(strainMetrics.scheduleLag).record(40_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const strain = watch.take();
    watch.close();
    // Other work may have had most of the processor meanwhile.
    expect(strain.cpuPct).toBeGreaterThan(5);
    expect(strain.isPaced).toBe(true);
    expect(strain.loopLagMs).toBeGreaterThan(80);
    expect(strain.socketErrors).toBe(3);
    expect(strain.scheduleLagMs).toBeCloseTo(40, -1);
  });
});
