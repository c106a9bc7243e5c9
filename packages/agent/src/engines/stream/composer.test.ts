import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamClientConfig, StreamModifier } from '@rushhour/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FrameBatch } from '../../net/packet/frame-batch.ts';
import { WallClock } from '../../net/packet/wall-clock.ts';
import { Composer } from './composer.ts';
import { layersOf } from './headers.ts';
import { changingFields } from './origins.ts';
import { planSizes } from './sizes.ts';

const witness = 'tshark';
const folder = mkdtempSync(join(tmpdir(), 'rushhour-frames-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Headers = Partial<StreamClientConfig['headers']>;

interface FrameOptions {
  readonly headers?: Headers;
  readonly sizes?: StreamClientConfig['sizes'];
  readonly modifiers?: Partial<StreamModifier>[];
  readonly addresses?: string[];
  readonly destination?: string;
  readonly streams?: number;
  readonly hasWrongChecksums?: boolean;
}

const plain = {
  vlan: [],
  mpls: [],
  ttl: 64,
  dscp: 0,
  ecn: 0,
  isUnfragmentable: false,
  flowLabel: 0,
  protocol: 'udp',
} as const;
const [sourceMac, nextHopMac] = [Buffer.from('020000000001', 'hex'), Buffer.from('0200000000fe', 'hex')];

/** Composes frames as a client would; odd fill so that sums have something to go wrong over. */
const framesOf = (count: number, options: FrameOptions): Buffer[] => {
  const headers = { ...plain, ...options.headers } as StreamClientConfig['headers'];
  const { addresses = ['10.0.0.1'], destination = '10.0.0.9', streams = 1 } = options;
  const portOf = (stream: number) => 2000 + stream;
  const batch = new FrameBatch({ count: 4, bytes: 9000 });
  const modifiers = (options.modifiers ?? []).map((one) => ({
    mode: 'increment',
    count: 256,
    step: 1,
    values: [],
    ...one,
  }));
  const composer = new Composer({
    slots: batch,
    targets: [
      layersOf(headers, {
        sourceMac,
        nextHopMac,
        source: addresses[0] as string,
        destination,
        ports: { source: portOf(0), destination: 9 },
      }),
    ],
    targetOf: () => 0,
    fields: changingFields({
      macs: [],
      addresses,
      portOf,
      hasPorts: headers.protocol !== 'none',
      streams,
      modifiers: modifiers as StreamModifier[],
      fixed: {
        destinationMac: 0xfe,
        sourceMac: 1,
        vlan: headers.vlan[0]?.id ?? 0,
        mplsLabel: 16 * 4096 + 256 + 64,
        destinationPort: 9,
      },
    }),
    sizes: planSizes(options.sizes ?? { mix: [{ frameSize: 128, weight: 1 }] }),
    streams,
    fill: Buffer.from('abc'),
    sender: 77,
    hasWrongChecksums: options.hasWrongChecksums ?? false,
  });
  const clock = new WallClock();
  return Array.from({ length: count }, (_, index) => {
    clock.read(performance.now());
    const slot = index % 4;
    composer.compose(slot, slot + 1, clock);
    const start = batch.offsetOf(slot);
    return Buffer.from(batch.bytes.subarray(start, start + composer.lengthAt(slot)));
  });
};

const record = (frame: Buffer): Buffer => {
  const head = Buffer.alloc(16);
  head.writeUInt32LE(frame.length, 8);
  head.writeUInt32LE(frame.length, 12);
  return Buffer.concat([head, frame]);
};

const checking = ['ip.check_checksum', 'udp.check_checksum', 'tcp.check_checksum'].flatMap((name) => [
  '-o',
  `${name}:TRUE`,
]);
const fields = [
  ...['frame.len', 'eth.src', 'ieee8021ad.id', 'vlan.id', 'mpls.label', 'mpls.exp', 'mpls.bottom', 'mpls.ttl'],
  ...[
    'ip.src',
    'ip.dst',
    'ip.dsfield.dscp',
    'ip.dsfield.ecn',
    'ip.ttl',
    'ip.flags.df',
    'ip.checksum.status',
    'ipv6.src',
  ],
  ...['udp.srcport', 'udp.dstport', 'udp.checksum.status', 'tcp.checksum.status', 'icmp.checksum.status'],
  ...['icmpv6.checksum.status', 'gre.key', 'vxlan.vni'],
];
type Row = Readonly<Record<string, string>>;

/** What tshark reads of all frames, in one run: its start is what takes time. */
const readFrames = (frames: readonly Buffer[]): Row[] => {
  const file = join(folder, 'frames.pcap');
  const head = Buffer.from('d4c3b2a1020004000000000000000000ffff000001000000', 'hex');
  writeFileSync(file, Buffer.concat([head, ...frames.map(record)]));
  const args = ['-n', '-r', file, ...checking, '-T', 'fields', ...fields.flatMap((field) => ['-e', field])];
  const text = execFileSync(witness, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const rows = text.split('\n').slice(0, frames.length);
  return rows.map((line) => {
    const cells = line.replaceAll('True', '1').replaceAll('False', '0').split('\t');
    return Object.fromEntries(fields.map((field, index) => [field, cells[index] ?? '']));
  });
};

const sweep = { mix: [], sweep: { first: 110, last: 131, step: 1 } };
const [four, six] = [
  ['10.0.0.1', '10.0.0.2', '10.3.0.7'],
  ['fd00::1', 'fd00:0:0:1::2', 'fd00::3'],
];
const swept = (protocol: 'udp' | 'tcp' | 'icmp', destination: string, addresses: string[]) =>
  framesOf(66, { headers: { protocol }, destination, addresses, streams: 3, sizes: sweep });
const tunnelEnds = { source: '192.168.0.1', destination: '192.168.0.2', network: 4242 };

const made: Readonly<Record<string, () => Buffer[]>> = {
  'udp 4': () => swept('udp', '10.0.0.9', four),
  'tcp 4': () => swept('tcp', '10.0.0.9', four),
  'icmp 4': () => swept('icmp', '10.0.0.9', four),
  'udp 6': () => swept('udp', 'fd00::9', six),
  'icmp 6': () => swept('icmp', 'fd00::9', six),
  tags: () => {
    const vlan = [
      { id: 100, priority: 3, type: 0x88a8 },
      { id: 200, priority: 0, type: 0x8100 },
    ];
    return framesOf(1, { headers: { vlan, dscp: 46, ecn: 1, ttl: 7, isUnfragmentable: true } });
  },
  labels: () => {
    const mpls = [
      { label: 16, trafficClass: 5, ttl: 9 },
      { label: 17, trafficClass: 0, ttl: 64 },
    ];
    return framesOf(1, { headers: { mpls } });
  },
  gre: () => framesOf(1, { headers: { tunnel: { type: 'gre', key: 99, ...tunnelEnds } } }),
  vxlan: () =>
    framesOf(1, {
      headers: { tunnel: { type: 'vxlan', ...tunnelEnds } },
      sizes: { mix: [{ frameSize: 160, weight: 1 }] },
    }),
  modifiers: () =>
    framesOf(12, {
      headers: { vlan: [{ id: 10, priority: 0, type: 0x8100 }] },
      modifiers: [
        { field: 'sourceAddress', count: 3, step: 256 },
        { field: 'sourcePort', mode: 'list', values: [5, 0, 60] },
        { field: 'destinationPort', mode: 'random', count: 1000 },
        { field: 'sourceMac', count: 2 },
        { field: 'vlan', count: 4 },
      ],
    }),
  wrong: () => framesOf(8, { hasWrongChecksums: true, streams: 4 }),
};

const read = new Map<string, Row[]>();
beforeAll(() => {
  const all = Object.entries(made).map(([name, make]) => ({ name, frames: make() }));
  const rows = readFrames(all.flatMap(({ frames }) => frames));
  for (const { name, frames } of all) read.set(name, rows.splice(0, frames.length));
});

/** Values of these fields in each frame of a kind. */
const valuesOf = (name: string, ...wanted: string[]): string[][] =>
  (read.get(name) ?? []).map((row) => wanted.map((field) => row[field] ?? ''));

const good = '1';
const bad = '0';

describe('frames as tshark reads them', () => {
  it.each([
    ['udp 4', 'udp.checksum.status', 'ip.src', four],
    ['tcp 4', 'tcp.checksum.status', 'ip.src', four],
    ['icmp 4', 'icmp.checksum.status', 'ip.src', four],
    ['udp 6', 'udp.checksum.status', 'ipv6.src', six],
    ['icmp 6', 'icmpv6.checksum.status', 'ipv6.src', six],
  ] as const)('%s: valid checksums for every size and stream', (name, status, source, addresses) => {
    const rows = valuesOf(name, status, source, 'ip.checksum.status', 'frame.len');
    const ipStatus = source === 'ip.src' ? good : '';
    expect(new Set(rows.map((row) => `${row[0]} ${row[2]}`))).toEqual(new Set([`${good} ${ipStatus}`]));
    expect(rows.slice(0, 3).map((row) => row[1])).toEqual(addresses);
    expect(rows.map((row) => Number(row[3]))).toEqual(Array.from({ length: 66 }, (_, index) => 106 + (index % 22)));
  });

  it('carry tags, labels and IP fields', () => {
    const ip = ['ip.dsfield.dscp', 'ip.dsfield.ecn', 'ip.ttl', 'ip.flags.df', 'udp.checksum.status'];
    expect(valuesOf('tags', 'ieee8021ad.id', 'vlan.id', ...ip)).toEqual([['100', '200', '46', '1', '7', '1', good]]);
    const mpls = ['mpls.label', 'mpls.exp', 'mpls.bottom', 'mpls.ttl'];
    expect(valuesOf('labels', ...mpls, 'udp.checksum.status')).toEqual([['16,17', '5,0', '0,1', '9,64', good]]);
  });

  it('go through tunnels', () => {
    expect(valuesOf('gre', 'gre.key', 'ip.dst', 'udp.dstport', 'udp.checksum.status')).toEqual([
      ['0x00000063', '192.168.0.2,10.0.0.9', '9', good],
    ]);
    expect(valuesOf('vxlan', 'vxlan.vni', 'ip.dst', 'udp.dstport', 'ip.checksum.status')).toEqual([
      ['4242', '192.168.0.2,10.0.0.9', '4789,9', `${good},${good}`],
    ]);
  });

  it('are changed by modifiers and keep valid checksums', () => {
    expect(valuesOf('modifiers', 'ip.src', 'udp.srcport', 'eth.src', 'vlan.id').slice(0, 4)).toEqual([
      ['10.0.0.1', '2005', '02:00:00:00:00:01', '10'],
      ['10.0.1.1', '2000', '02:00:00:00:00:02', '11'],
      ['10.0.2.1', '2060', '02:00:00:00:00:01', '12'],
      ['10.0.0.1', '2005', '02:00:00:00:00:02', '13'],
    ]);
    const sums = valuesOf('modifiers', 'udp.checksum.status', 'ip.checksum.status').map((row) => row.join(' '));
    expect(new Set(sums)).toEqual(new Set([`${good} ${good}`]));
    expect(new Set(valuesOf('modifiers', 'udp.dstport').flat()).size).toBeGreaterThan(6);
  });

  it('have wrong checksums when configured', () => {
    const sums = valuesOf('wrong', 'udp.checksum.status', 'ip.checksum.status').map((row) => row.join(' '));
    expect(new Set(sums)).toEqual(new Set([`${bad} ${good}`]));
  });

  it('keep the shares of a mix', () => {
    const mix = [
      { frameSize: 64, weight: 7 },
      { frameSize: 594, weight: 4 },
      { frameSize: 1518, weight: 1 },
    ];
    const lengths = framesOf(120, { sizes: { mix } }).map(({ length }) => length);
    expect([60, 590, 1514].map((length) => lengths.filter((one) => one === length).length)).toEqual([70, 40, 10]);
  });
});
