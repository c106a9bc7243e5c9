import { type AttemptRecord, Histogram, maxRecords, maxRowsPerRecord } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { SampleStore } from '../../samples.ts';
import { Sampler } from './sampler.ts';

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

  it('reports a counter that has counted nothing once, so that 0 differs from not being counted', () => {
    const store = new SampleStore();
    const sampler = new Sampler(store, 0);
    store.counter('udp.lost');
    expect(sampler.take(1000, 'steady').series[0]?.counters).toEqual({ 'udp.lost': 0 });
    expect(sampler.take(2000, 'steady').series[0]?.counters).toEqual({});
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

  it('carries records in order, a limited number per second, and the rest at the end', () => {
    const store = new SampleStore();
    const sampler = new Sampler(store, 0);
    const recordOf = (startedMs: number): AttemptRecord => ({
      side: 'control',
      reason: 'periodic',
      service: 'http',
      target: 'a:80',
      ip: 'b',
      isGood: true,
      detail: '',
      startedMs,
      endedMs: startedMs,
    });
    for (let i = 0; i < maxRecords * 2 + 7; i++) store.records.push(recordOf(i));
    store.counter('waf.sent').add(1);
    const summaries = [sampler.take(1000, 'steady'), ...sampler.rest(1001, 'steady')];
    expect(summaries.map(({ records }) => records?.length)).toEqual([maxRecords, maxRecords, 7]);
    expect(summaries.map(({ seq, series }) => [seq, series.length])).toEqual([
      [1, 1],
      [2, 0],
      [3, 0],
    ]);
    expect(summaries.at(-1)?.records?.at(-1)).toMatchObject({ startedMs: maxRecords * 2 + 6 });
    expect(sampler.take(2000, 'steady').records).toBeUndefined();
  });

  it('carries the newest state of changed rows after the records, many in one', () => {
    const store = new SampleStore();
    const sampler = new Sampler(store, 0);
    for (let index = 0; index < maxRowsPerRecord + 3; index++) {
      store.putRow('sessions', { index, state: 'connecting', cells: {} });
      store.putRow('sessions', { index, state: 'up', cells: { ip: `10.0.0.${index}` } });
    }
    const [records = []] = [sampler.take(1000, 'steady').records];
    expect(records).toMatchObject([{ side: 'rows', table: 'sessions' }, { rows: { length: 3 } }]);
    expect(records[0]).toMatchObject({ rows: { 7: { index: 7, state: 'up', cells: { ip: '10.0.0.7' } } } });
    expect(sampler.take(2000, 'steady').records).toBeUndefined();
    store.putRow('sessions', { index: 1, state: 'down', cells: {} });
    expect(sampler.rest(2001, 'steady')).toMatchObject([{ records: [{ rows: [{ index: 1, state: 'down' }] }] }]);
  });
});
