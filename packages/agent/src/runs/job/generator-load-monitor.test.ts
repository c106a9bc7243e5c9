import { describe, expect, it } from 'vitest';
import { generatorLoadMetrics } from '../../net/metrics/generator-load-metrics.ts';
import { SampleStore } from '../../samples.ts';
import { GeneratorLoadMonitor, saturationReasonsOf } from './generator-load-monitor.ts';

const atEase = { overdue: 0, waitsForPeer: false, machinePct: 0 };
const idle = { ...atEase, cpuPct: 40, loopLagMs: 1, scheduleLagMs: 0.1, isPaced: true, socketErrors: 0 };

describe('saturation', () => {
  it('reports nothing while the generator keeps up', () => {
    expect(saturationReasonsOf(idle, { cores: 1 })).toEqual([]);
  });

  it('names every reason', () => {
    const busy = { ...atEase, cpuPct: 199, loopLagMs: 180, scheduleLagMs: 30, isPaced: false, socketErrors: 2 };
    expect(saturationReasonsOf(busy, { cores: 2 })).toEqual(['cpu', 'eventLoopLag', 'scheduleLag', 'socketErrors']);
  });

  it('does not count spinning the event loop as load', () => {
    const turning = { ...idle, cpuPct: 100 };
    expect(saturationReasonsOf(turning, { cores: 1 })).toEqual([]);
    expect(saturationReasonsOf({ ...turning, isPaced: false }, { cores: 1 })).toEqual(['cpu']);
    // A generator that is behind its schedule does not spin.
    expect(saturationReasonsOf({ ...turning, overdue: 5 }, { cores: 1 })).toEqual(['cpu']);
  });

  it('takes waiting for a peer for no delay of its own, and reports it as schedule lag', () => {
    const store = new SampleStore();
    const watch = new GeneratorLoadMonitor(store);
    for (const name of [generatorLoadMetrics.scheduleLag, generatorLoadMetrics.sessionWait])
      store.histogram(name).record(500_000);
    const load = watch.take();
    watch.close();
    expect(load).toMatchObject({ scheduleLagMs: 0, waitsForPeer: true });
    expect(store.gauge('agent.scheduleLagMs').value).toBeGreaterThan(480);
  });

  it('detects a blocked event loop, a busy CPU and failed sockets', async () => {
    const store = new SampleStore();
    const watch = new GeneratorLoadMonitor(store);
    await new Promise((resolve) => setTimeout(resolve, 30));
    watch.take();
    const end = performance.now() + 150;
    while (performance.now() < end);
    store.counter(generatorLoadMetrics.socketErrors).add(3);
    store.target('a').histogram(generatorLoadMetrics.scheduleLag).record(40_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const load = watch.take();
    watch.close();
    // Other work may have had most of the processor meanwhile.
    expect(load.cpuPct).toBeGreaterThan(5);
    expect(load.isPaced).toBe(true);
    expect(load.loopLagMs).toBeGreaterThan(80);
    expect(load.socketErrors).toBe(3);
    expect(load.scheduleLagMs).toBeCloseTo(40, -1);
  });
});
