import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { deviceCounter, runJobIn, type Side, startJobIn } from '../namespaces.ts';
import { execute, requireProgram, stopProcess } from '../programs.ts';
import { stopNeighbourDiscovery, useCable } from '../use-cable.ts';
import { receiver, sender } from './stream-jobs.ts';

const paths = ['xdp', 'af_xdp', 'af_packet'] as const;

const cable = useCable('test', ({ left, right, remove }) => {
  for (const program of ['ethtool', 'tcpdump', 'tshark']) requireProgram(program);
  stopNeighbourDiscovery({ left, right, remove });
  // Without it the veth driver refuses frames that the kernel generates.
  right.run('ethtool', '-K', right.device, 'gro', 'on');
});

/** Captures what arrives at one end of the cable, for tshark. */
const startCapture = async (side: Side) => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-paths-'));
  const file = join(folder, 'arrived.pcap');
  // A buffer for all frames, so that tcpdump drops none on a busy machine.
  const room = ['-s', '2000', '-B', '65536'];
  const options = ['--immediate-mode', ...room, '-i', side.device, '-Q', 'in', '-U', '-w', file, 'udp', 'or', 'vlan'];
  const args = ['netns', 'exec', side.namespace, 'tcpdump', ...options];
  const child: ChildProcess = spawn('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  await once(child.stderr as NonNullable<typeof child.stderr>, 'data');
  return async (...fields: string[]): Promise<string[][]> => {
    await sleep(200);
    await stopProcess(child);
    const wanted = ['-o', 'udp.check_checksum:TRUE', '-o', 'ip.check_checksum:TRUE', '-T', 'fields'];
    const { stdout } = await execute('tshark', ['-n', '-r', file, ...wanted, ...fields.flatMap((one) => ['-e', one])]);
    rmSync(folder, { recursive: true });
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t'));
  };
};

describe.each(paths)('frames over %s', (framePath) => {
  it.each([{}, { load: { rate: 20_000 } }, { load: { rate: 500 } }])(
    'all arrive, in order, with load %j',
    async (load) => {
      const before = deviceCounter(cable.right, 'rx_packets');
      const server = await startJobIn(cable.right, receiver());
      const sent = await runJobIn(cable.left, sender({ framePath, streams: 3, ...load }));
      const received = await server.stop();
      const count = sent.counter('stream.sent');
      expect(sent.outcome).toMatchObject({ status: 'finished', notes: [] });
      expect(count).toBeGreaterThan(300);
      if (load.load !== undefined) expect(count + sent.counter('stream.dropped')).toBeLessThanOrEqual(load.load.rate);
      expect(received.counter('stream.received') + received.counter('stream.bufferDrops')).toBe(count);
      expect(received.counter('stream.rxBytes') + received.counter('stream.bufferDrops') * 60).toBe(
        sent.counter('stream.txBytes'),
      );
      if (received.counter('stream.bufferDrops') === 0) {
        expect(received.counter('stream.lost') + received.counter('stream.sequenceErrors')).toBe(0);
        // Latency comes from the timestamps in the frames: on one machine it is never negative.
        expect(received.histogram('stream.latency').quantile(0.5)).toBeLessThan(20_000);
      }
      // ARP adds a frame or two.
      const arrived = deviceCounter(cable.right, 'rx_packets') - before;
      expect(arrived - count).toBeGreaterThanOrEqual(0);
      expect(arrived - count).toBeLessThan(10);
    },
  );

  it('have every configured field and valid checksums in tshark', async () => {
    const read = await startCapture(cable.right);
    const config = {
      framePath,
      headers: { vlan: [{ id: 7 }] },
      sizes: {
        mix: [
          { frameSize: 101, weight: 2 },
          { frameSize: 1500, weight: 1 },
        ],
      },
      modifiers: [
        { field: 'sourcePort', mode: 'increment', count: 5 },
        { field: 'vlan', mode: 'list', values: [0, 10] },
        { field: 'sourceAddress', mode: 'random', count: 100 },
      ],
      load: { rate: 3000 },
      nextHopMac: '02:00:00:00:00:99',
    };
    const sent = await runJobIn(cable.left, sender(config));
    const rows = await read(
      'frame.len',
      'vlan.id',
      'udp.srcport',
      'ip.src',
      'ip.checksum.status',
      'udp.checksum.status',
    );
    expect(rows).toHaveLength(sent.counter('stream.sent'));
    expect(rows.reduce((sum, [length]) => sum + Number(length), 0)).toBe(sent.counter('stream.txBytes'));
    for (const [index, [, vlan, source, address, ip, udp]] of rows.entries()) {
      expect([vlan, source]).toEqual([index % 2 === 0 ? '7' : '17', String(1024 + (index % 5))]);
      expect(address).toMatch(/^10\.99\.0\.([1-9]\d?|100)$/);
      expect([ip, udp]).toEqual(['1', '1']);
    }
    const lengths = rows.map(([length]) => length);
    const short = lengths.filter((length) => length === '97').length;
    expect(Math.abs(short - (rows.length * 2) / 3)).toBeLessThan(1);
    expect(new Set(lengths)).toEqual(new Set(['97', '1496']));
  });

  it('are counted as lost while the link is down, and continue afterwards', async () => {
    const server = await startJobIn(cable.right, receiver());
    const client = await startJobIn(cable.left, sender({ framePath, load: { rate: 4000 } }, 2));
    await sleep(600);
    cable.right.run('ip', 'link', 'set', cable.right.device, 'down');
    await sleep(400);
    cable.right.run('ip', 'link', 'set', cable.right.device, 'up');
    const sent = await client.totals;
    const received = await server.stop();
    const down = sent.counter('stream.errors.linkDown');
    expect(down).toBeGreaterThan(400);
    const accounted = down + sent.counter('stream.dropped') + sent.counter('stream.queueFull');
    expect(sent.counter('stream.sent') + accounted).toBeGreaterThan(7000);
    expect(received.counter('stream.received')).toBeLessThanOrEqual(sent.counter('stream.sent'));
    expect(received.counter('stream.received')).toBeGreaterThan(2000);
    expect(sent.outcome.notes.join()).toContain('the link of l0 was down');
  });

  it('end with a clear message when the interface is removed', async () => {
    const config = { framePath, nextHopMac: '02:00:00:00:00:99', load: { rate: 5000 } };
    const client = await startJobIn(cable.left, sender(config, 20));
    await sleep(500);
    cable.left.run('ip', 'link', 'delete', cable.left.device);
    await expect(client.totals).rejects.toThrow('interface l0 no longer exists');
  });
});

describe('the fastest frame path', () => {
  const config = { nextHopMac: '02:00:00:00:00:99', load: { rate: 1000 } };

  it('is chosen when the far end supports it, without a note', async () => {
    const sent = await runJobIn(cable.left, sender(config));
    expect(sent.outcome).toMatchObject({ status: 'finished', notes: [] });
  });

  it('is unavailable for a driver without XDP transmit, and the note names the fallback and the reason', async () => {
    cable.right.run('ethtool', '-K', cable.right.device, 'gro', 'off');
    const sent = await runJobIn(cable.left, sender(config));
    expect(sent.outcome.notes).toEqual([
      'frames by AF_XDP: no XDP live frames: the driver of l0 does not transmit XDP frames (a veth does if GRO is on at its peer)',
    ]);
    await expect(runJobIn(cable.left, sender({ ...config, framePath: 'xdp' }))).rejects.toThrow(
      'the driver of l0 does not transmit XDP frames',
    );
  });

  it('is unavailable for frames longer than a page', async () => {
    for (const side of [cable.left, cable.right]) side.run('ip', 'link', 'set', side.device, 'mtu', '9000');
    const sizes = { mix: [{ frameSize: 9018, weight: 1 }] };
    const sent = await runJobIn(cable.left, sender({ ...config, sizes }));
    expect(sent.outcome.notes.join()).toMatch(/^frames by packet socket: no XDP live frames: .* no AF_XDP: /);
    expect(sent.counter('stream.txBytes')).toBe(sent.counter('stream.sent') * 9014);
  });
});
