import { describe, expect, it } from 'vitest';
import { SampleStore } from '../../samples.ts';
import { ShortfallWatch } from './shortfall.ts';

const calm = { cpuPct: 30, loopLagMs: 1, scheduleLagMs: 0, isPaced: true, socketErrors: 0 };
const behind = { ...calm, overdue: 500, waitsForPeer: false, machinePct: 50 };
const job = { engine: 'udp', cores: 1 };

const storeWith = (counters: Record<string, number>) => {
  const store = new SampleStore();
  store.gauge('udp.targetLoad').set(100);
  for (const [name, value] of Object.entries(counters)) store.counter(name).add(value);
  return store;
};
const missed = { 'udp.begun': 60, 'udp.dropped': 940 };

describe('the limit of a load that was not reached', () => {
  it.each([
    ['processor', { cpuPct: 99 }, {}],
    ['processor', { machinePct: 99 }, {}],
    ['sockets', { socketErrors: 3 }, {}],
    ['peer', { waitsForPeer: true }, {}],
    ['path', {}, { 'udp.queueFull': 7 }],
    ['path', {}, {}],
  ] as const)('is the %s', (limit, load, counters) => {
    const watch = new ShortfallWatch();
    watch.take({ ...behind, ...load });
    const { metrics } = storeWith({ ...missed, ...counters });
    expect(watch.result(metrics, job)).toMatchObject({ wanted: 1000, begun: 60, limit });
  });

  it('is not looked for when the load was reached or had no rate', () => {
    const watch = new ShortfallWatch();
    watch.take(behind);
    expect(watch.result(storeWith({ 'udp.begun': 995, 'udp.dropped': 5 }).metrics, job)).toBeUndefined();
    expect(watch.result(new SampleStore().metrics, job)).toBeUndefined();
  });
});
