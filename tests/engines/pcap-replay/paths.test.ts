import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deviceCounter } from '../namespaces.ts';
import { takePriority } from '../priority.ts';
import { stopNeighbourDiscovery, useCable } from '../use-cable.ts';
import { bulkPackets, imixPackets, mixedPackets, writeCapture } from './capture.ts';
import { countsOf, type PairOptions, playOver } from './pair.ts';

takePriority();

const cable = useCable('test', stopNeighbourDiscovery);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rushhour-replay-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const captureOf = (name: string, packets: readonly Uint8Array[], gapMs = 1): string => {
  const path = join(folder, name);
  writeCapture(path, packets, { gapMs });
  return path;
};

const play = (capture: string, more: object = {}, options: Partial<PairOptions> = {}) => {
  const played = { capture, sources: { networks: ['10.99.1.0/24'] }, ...more };
  return playOver(cable, { played, hosts: ['10.99.2.1'], ...options });
};

describe('every frame path', () => {
  it.each(['xdp', 'af_xdp', 'af_packet'])('%s: all frames arrive, as the interfaces count', async (path) => {
    // Without it a veth accepts no XDP frames.
    for (const side of [cable.left, cable.right]) side.run('ethtool', '-K', side.device, 'gro', 'on');
    const arrived = deviceCounter(cable.right, 'rx_packets');
    const more = { speed: { mode: 'max' }, loops: 20, renewEvery: 3 };
    const by = { client: { path }, server: { path } };
    const { client, server } = await play(captureOf('mixed.pcap', mixedPackets()), more, by);
    expect([client.outcome.error, server.outcome.error]).toEqual([undefined, undefined]);
    expect(countsOf(client, 'sent', 'received', 'lost', 'failed', 'loops')).toEqual({
      ...{ sent: 240, received: 160, lost: 0, failed: 0, loops: 20 },
    });
    expect(countsOf(server, 'sent', 'received', 'lost', 'failed')).toEqual({
      ...{ sent: 160, received: 240, lost: 0, failed: 0 },
    });
    // ARP adds a frame or two.
    const others = deviceCounter(cable.right, 'rx_packets') - arrived - 240;
    expect([others >= 0, others < 30]).toEqual([true, true]);
  });

  it('segments merged by GRO are counted one by one', async () => {
    for (const side of [cable.left, cable.right]) side.run('ethtool', '-K', side.device, 'gro', 'on');
    const { client, server } = await play(captureOf('bulk.pcap', bulkPackets(400)), {
      speed: { mode: 'max' },
      loops: 3,
    });
    expect(client.counter('pcap-replay.sent')).toBe(1200);
    expect(countsOf(server, 'received', 'lost', 'rxBytes')).toEqual({ received: 1200, lost: 0, rxBytes: 1200 * 1054 });
  });

  it('a rate is kept by all of them', { retry: 2 }, async () => {
    for (const side of [cable.left, cable.right]) side.run('ethtool', '-K', side.device, 'gro', 'on');
    const capture = captureOf('imix.pcap', imixPackets(300));
    for (const path of ['xdp', 'af_xdp', 'af_packet']) {
      const more = { speed: { mode: 'pps', value: 5000 }, loops: 10 };
      const { client, server } = await play(capture, more, { client: { path } });
      expect([path, client.counter('pcap-replay.sent'), server.counter('pcap-replay.received')]).toEqual([
        path,
        3000,
        3000,
      ]);
      const [first] = client.summaries;
      // 600 ms of frames, all in the first second.
      expect(first?.series.reduce((sum, { counters }) => sum + (counters['pcap-replay.sent'] ?? 0), 0)).toBe(3000);
    }
  });
});

describe('a cable that fails', () => {
  it('loses the frames due while it was down, reports them, and carries the rest', async () => {
    const capture = captureOf('imix.pcap', imixPackets(600));
    const meanwhile = async () => {
      await sleep(1200);
      cable.left.run('ip', 'link', 'set', cable.left.device, 'down');
      await sleep(300);
      cable.left.run('ip', 'link', 'set', cable.left.device, 'up');
    };
    const more = { speed: { mode: 'pps', value: 1000 }, loops: 5 };
    const { client, server } = await play(capture, more, { meanwhile, client: { nextHopMac: '02:00:00:00:00:99' } });
    const { sent = 0, failed = 0 } = countsOf(client, 'sent', 'failed');
    expect(client.outcome).toMatchObject({ status: 'finished' });
    expect(client.outcome.notes.join()).toContain('was down');
    expect([failed > 100, sent + failed]).toEqual([true, 3000]);
    const { received = 0, lost = 0 } = countsOf(server, 'received', 'lost');
    expect(received).toBeLessThanOrEqual(sent);
    expect(received + lost).toBe(3000);
  });

  it('that is removed ends the run on both sides with a clear message', async () => {
    const capture = captureOf('imix.pcap', imixPackets(600));
    const meanwhile = async () => {
      await sleep(1000);
      cable.left.run('ip', 'link', 'delete', cable.left.device);
    };
    const more = { speed: { mode: 'pps', value: 500 }, loops: 0 };
    const { client, server } = await play(capture, more, { meanwhile });
    expect(client.outcome).toMatchObject({ status: 'failed', error: 'interface l0 no longer exists' });
    expect(server.outcome).toMatchObject({ status: 'failed', error: 'interface r0 no longer exists' });
  });
});
