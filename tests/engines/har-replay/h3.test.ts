import { createSelfSigned } from '@rushhour/agent';
import type { RowsRecord } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { harOf } from '../../../packages/controller/src/assets/har/testing/har-fixture.ts';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { allOk, compiledFiles, counts, exact, play, serve } from './recording.ts';

describe('a recording of HTTP/3', () => {
  it('is asked for over QUIC, where nothing listens on TCP', async () => {
    const port = await freePort();
    const identity = createSelfSigned(['a.test']);
    const http = await startServer('http', {
      listen: [{ host: '127.0.0.1', port }],
      version: '3',
      tls: { ...identity },
      responses: [{ body: { type: 'text', data: 'abc' } }],
    });
    const { script, compiled } = compiledFiles(
      harOf(
        { url: 'https://a.test/x', version: 'h3', text: 'abc' },
        { url: 'https://a.test/y', version: 'HTTP/3', text: 'abc' },
      ),
      exact,
    );
    expect(compiled.summary.usesHttp3).toBe(true);
    const tls = { verify: true, ca: identity.certificate };
    const config = { role: 'client', targets: [{ host: '127.0.0.1', port, place: 0 }], script, http3: true, tls };
    const run = await runJob({ engine: 'har-replay', config, duration: { mode: 'continuous' } });
    const served = await http.stop();
    expect([run.counter('har-replay.ok'), run.counter('har-replay.connections')]).toEqual([2, 1]);
    expect(served.counter('http.served')).toBe(2);
  });

  it('is answered over QUIC to the HTTP/3 client of ours', async () => {
    const { port, server } = await serve(harOf({ url: 'https://a.test/x', version: 'h3', text: 'abc' }));
    const config = {
      role: 'client',
      version: '3',
      targets: [{ host: '127.0.0.1', port }],
      path: '/x',
      headers: [{ name: 'host', value: 'a.test' }],
      tls: { verify: false, sni: 'a.test' },
      expect: { bodyContains: 'abc' },
      connections: 2,
    };
    const run = await runJob({ engine: 'http', config, duration: { mode: 'count', count: 20 } });
    const served = await server.stop();
    expect(run.counter('http.ok')).toBe(20);
    expect(served.counter('har-replay.served')).toBe(20);
  });

  it('has the same keys on both sides', async () => {
    const identity = createSelfSigned(['a.test']);
    const { script, answers } = compiledFiles(harOf({ url: 'https://a.test/x', version: 'h3', text: 'abc' }), exact);
    const port = await freePort();
    const listen = [{ host: '127.0.0.1', port }];
    const config = { listen, names: ['a.test'], http3: true, tls: identity, answers };
    const server = await startServer('har-replay', config, { writesKeys: true });
    const targets = [{ host: '127.0.0.1', port, place: 0 }];
    const client = await runJob({
      engine: 'har-replay',
      config: { role: 'client', targets, script, http3: true },
      duration: { mode: 'continuous' },
      writesKeys: true,
    });
    const [ours, theirs] = [client, await server.stop()].map(({ summaries }) => {
      const records = summaries.flatMap((summary) => (summary.records ?? []) as Partial<RowsRecord>[]);
      const rows = records.flatMap(({ table, rows: reported = [] }) => (table === 'keys' ? reported : []));
      return rows.map(({ cells }) => String(cells['line'])).toSorted();
    });
    expect(client.counter('har-replay.ok')).toBe(1);
    expect(ours).toHaveLength(4);
    expect(theirs).toEqual(ours);
  });

  it('counts alerts of QUIC on both sides', async () => {
    const site = harOf({ url: 'https://a.test/x', version: 'h3', text: 'abc' });
    const { port, script, server } = await serve(site);
    const targets = [{ host: '127.0.0.1', port, place: 0 }];
    const tls = { verify: true, ca: createSelfSigned(['a.test']).certificate };
    const config = { role: 'client', targets, script, http3: true, tls };
    const run = await runJob({ engine: 'har-replay', config, duration: { mode: 'continuous' } });
    const served = await server.stop();
    expect(run.counter('har-replay.ok')).toBe(0);
    expect(run.counter('har-replay.alerts.sent.unknownCa')).toBe(1);
    expect(served.counter('har-replay.alerts.received.unknownCa')).toBe(1);
  });

  it('carries bodies larger than what a stream holds, beside entries of other versions', async () => {
    const site = harOf(
      { url: 'https://a.test/film', version: 'h3', size: 30_000_000 },
      { url: 'https://a.test/h2', version: 'h2', atMs: 5, text: 'abc' },
      { url: 'https://b.test/h1', atMs: 10, text: 'abc' },
    );
    const played = await play(site, { server: { mode: 'size' }, checks: { bodySize: true } });
    expect(counts(played)).toEqual(allOk(3));
    expect(played.client.counter('har-replay.rxBytes')).toBeGreaterThan(30_000_000);
    expect(played.client.counter('har-replay.connections')).toBe(3);
  });

  it('fails by name where no server speaks it', async () => {
    const port = await freePort();
    const { script } = compiledFiles(harOf({ url: 'https://a.test/x', version: 'h3', text: 'abc' }), exact);
    const targets = [{ host: '127.0.0.1', port, place: 0 }];
    const config = { role: 'client', targets, script, http3: true, timeoutMs: 500 };
    const run = await runJob({ engine: 'har-replay', config, duration: { mode: 'continuous' } });
    expect(run.counter('har-replay.requests')).toBe(1);
    expect(run.counter('har-replay.ok')).toBe(0);
    const errors = run.summaries.flatMap(({ series }) => series.flatMap(({ counters }) => Object.keys(counters)));
    expect(errors.filter((name) => name.startsWith('har-replay.errors.'))).toEqual([
      'har-replay.errors.connectTimeout',
    ]);
  });
});
