import { Histogram } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { replaySeconds, Sampler } from './sampler.ts';
import { SampleStore } from './samples.ts';

describe('sampler', () => {
  it('reports each second only what was counted in it', () => {
    const store = new SampleStore();
    const sampler = new Sampler(store, 1000);
    const requests = store.target('a:80').counter('http.requests');
    const latency = store.target('a:80').histogram('http.latency');
    requests.add(3);
    latency.record(100);
    expect(sampler.take(2000, 'steady')).toMatchObject({ seq: 1, at: 2000, spanMs: 1000, phase: 'steady' });
    requests.add(2);
    latency.record(7);
    latency.record(9);
    const second = sampler.take(3000, 'steady');
    expect(second.series).toHaveLength(1);
    expect(second.series[0]?.counters).toEqual({ 'http.requests': 2 });
    expect(Histogram.fromBase64(second.series[0]?.histograms['http.latency'] ?? '').max).toBe(9);
    expect(sampler.take(4000, 'steady').series[0]).toMatchObject({ counters: {}, histograms: {} });
  });

  it('adds up the same metric of several threads', () => {
    const worker = new SampleStore((metric) => main.adopt(metric));
    const main = new SampleStore();
    const sampler = new Sampler(main, 0);
    for (const store of [main, worker]) {
      store.counter('tcp.txBytes').add(10);
      store.gauge('tcp.active').set(4);
      store.histogram('tcp.connect').record(5);
    }
    const series = sampler.take(1000, 'steady').series[0];
    expect(series?.counters).toEqual({ 'tcp.txBytes': 20 });
    expect(series?.gauges).toEqual({ 'tcp.active': 8 });
    expect(Histogram.fromBase64(series?.histograms['tcp.connect'] ?? '').count).toBe(2);
  });

  it('replays what was not acknowledged and forgets the rest', () => {
    const sampler = new Sampler(new SampleStore(), 0);
    for (let second = 1; second <= 10; second++) sampler.take(second * 1000, 'steady');
    expect(sampler.since(7).map((summary) => summary.seq)).toEqual([8, 9, 10]);
    sampler.acknowledge(8);
    expect(sampler.since(0).map((summary) => summary.seq)).toEqual([9, 10]);
  });

  it('keeps fifteen minutes and drops the oldest', () => {
    const sampler = new Sampler(new SampleStore(), 0);
    for (let second = 1; second <= replaySeconds + 5; second++) sampler.take(second * 1000, 'steady');
    expect(sampler.since(0)).toHaveLength(replaySeconds);
    expect(sampler.since(0)[0]?.seq).toBe(6);
  });
});
