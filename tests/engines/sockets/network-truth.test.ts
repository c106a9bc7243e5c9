import { setTimeout as sleep } from 'node:timers/promises';
import type { Summary } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { deviceCounter, runJobIn, startJobIn } from '../namespaces.ts';
import { takePriority } from '../priority.ts';
import { useCable } from '../use-cable.ts';

takePriority();

const cable = useCable('test');

const port = 5201;
const server = (engine: string, config: object = {}) => ({
  engine,
  config: { role: 'server', listen: [{ host: '0.0.0.0', port }], ...config },
  duration: { mode: 'continuous' as const },
});
const client = (config: object = {}) => ({ role: 'client', targets: [{ host: '10.99.0.2', port }], ...config });

describe('numbers against the network', () => {
  it.each([1, 5, 20])('counts loss of %d percent packet for packet', async (percent) => {
    cable.right.run('nft', 'add table inet t');
    cable.right.run('nft', 'add chain inet t c { type filter hook prerouting priority 0 ; }');
    cable.right.run('nft', `add rule inet t c udp dport ${port} numgen random mod 100 < ${percent} counter drop`);
    const receiver = await startJobIn(cable.right, server('udp'));
    const config = client({ flows: 3, load: { rate: 4000 } });
    const sent = await runJobIn(cable.left, { engine: 'udp', config, duration: { seconds: 2 } });
    await sleep(200);
    const received = await receiver.stop();
    const dropped = Number(/counter packets (\d+)/.exec(cable.right.run('nft', 'list', 'ruleset'))?.[1]);
    expect(sent.counter('udp.sent') + sent.counter('udp.dropped')).toBe(8000);
    expect(received.counter('udp.bufferDrops')).toBe(0);
    expect(sent.counter('udp.sent') - received.counter('udp.received')).toBe(dropped);
    expect(dropped).toBeGreaterThan(sent.counter('udp.sent') * (percent / 100) * 0.5);
    // Only loss at the very end of a flow leaves no gap.
    expect(dropped - received.counter('udp.lost')).toBeLessThan(10);
    expect(received.counter('udp.lost')).toBeLessThanOrEqual(dropped);
    expect(received.counter('udp.duplicates')).toBe(0);
  });

  it('finds the limit of a token bucket within 2 percent', { retry: 2 }, async () => {
    const limitBps = 50e6;
    cable.left.run(
      'tc',
      'qdisc',
      'add',
      'dev',
      cable.left.device,
      'root',
      'tbf',
      'rate',
      `${limitBps}bit`,
      'burst',
      '32kb',
      'latency',
      '50ms',
    );
    const sink = await startJobIn(cable.right, server('tcp'));
    const config = client({ mode: 'send', connections: 2, payload: { size: 65_536 } });
    await runJobIn(cable.left, { engine: 'tcp', config, duration: { seconds: 5 } });
    const frames = Number(
      /Sent (\d+) bytes/.exec(cable.left.run('tc', '-s', 'qdisc', 'show', 'dev', cable.left.device))?.[1],
    );
    const received = await sink.stop();
    // The bucket counts whole frames, the engine their payload.
    const share = received.counter('tcp.rxBytes') / frames;
    const bytesIn = (summary: Summary) => summary.series[0]?.counters['tcp.rxBytes'] ?? 0;
    const steady = received.summaries.filter((summary) => bytesIn(summary) > 0).slice(1, -1);
    const bits = steady.reduce((sum, summary) => sum + bytesIn(summary) * 8, 0);
    const ms = steady.reduce((sum, { spanMs }) => sum + spanMs, 0);
    const rateBps = ((bits / ms) * 1000) / share;
    expect(share).toBeGreaterThan(0.9);
    expect(Math.abs(rateBps / limitBps - 1)).toBeLessThan(0.02);
  });

  it('counts bytes as the interface does, within 1 percent', async () => {
    const web = await startJobIn(
      cable.right,
      server('http', { responses: [{ body: { type: 'random', size: 200_000 } }] }),
    );
    const before = deviceCounter(cable.left, 'rx_bytes');
    const run = await runJobIn(cable.left, {
      engine: 'http',
      config: client({ connections: 4 }),
      duration: { mode: 'count', count: 500 },
    });
    const onWire = deviceCounter(cable.left, 'rx_bytes') - before;
    await web.stop();
    expect(run.counter('http.rxBytes')).toBeGreaterThan(100e6);
    expect(Math.abs(onWire / run.counter('http.rxBytes') - 1)).toBeLessThan(0.01);
  });

  it('counts the retransmitted segments of a run and not those of its machine', async () => {
    const clean = port + 1;
    cable.right.run('nft', 'add table inet t');
    cable.right.run('nft', 'add chain inet t c { type filter hook prerouting priority 0 ; }');
    cable.right.run('nft', `add rule inet t c tcp dport ${port} numgen random mod 100 < 2 drop`);
    const listen = [port, clean].map((at) => ({ host: '0.0.0.0', port: at }));
    const receiver = await startJobIn(cable.right, server('tcp', { listen, mode: 'sink' }));
    const retransmitted = () =>
      Number(/TcpRetransSegs\s+(\d+)/.exec(cable.left.run('nstat', '-asz', 'TcpRetransSegs'))?.[1]);
    const before = retransmitted();
    const runTo = (to: number) =>
      runJobIn(cable.left, {
        engine: 'tcp',
        config: client({
          targets: [{ host: '10.99.0.2', port: to }],
          mode: 'send',
          connections: 4,
          rateBps: 20_000_000,
        }),
        duration: { seconds: 2 },
      });
    const [lossy, lossless] = await Promise.all([runTo(port), runTo(clean)]);
    await receiver.stop();
    expect(lossless.counter('tcp.retransmits')).toBe(0);
    expect(lossy.counter('tcp.retransmits')).toBeGreaterThan(0);
    // What the kernel sends again after the sockets are closed is not counted.
    const all = retransmitted() - before;
    expect(lossy.counter('tcp.retransmits')).toBeLessThanOrEqual(all);
    expect(lossy.counter('tcp.retransmits')).toBeGreaterThan(all * 0.9 - 5);
  });

  it('measures the round trip that ping measures', async () => {
    const echo = await startJobIn(cable.right, server('udp', { echoes: true }));
    const config = client({ expectsEcho: true, load: { rate: 200 }, lingerMs: 1000 });
    const run = await runJobIn(cable.left, { engine: 'udp', config, duration: { seconds: 1.5 } });
    await echo.stop();
    const ping = cable.left.run('ping', '-c', '50', '-i', '0.01', '-q', '10.99.0.2');
    const pingMs = Number(/= ([\d.]+)\//.exec(ping)?.[1]);
    expect(run.counter('udp.received')).toBe(300);
    // The minimum of each: ours passes two event loops, ping is answered by the kernel, and other work uses the processor.
    expect(run.histogram('udp.rtt').min / 1000 - pingMs).toBeLessThan(0.5);
    expect(run.histogram('udp.rtt').min / 1000).toBeGreaterThan(pingMs / 2);
  });
});
