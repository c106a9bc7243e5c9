import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { runJob } from '../job.ts';

describe('a load that cannot be reached', () => {
  it('of packets is reported with the part that was sent; schedule lag keeps counting while sending blocks', async () => {
    const sink = createSocket('udp4').bind(0, '127.0.0.1');
    await once(sink, 'listening');
    const config = {
      role: 'client',
      targets: [{ host: '127.0.0.1', port: sink.address().port }],
      load: { rate: 20_000_000 },
    };
    const { outcome, counter, gauge } = await runJob({ engine: 'udp', config, duration: { seconds: 2 } });
    sink.close();
    expect(outcome.shortfall?.begun).toBe(counter('udp.begun'));
    expect(outcome.shortfall?.wanted).toBeGreaterThan(39_000_000);
    expect(['processor', 'path']).toContain(outcome.shortfall?.limit);
    expect(outcome.saturatedSeconds.scheduleLag).toBeGreaterThan(0);
    expect(gauge('agent.scheduleLagMs')).toBeGreaterThan(100);
    expect(gauge('udp.targetLoad')).toBe(20_000_000);
  });

  it('because of a slow peer is not a fault of the generator', async () => {
    const server = createServer((_, response) => void setTimeout(() => response.end('late'), 400));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], connections: 2, load: { rate: 100 } };
    const { outcome, counter } = await runJob({ engine: 'http', config, duration: { seconds: 2 } });
    server.close();
    expect(outcome.shortfall).toMatchObject({ wanted: 200, begun: counter('http.requests') });
    // On a machine that is busy with other work its processor is named.
    expect(['peer', 'processor']).toContain(outcome.shortfall?.limit);
    expect(outcome.saturatedSeconds.scheduleLag ?? 0).toBe(0);
  });

  it('is not reported when it is reached', async () => {
    const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], connections: 50, load: { rate: 50 } };
    const { outcome, counter } = await runJob({ engine: 'http', config, duration: { seconds: 1 } });
    server.close();
    expect(outcome.shortfall).toBeUndefined();
    expect(counter('http.begun')).toBe(50);
  });
});
