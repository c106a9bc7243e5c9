import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCable, deviceCounter, type Side } from '../namespaces.ts';
import { takePriority } from '../priority.ts';
import { execute, stopProcess } from '../programs.ts';
import { stopNeighbourDiscovery, useCable } from '../use-cable.ts';
import { captureBytes, imixPackets, mixedPackets, writeCapture } from './capture.ts';
import { countsOf, type PairOptions, playOver } from './pair.ts';

takePriority();

const cable = useCable('file', stopNeighbourDiscovery);
let folder: string;
const fileOf = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rushhour-replay-'));
  writeCapture(fileOf('mixed.pcap'), mixedPackets());
  writeCapture(fileOf('imix.pcap'), imixPackets(600), { gapMs: 0.5 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const servers = ['10.99.2.1'];
const play = (capture: string, more: object = {}, options: Partial<PairOptions> = {}) =>
  playOver(cable, {
    played: { capture: fileOf(capture), sources: { networks: ['10.99.1.0/24'] }, ...more },
    hosts: servers,
    ...options,
  });

/** Captures what arrives at one end, for tshark. */
const startCapture = async ({ namespace, device }: Side, name: string) => {
  const file = fileOf(name);
  const args = ['--immediate-mode', '-i', device, '-Q', 'in', '-U', '-s', '2000', '-B', '16384', '-w', file, 'not arp'];
  const child: ChildProcess = spawn('ip', ['netns', 'exec', namespace, 'tcpdump', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await once(child.stderr as NonNullable<typeof child.stderr>, 'data');
  return {
    async stop() {
      await sleep(200);
      await stopProcess(child);
      return file;
    },
  };
};

const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;

const checks = ['tcp', 'udp', 'ip'].flatMap((protocol) => ['-o', `${protocol}.check_checksum:TRUE`]);
const rowsOf = async (file: string, filter: string, ...fields: string[]): Promise<string[]> => {
  const wanted = ['-T', 'fields', '-E', 'occurrence=f', ...fields.flatMap((field) => ['-e', field])];
  const whole = ['-o', 'ip.defragment:FALSE', '-o', 'tcp.desegment_tcp_streams:FALSE'];
  const { stdout } = await execute('tshark', ['-n', '-r', file, '-Y', filter, ...checks, ...whole, ...wanted]);
  return stdout.split('\n').filter((line) => line !== '');
};

const unchanged = [
  ...['ip.len', 'ip.id', 'ip.flags', 'ip.frag_offset', 'ip.proto', 'ip.ttl'],
  ...['tcp.seq_raw', 'tcp.ack_raw', 'tcp.flags', 'tcp.window_size_value', 'tcp.len', 'tcp.srcport', 'tcp.dstport'],
  ...['udp.length', 'icmp.type', 'icmp.code', 'data.data', 'frame.len'],
];

describe('a capture replayed over a cable', () => {
  it('arrives at both ends as it was recorded, field by field, with the addresses of the networks', async () => {
    const tapes = [await startCapture(cable.right, 'right.pcap'), await startCapture(cable.left, 'left.pcap')];
    const { client, server } = await play('mixed.pcap');
    const [right = '', left = ''] = await Promise.all(tapes.map((tape) => tape.stop()));
    expect([client.outcome.error, server.outcome.error]).toEqual([undefined, undefined]);
    const names = ['sent', 'received', 'lost', 'failed'];
    expect(countsOf(client, ...names)).toEqual({ sent: 12, received: 8, lost: 0, failed: 0 });
    expect(countsOf(server, ...names)).toEqual({ sent: 8, received: 12, lost: 0, failed: 0 });
    const fromClient = 'ip.src == 192.0.2.0/24 and not icmp';
    const fromServer = 'ip.src == 198.51.100.1';
    expect(await rowsOf(right, 'ip', ...unchanged)).toEqual(
      await rowsOf(fileOf('mixed.pcap'), fromClient, ...unchanged),
    );
    expect(await rowsOf(left, 'ip', ...unchanged)).toEqual(
      await rowsOf(fileOf('mixed.pcap'), fromServer, ...unchanged),
    );
    const ends = [
      ...(await rowsOf(right, 'ip', 'ip.src', 'ip.dst')),
      ...(await rowsOf(left, 'ip', 'ip.src', 'ip.dst')),
    ];
    expect([...new Set(ends)].sort()).toEqual([
      '10.99.1.1\t10.99.2.1',
      '10.99.1.2\t10.99.2.1',
      '10.99.2.1\t10.99.1.1',
      '10.99.2.1\t10.99.1.2',
    ]);
    // 1 is valid, 2 is unchecked: fragments have no checksum of their own.
    const sums = ['ip.checksum.status', 'tcp.checksum.status', 'udp.checksum.status', 'icmp.checksum.status'];
    const states = (await Promise.all([right, left].map((file) => rowsOf(file, 'ip', ...sums)))).flat();
    expect(states.filter((row) => row.split('\t').includes('0'))).toEqual([]);
    // The packet quoted by an ICMP error has the new addresses, too, and a valid header.
    const quoted = ['-T', 'fields', '-e', 'ip.src', '-e', 'ip.dst', '-e', 'ip.checksum.status'];
    const { stdout } = await execute('tshark', ['-n', '-r', left, '-Y', 'icmp', ...checks, ...quoted]);
    expect(stdout.trim()).toBe('10.99.2.1,10.99.1.1\t10.99.1.1,10.99.2.1\t1,1');
  });

  it('can get other tags, TTLs and traffic classes, and fragments are reassembled', async () => {
    const tape = await startCapture(cable.right, 'tagged.pcap');
    const rewrite = { vlan: 42, ttl: 17, dscp: 46 };
    const { client, server } = await play('mixed.pcap', { rewrite }, { server: { nextHopMac: '02:00:00:00:00:01' } });
    const file = await tape.stop();
    expect([client.outcome.error, server.counter('pcap-replay.received')]).toEqual([undefined, 12]);
    const rows = await rowsOf(file, 'vlan and ip', 'vlan.id', 'ip.ttl', 'ip.dsfield.dscp', 'ip.checksum.status');
    expect(new Set(rows)).toEqual(new Set(['42\t17\t46\t1']));
    const { stdout } = await execute('tshark', [
      ...['-n', '-r', file, ...checks, '-Y', 'udp.length == 3008'],
      ...['-T', 'fields', '-e', 'udp.checksum.status', '-e', 'udp.length'],
    ]);
    expect(stdout.trim()).toBe('1\t3008');
  });

  it('matches the interface counters at top speed, with new addresses in each iteration', async () => {
    const [rx, tx] = [deviceCounter(cable.right, 'rx_packets'), deviceCounter(cable.left, 'tx_packets')];
    const tape = await startCapture(cable.right, 'renewed.pcap');
    const more = { speed: { mode: 'max' }, loops: 3, renewEvery: 1, sources: { ranges: ['10.99.1.1-10.99.4.250'] } };
    const { client, server } = await play('imix.pcap', more);
    const file = await tape.stop();
    expect(countsOf(client, 'sent', 'loops', 'failed')).toEqual({ sent: 1800, loops: 3, failed: 0 });
    expect(countsOf(server, 'received', 'lost')).toEqual({ received: 1800, lost: 0 });
    expect(server.counter('pcap-replay.rxBytes')).toBe(client.counter('pcap-replay.txBytes'));
    // ARP adds a frame or two.
    expect(deviceCounter(cable.right, 'rx_packets') - rx - 1800).toBeLessThan(30);
    expect(deviceCounter(cable.left, 'tx_packets') - tx - 1800).toBeLessThan(30);
    const rows = await rowsOf(file, 'udp', 'ip.src', 'ip.checksum.status', 'udp.checksum.status');
    expect(rows.filter((row) => !row.endsWith('\t1\t1'))).toEqual([]);
    const sources = rows.map((row) => row.split('\t')[0]);
    expect(new Set(sources).size).toBe(600);
    const used = '600 of 1018 source addresses are used, one for each client of the capture and renewal';
    expect(client.outcome.notes).toContain(used);
    expect([sources[0], sources[600], sources[1200]]).toEqual(['10.99.1.1', '10.99.1.201', '10.99.2.145']);
  });

  it('keeps the recorded times, or those of a rate, on both sides', { retry: 2 }, async () => {
    const tapes = [await startCapture(cable.right, 'times-r.pcap'), await startCapture(cable.left, 'times-l.pcap')];
    const { client, startedAt } = await play('mixed.pcap', { speed: { mode: 'original', multiplier: 0.5 } });
    const files = await Promise.all(tapes.map((tape) => tape.stop()));
    expect([client.outcome.error, client.outcome.shortfall]).toEqual([undefined, undefined]);
    expect(client.outcome.notes).toContainEqual(expect.stringMatching(/^2 of 254 source addresses are used/));
    const times = (await Promise.all(files.map((file) => rowsOf(file, 'ip', 'frame.time_epoch')))).flat();
    const arrivedMs = times.map((time) => Number(time) * 1000 - startedAt).sort((a, b) => a - b);
    expect(arrivedMs).toHaveLength(20);
    // One packet every 10 ms, client and server alternately as recorded; a busy machine delays single ones.
    const lateMs = arrivedMs.map((arrived, index) => arrived - index * 10);
    expect(Math.min(...lateMs)).toBeGreaterThan(-2);
    expect(medianOf(lateMs)).toBeLessThan(8);
  });

  it('is sent at a frame or bit rate, both directions together', { retry: 2 }, async () => {
    const halfMs = async (speed: object) => {
      const tape = await startCapture(cable.right, 'rate.pcap');
      const { client } = await play('imix.pcap', { speed });
      const times = (await rowsOf(await tape.stop(), 'udp', 'frame.time_epoch')).map((time) => Number(time) * 1000);
      expect([client.counter('pcap-replay.sent'), times.length]).toEqual([600, 600]);
      return medianOf(times.slice(300).map((time, index) => time - (times[index] as number)));
    };
    expect(Math.abs((await halfMs({ mode: 'pps', value: 1000 })) - 300)).toBeLessThan(2);
    // 25 times 12 packets: 7 of 68, 4 of 594 and one of 1518 bytes with headers and check sequence.
    const bits = 25 * (7 * 68 + 4 * 594 + 1518) * 8;
    expect(Math.abs((await halfMs({ mode: 'bps', value: 4e6 })) - (bits / 4e6) * 1000)).toBeLessThan(2);
  });

  it('that is too fast for the machine reports on both sides how much was not sent', async () => {
    const speed = { mode: 'pps', value: 50_000_000 };
    const duration = { mode: 'time', seconds: 2 } as const;
    const { client, server } = await play('mixed.pcap', { speed, loops: 0 }, { duration });
    // Three of five packets are the client's.
    expect(client.gauge('pcap-replay.targetLoad')).toBeCloseTo(30_000_000, 0);
    for (const side of [client, server]) {
      expect(side.outcome.shortfall?.begun).toBe(side.counter('pcap-replay.sent'));
      expect(['processor', 'path']).toContain(side.outcome.shortfall?.limit);
    }
    expect(client.outcome.shortfall?.wanted).toBeGreaterThan(50_000_000);
  });

  it('can keep its addresses if they are allowed, and is refused otherwise', async () => {
    const kept = { rewrite: { hasNewAddresses: false, hasNewMacs: false } };
    const refused = await play('mixed.pcap', kept);
    expect(refused.client.outcome).toMatchObject({ status: 'failed', code: 'TARGET_NOT_ALLOWED' });
    const packets = mixedPackets().map((packet) => {
      const moved = Uint8Array.from(packet);
      for (const at of [12, 16]) moved.set(moved[at] === 192 ? [10, 5] : [10, 6], at);
      return moved;
    });
    writeCapture(fileOf('private.pcap'), packets);
    const tape = await startCapture(cable.right, 'kept.pcap');
    const { client, server } = await play('private.pcap', kept);
    const file = await tape.stop();
    expect([client.outcome.error, server.counter('pcap-replay.received')]).toEqual([undefined, 12]);
    const fields = ['eth.src', 'eth.dst', 'ip.src', 'ip.dst', ...unchanged];
    expect(await rowsOf(file, 'ip.src == 10.5.0.0/16', ...fields)).toEqual(
      await rowsOf(fileOf('private.pcap'), 'ip.src == 10.5.0.0/16', ...fields),
    );
  });
});

describe('damaged captures', () => {
  const outcomeOf = async (name: string, more: object = {}) => (await play(name, more)).client.outcome;

  it('are refused with a clear reason', async () => {
    writeFileSync(fileOf('empty.pcap'), '');
    writeFileSync(fileOf('text.pcap'), 'this is no capture, whatever its name is');
    writeFileSync(fileOf('headed.pcap'), captureBytes([]));
    const radio = Buffer.from(captureBytes(mixedPackets()));
    radio.writeUInt32LE(105, 20);
    writeFileSync(fileOf('radio.pcap'), radio);
    const errors = await Promise.all(
      ['empty.pcap', 'text.pcap', 'headed.pcap', 'radio.pcap', 'missing.pcap'].map(async (name) => {
        const { status, error } = await outcomeOf(name);
        return `${status}: ${error}`;
      }),
    );
    expect(errors).toEqual([
      'failed: The file is neither a pcap nor a pcapng capture.',
      'failed: The file is neither a pcap nor a pcapng capture.',
      'failed: No packet is left of the capture.',
      'failed: no packet of the capture can be sent: 20 packets have a link layer that cannot be converted to Ethernet',
      expect.stringContaining('ENOENT'),
    ]);
  });

  it('are replayed up to the cut, and truncated packets are counted', async () => {
    const whole = captureBytes(mixedPackets());
    writeFileSync(fileOf('cut.pcap'), whole.subarray(0, whole.length - 20));
    const cut = await play('cut.pcap');
    expect(cut.client.outcome.notes).toContain('the capture ends within a packet: the packets before it are replayed');
    expect(countsOf(cut.client, 'sent', 'received')).toEqual({ sent: 12, received: 7 });
    writeCapture(fileOf('short.pcap'), mixedPackets(), { snapLen: 60, format: 'pcapng' });
    const short = await play('short.pcap');
    expect(countsOf(short.client, 'truncated', 'sent', 'received')).toEqual({ truncated: 8, sent: 12, received: 8 });
    expect(short.client.outcome.notes.join()).toContain('missing bytes are sent as zeros');
  });
});

describe('something between the ends', () => {
  it('drops by a rule, and exactly those frames are lost, in both directions', async () => {
    const [first, second] = [createCable(), createCable()];
    try {
      const middle = first.right;
      // The second cable begins where the first ends.
      second.left.run('ip', 'link', 'set', second.left.device, 'netns', middle.namespace);
      middle.run('ip', 'address', 'flush', 'dev', middle.device);
      middle.run('ip', 'link', 'add', 'br0', 'type', 'bridge');
      for (const device of [middle.device, second.left.device]) {
        middle.run('ip', 'link', 'set', device, 'master', 'br0', 'up');
      }
      middle.run('ip', 'link', 'set', 'br0', 'up');
      middle.run('nft', 'add table bridge t');
      middle.run('nft', 'add chain bridge t c { type filter hook forward priority 0 ; }');
      middle.run('nft', 'add rule bridge t c ip saddr 10.99.1.0/24 numgen random mod 10 < 1 counter drop');
      middle.run('nft', 'add rule bridge t c ip saddr 10.99.2.1 numgen random mod 10 < 1 counter drop');
      const played = {
        ...{ capture: fileOf('mixed.pcap'), sources: { networks: ['10.99.1.0/24'] } },
        ...{ speed: { mode: 'pps', value: 2000 }, loops: 100 },
      };
      const ends = { ...first, right: second.right };
      const { client, server } = await playOver(ends, { played, hosts: servers });
      const counters = [...middle.run('nft', 'list', 'ruleset').matchAll(/counter packets (\d+)/g)];
      const [there = 0, back = 0] = counters.map(([, count]) => Number(count));
      expect([there > 50, back > 30]).toEqual([true, true]);
      expect(countsOf(client, 'sent', 'received', 'lost')).toEqual({ sent: 1200, received: 800 - back, lost: back });
      expect(countsOf(server, 'sent', 'received', 'lost')).toEqual({ sent: 800, received: 1200 - there, lost: there });
    } finally {
      second.remove();
      first.remove();
    }
  });
});
