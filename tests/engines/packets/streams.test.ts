import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Totals } from '../job.ts';
import { type Cable, createCable, deviceCounter, runJobIn, startJobIn } from '../namespaces.ts';
import { takePriority } from '../priority.ts';
import { stopNeighbourDiscovery, useCable } from '../use-cable.ts';
import { startCapture } from './arrivals.ts';
import { port, receiver, sender } from './stream-jobs.ts';

takePriority();

const cable = useCable('test', stopNeighbourDiscovery);

/** Both sides of one stream. */
const exchange = async (config: object = {}, more: object = {}) => {
  const server = await startJobIn(cable.right, receiver(more));
  const sent = await runJobIn(cable.left, sender(config));
  return { sent, received: await server.stop() };
};

describe('streams over a cable', () => {
  it('all arrive, as the interfaces count', async () => {
    const before = deviceCounter(cable.right, 'rx_packets');
    const { sent, received } = await exchange({ streams: 5, load: { rate: 10_000 } });
    expect(sent.outcome).toMatchObject({ status: 'finished', notes: [expect.stringContaining('frames by AF_XDP')] });
    expect(sent.counter('stream.sent') + sent.counter('stream.dropped')).toBe(10_000);
    expect(received.counter('stream.received')).toBe(sent.counter('stream.sent'));
    expect(received.counter('stream.rxBytes')).toBe(sent.counter('stream.sent') * 60);
    expect(received.counter('stream.lost') + received.counter('stream.sequenceErrors')).toBe(0);
    expect(received.gauge('stream.streams')).toBe(5);
    // ARP adds a frame or two.
    const arrived = deviceCounter(cable.right, 'rx_packets') - before;
    expect(arrived - sent.counter('stream.sent')).toBeLessThan(10);
    expect(arrived).toBeGreaterThanOrEqual(sent.counter('stream.sent'));
    expect(received.histogram('stream.latency').quantile(0.5)).toBeLessThan(5000);
  });

  it('go both ways at once, and each direction counts what is its own', async () => {
    const [back, rates] = [{ targets: [{ host: '10.99.0.1', port }] }, [20_000, 12_000] as const];
    const servers = [
      await startJobIn(cable.right, receiver()),
      await startJobIn(cable.left, receiver({ listen: [{ host: '10.99.0.1', port }] })),
    ];
    const before = [cable.right, cable.left].map((side) => deviceCounter(side, 'rx_packets'));
    const sent = await Promise.all([
      runJobIn(cable.left, sender({ streams: 3, load: { rate: rates[0] } }, 3)),
      runJobIn(cable.right, sender({ ...back, streams: 4, load: { rate: rates[1] } }, 3)),
    ]);
    const received = await Promise.all(servers.map((server) => server.stop()));
    for (const [index, side] of [cable.right, cable.left].entries()) {
      const [ours, theirs] = [sent[index] as Totals, received[index] as Totals];
      expect(ours.counter('stream.sent') + ours.counter('stream.dropped')).toBe((rates[index] as number) * 3);
      expect(theirs.counter('stream.received')).toBe(ours.counter('stream.sent'));
      expect(['lost', 'sequenceErrors', 'misdirected'].map((name) => theirs.counter(`stream.${name}`))).toEqual([
        0, 0, 0,
      ]);
      expect(theirs.gauge('stream.streams')).toBe(index === 0 ? 3 : 4);
      // ARP adds a frame or two.
      const arrived = deviceCounter(side, 'rx_packets') - (before[index] as number);
      expect(arrived).toBeGreaterThanOrEqual(ours.counter('stream.sent'));
      expect(arrived - ours.counter('stream.sent')).toBeLessThan(10);
    }
  });

  it('have their tags in tshark at the far end, frame by frame', async () => {
    const capture = await startCapture(cable.right);
    const vlan = [{ id: 7, type: 0x88a8 }, { id: 8 }];
    const mix = [
      { frameSize: 100, weight: 2 },
      { frameSize: 1518, weight: 1 },
    ];
    const { sent, received } = await exchange({ headers: { vlan }, sizes: { mix }, streams: 3, load: { rate: 600 } });
    const rows = await capture.read('udp', 'ieee8021ad.id', 'vlan.id', 'frame.len', 'udp.checksum.status');
    expect(sent.outcome.status).toBe('finished');
    expect(rows).toHaveLength(sent.counter('stream.sent'));
    expect(received.counter('stream.received')).toBe(rows.length);
    expect(new Set(rows)).toEqual(new Set(['7\t8\t96\t1', '7\t8\t1514\t1']));
    const bytes = rows.reduce((sum, row) => sum + Number(row.split('\t')[2]), 0);
    expect([sent.counter('stream.txBytes'), received.counter('stream.rxBytes')]).toEqual([bytes, bytes]);
  });

  it('may be jumbo frames if both ends support them, and are refused otherwise', async () => {
    const jumbo = { sizes: { mix: [{ frameSize: 9018, weight: 1 }] }, load: { rate: 500 } };
    const server = await startJobIn(cable.right, receiver());
    await expect(runJobIn(cable.left, sender(jumbo))).rejects.toThrow('9018 bytes exceed the MTU 1500 of l0');
    for (const side of [cable.left, cable.right]) side.run('ip', 'link', 'set', side.device, 'mtu', '9000');
    const sent = await runJobIn(cable.left, sender(jumbo));
    const received = await server.stop();
    expect(sent.counter('stream.sent')).toBeGreaterThan(450);
    expect(received.counter('stream.rxBytes')).toBe(sent.counter('stream.sent') * 9014);
  });

  it('use addresses that no interface has, IPv4 and IPv6', async () => {
    const { left, right } = cable;
    left.run('ip', 'address', 'add', 'fd99::1/64', 'dev', left.device, 'nodad');
    const sources = { addresses: ['fd99::a', 'fd99::b'] };
    const targets = [{ host: 'fd99::77', port }];
    const server = await startJobIn(right, receiver({ listen: targets, protocol: 'other' }));
    const sizes = { mix: [{ frameSize: 90, weight: 1 }] };
    const sent = await runJobIn(left, sender({ targets, sources, sizes, streams: 2, load: { rate: 500 } }));
    const received = await server.stop();
    expect(sent.counter('stream.sent')).toBeGreaterThan(450);
    expect(received.counter('stream.received')).toBe(sent.counter('stream.sent'));
  });

  it('that arrive at the wrong receiver are counted as misdirected', async () => {
    const listen = [{ host: '10.99.0.3', port }];
    cable.right.run('ip', 'address', 'add', '10.99.0.3/24', 'dev', cable.right.device);
    const { sent, received } = await exchange({ load: { rate: 300 } }, { listen });
    expect(received.counter('stream.misdirected')).toBe(sent.counter('stream.sent'));
    expect(received.counter('stream.received')).toBe(0);
  });

  it('name the address that does not answer ARP instead of sending', async () => {
    const targets = [{ host: '10.99.0.9', port }];
    await expect(runJobIn(cable.left, sender({ targets, load: { rate: 10 } }))).rejects.toThrow(
      '10.99.0.9 does not answer ARP or ND on l0',
    );
  });
});

describe('rates', () => {
  it.each([10_000, 50_000])('of %d frames per second are kept without drift', { retry: 2 }, async (rate) => {
    const sent = await runJobIn(cable.left, sender({ nextHopMac: '02:00:00:00:00:99', load: { rate } }, 2));
    expect(sent.counter('stream.sent') + sent.counter('stream.dropped')).toBe(rate * 2);
    expect(sent.counter('stream.dropped')).toBeLessThan(rate * 0.01);
  });

  it('are accepted in bits and in percent of line rate', async () => {
    const load = async (config: object) => {
      const sent = await runJobIn(cable.left, sender({ nextHopMac: '02:00:00:00:00:99', ...config }));
      return sent.counter('stream.sent') + sent.counter('stream.dropped');
    };
    const sizes = { mix: [{ frameSize: 1000, weight: 1 }] };
    expect(await load({ sizes, load: { rate: 8e6 }, loadUnit: 'bps' })).toBe(1000);
    // A veth reports a speed of 10 Gbit/s.
    const expected = (1e10 * 0.001) / (8 * 1020);
    expect(Math.abs((await load({ sizes, load: { rate: 0.1 }, loadUnit: 'linePct' })) - expected)).toBeLessThan(2);
  });
});

describe('a cable that fails', () => {
  it('loses the frames due while it was down, reports them, and carries the rest', async () => {
    const server = await startJobIn(cable.right, receiver());
    const client = await startJobIn(cable.left, sender({ load: { rate: 2000 } }, 3));
    await sleep(800);
    cable.right.run('ip', 'link', 'set', cable.right.device, 'down');
    await sleep(500);
    cable.right.run('ip', 'link', 'set', cable.right.device, 'up');
    const sent = await client.totals;
    const received = await server.stop();
    expect(sent.outcome.status).toBe('finished');
    expect(sent.outcome.notes.join()).toContain('the link of l0 was down');
    const down = sent.counter('stream.errors.linkDown');
    expect(down).toBeGreaterThan(400);
    expect(sent.counter('stream.sent') + down + sent.counter('stream.dropped')).toBe(6000);
    expect(received.counter('stream.received')).toBeGreaterThan(2000);
    expect(received.counter('stream.received')).toBeLessThanOrEqual(sent.counter('stream.sent'));
    // The far end finds the gap by sequence numbers; it includes frames in flight when the link went down.
    expect(received.counter('stream.lost')).toBeGreaterThanOrEqual(down);
  });

  it('ends the run with a clear message when it is removed', async () => {
    const server = await startJobIn(cable.right, receiver());
    const client = await startJobIn(cable.left, sender({ load: { rate: 1000 } }, 20));
    await sleep(500);
    cable.left.run('ip', 'link', 'delete', cable.left.device);
    await expect(client.totals).rejects.toThrow('interface l0 no longer exists');
    await expect(server.totals).rejects.toThrow('interface r0 no longer exists');
  });
});

describe('something between the ends', () => {
  let second: Cable;
  beforeEach(() => {
    second = createCable();
    const middle = cable.right;
    // The second cable begins where the first ends.
    second.left.run('ip', 'link', 'set', second.left.device, 'netns', middle.namespace);
    middle.run('ip', 'address', 'flush', 'dev', middle.device);
    middle.run('ip', 'link', 'set', second.left.device, 'up');
  });
  afterEach(() => second.remove());

  it.each([1, 10])('drops %d percent by a rule, and exactly those are counted as lost', async (percent) => {
    const middle = cable.right;
    middle.run('ip', 'link', 'add', 'br0', 'type', 'bridge');
    for (const device of [middle.device, second.left.device]) middle.run('ip', 'link', 'set', device, 'master', 'br0');
    middle.run('ip', 'link', 'set', 'br0', 'up');
    middle.run('nft', 'add table bridge t');
    middle.run('nft', 'add chain bridge t c { type filter hook forward priority 0 ; }');
    middle.run('nft', `add rule bridge t c udp dport ${port} numgen random mod 100 < ${percent} counter drop`);
    const server = await startJobIn(second.right, receiver());
    const sent = await runJobIn(cable.left, sender({ streams: 4, load: { rate: 5000 } }));
    await sleep(100);
    const received = await server.stop();
    const dropped = Number(/counter packets (\d+)/.exec(middle.run('nft', 'list', 'ruleset'))?.[1]);
    expect(dropped).toBeGreaterThan(5000 * (percent / 100) * 0.5);
    expect(sent.counter('stream.sent') - received.counter('stream.received')).toBe(dropped);
    expect(received.counter('stream.bufferDrops')).toBe(0);
    // Only loss at the very end of a stream leaves no gap.
    expect(dropped - received.counter('stream.lost')).toBeLessThan(10);
    expect(received.counter('stream.lost')).toBeLessThanOrEqual(dropped);
  });

  it('duplicates, reorders and delays frames, and all of it is measured', { retry: 2 }, async () => {
    // The last frames are still under way when the sender ends.
    const holdMs = 400;
    const script = fileURLToPath(new URL('forwarder.ts', import.meta.url));
    const devices = [cable.right.device, second.left.device, String(holdMs)];
    const args = ['netns', 'exec', cable.right.namespace, process.execPath, script, ...devices];
    const child = spawn('ip', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    let stdout = '';
    child.stdout.on('data', (bytes) => (stdout += bytes));
    await once(child.stdout, 'data');
    const server = await startJobIn(second.right, receiver());
    const config = sender({ load: { rate: 1000 } });
    const sent = await runJobIn(cable.left, { ...config, duration: { mode: 'count', count: 1000 } });
    const received = await server.stop();
    child.stdin.end();
    await once(child, 'exit');
    const counts = JSON.parse(stdout.slice(stdout.indexOf('{')));
    expect(sent.counter('stream.sent')).toBe(1000);
    expect(counts).toEqual({ forwarded: 1100, duplicated: 100, swapped: 50 });
    expect(received.counter('stream.received')).toBe(1000);
    expect(received.counter('stream.duplicates')).toBe(counts.duplicated);
    expect(received.counter('stream.reordered')).toBe(counts.swapped);
    expect(received.counter('stream.lost')).toBe(0);
    const latencyMs = received.histogram('stream.latency').quantile(0.5) / 1000;
    expect(latencyMs).toBeGreaterThan(holdMs);
    expect(latencyMs).toBeLessThan(holdMs + 10);
  });
});
