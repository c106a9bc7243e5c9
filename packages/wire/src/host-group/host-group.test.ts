import { describe, expect, it } from 'vitest';
import { Memory } from '../bytes/memory.ts';
import { EthernetHeader, vlanTags } from '../ethernet/ethernet.ts';
import { icmp4Type } from '../icmp/icmp.ts';
import { Ipv4Header } from '../ip/ipv4.ts';
import { Ipv6Header } from '../ip/ipv6.ts';
import { createMpls } from '../links/mpls.ts';
import type { TcpEvents } from '../tcp/connection.ts';
import { defaultTcpSettings } from '../tcp/settings.ts';
import { consecutiveHosts, FrameLab, flowKey } from '../testing/frame-lab.ts';
import { tunnelKinds } from '../testing/tunnel-kinds.ts';
import type { HostGroup, HostGroupOptions } from './host-group.ts';
import { TunnelSet } from './tunnel.ts';

const second = 1_000_000;
const silent: TcpEvents = { onOpen() {}, onData() {}, onSent() {}, onEnd() {}, onClose() {} };
const serverAddress = { v4: '10.1.0.1', v6: 'fd00:1::1' } as const;

/** Sends bytes from a client host to a server host and back over TCP; returns how many came back, and how it ended. */
const exchange = (lab: FrameLab, client: HostGroup, server: HostGroup, key: Int32Array, length: number) => {
  const result = { returned: 0, isEqual: true, causes: [] as (string | undefined)[], isDone: false };
  const message = Uint8Array.from({ length }, (_, i) => (i * 7) & 255);
  server.tcp.listen((key[8] as number) & 0xffff, {
    settings: defaultTcpSettings,
    backlog: 10,
    accept: () => ({
      ...silent,
      onData: (c, bytes, start, end) => void server.tcp.sendCopy(c, bytes.slice(start, end)),
      onEnd: (c) => server.tcp.close(c),
      onClose: (_c, cause) => result.causes.push(cause),
    }),
  });
  const events: TcpEvents = {
    ...silent,
    onOpen: (c) => client.tcp.send(c, message),
    onData: (c, bytes, start, end) => {
      for (let i = start; i < end; i++) if (bytes[i] !== message[result.returned++]) result.isEqual = false;
      if (result.returned === length) client.tcp.close(c);
    },
    onClose: (_c, cause) => result.causes.push(cause),
  };
  client.tcp.connect(key, { settings: defaultTcpSettings, events, path: 3 });
  result.isDone = lab.run(20 * second, () => result.causes.length === 2);
  return result;
};

const expectWhole = (result: ReturnType<typeof exchange>, length: number) =>
  expect(result).toEqual({ returned: length, isEqual: true, causes: [undefined, undefined], isDone: true });

const createLab = (options: Partial<HostGroupOptions> & { cuts?: boolean } = {}, tags = 0) => {
  const lab = new FrameLab();
  lab.keepsFrames = true;
  const client = lab.group(0, { hosts: consecutiveHosts('10.0.0.1', 'fd00:0::1', 100, tags), ...options });
  const server = lab.group(1, { hosts: consecutiveHosts('10.1.0.1', 'fd00:1::1', 100, tags), ...options });
  return { lab, client, server };
};

it('datagrams that wait for their neighbour keep their bytes when the sender uses its buffer again', () => {
  const { lab, client, server } = createLab();
  const received: number[] = [];
  server.udp.bind(53, {
    onDatagram: (_key, _packet, memory, start) => void received.push(memory.bytes[start] as number),
  });
  const buffer = Buffer.alloc(4);
  for (let i = 0; i < 10; i++) {
    buffer[0] = i;
    client.udp.send(flowKey('10.0.0.4', serverAddress.v4, 4000, 53), 3, buffer);
  }
  lab.run(second, () => received.length === 10);
  expect(received).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

/** Whether a frame carries TCP of the client, whose MAC holds the address. */
const isClientTcp = (frame: Uint8Array): boolean =>
  frame[9] === 0 && (frame[12] === 0x08 ? frame[13] === 0 && frame[23] === 6 : frame[20] === 6);

describe.each(['v4', 'v6'] as const)('hosts over %s', (version) => {
  const source = version === 'v4' ? '10.0.0.4' : 'fd00:0::4';
  const key = () => flowKey(source, serverAddress[version], 0, 80);

  it('send many segments in one packet where the link cuts it', () => {
    const { lab, client, server } = createLab({ cuts: true });
    expectWhole(exchange(lab, client, server, key(), 400_000), 400_000);
    expect(lab.bursts).toBeGreaterThan(5);
    const { packets, bytes } = client.output.counters;
    const sent = lab.frames.filter(isClientTcp);
    // Packets are counted as they are on the wire.
    expect(packets).toBe(sent.length);
    expect(bytes).toBe(sent.reduce((sum, { length }) => sum + length - 14, 0));
    expect(Math.max(...sent.map(({ length }) => length))).toBe(1514);
  });

  it('send no large packets where a header field is wrong or packets leave in fragments', () => {
    for (const fields of [{ fragmentSize: 600 }, { invalidChecksum: true }]) {
      const { lab, client } = createLab({ cuts: true, fields });
      expect(client.output.maxBurst).toBe(0);
      expect(lab.bursts).toBe(0);
    }
  });

  it('find each other and exchange bytes', () => {
    const { lab, client, server } = createLab();
    expectWhole(exchange(lab, client, server, key(), 100_000), 100_000);
    expect(client.neighbours?.counters).toMatchObject({ resolved: 1, failed: 0, requests: 1 });
    expect(server.talk?.counters.requestsAnswered).toBe(1);
  });

  it('talk in their VLANs only', () => {
    const { lab, client, server } = createLab({}, vlanTags({ id: 12, priority: 3 }, { id: 100, priority: 5 }));
    expectWhole(exchange(lab, client, server, key(), 5000), 5000);
    const header = new EthernetHeader();
    for (const frame of lab.frames) {
      header.parse(new Memory(frame), 0, frame.length);
      expect(header.tags >>> 0).toBe(((5 << 13) | 100) * 65_536 + ((3 << 13) | 12));
    }
    const other = createLab();
    other.lab.ends[1] = lab.groups[1];
    other.client.tcp.connect(key(), { settings: defaultTcpSettings, events: silent, path: 3 });
    other.lab.run(5 * second);
    expect(other.client.neighbours?.counters.failed).toBe(1);
  });

  it('send fragments of the ordered size, which are put together', () => {
    const { lab, client, server } = createLab({ fields: { fragmentSize: 576, df: false } });
    expectWhole(exchange(lab, client, server, key(), 50_000), 50_000);
    expect(server.reassembly.counters.completed).toBeGreaterThan(30);
    expect(Math.max(...lab.frames.map(({ length }) => length))).toBeLessThanOrEqual(576 + 14);
    expect(server.reassembly.openPackets).toBe(0);
  });

  it('carry the ordered header fields', () => {
    const { lab, client, server } = createLab({ fields: { ttl: 17, dscp: 46, ecn: 1, df: false, flowLabel: 0x12345 } });
    expectWhole(exchange(lab, client, server, key(), 3000), 3000);
    const v4 = new Ipv4Header();
    const v6 = new Ipv6Header();
    let count = 0;
    for (const frame of lab.frames) {
      const memory = new Memory(frame);
      if (v4.parse(memory, 14, frame.length, true)) {
        expect([v4.ttl, v4.tos, v4.fragment]).toEqual([17, (46 << 2) | 1, 0]);
        count++;
      } else if (v6.parse(memory, 14, frame.length) && v6.protocol === 6) {
        expect([v6.hopLimit, v6.trafficClass, v6.flowLabel]).toEqual([17, (46 << 2) | 1, 0x12345]);
        count++;
      }
    }
    expect(count).toBeGreaterThan(6);
  });

  it('send wrong checksums when ordered to, which are not accepted', () => {
    const { lab, client, server } = createLab({ fields: { invalidChecksum: true } });
    client.tcp.connect(key(), { settings: defaultTcpSettings, events: silent, path: 3 });
    lab.run(second / 2);
    expect(server.tcp.counters).toMatchObject({ badChecksums: 1, segmentsSent: 0 });
  });

  it('exchange datagrams, large ones too, and learn of closed ports', () => {
    const { lab, client, server } = createLab();
    const datagrams: number[] = [];
    const errors: string[] = [];
    client.udp.bind(4000, {
      onDatagram: (_key, _packet, _memory, start, end) => void datagrams.push(end - start),
      onError: (_key, kind) => void errors.push(kind),
    });
    server.udp.bind(53, {
      onDatagram: (flow, packet, memory, start, end) =>
        void server.udp.send(flow.slice(), packet.path, memory.bytes, start, end),
    });
    const flow = flowKey(source, serverAddress[version], 4000, 53);
    for (const length of [0, 100, 1472, 9000, 60_000]) client.udp.send(flow, 3, new Uint8Array(length));
    lab.run(second);
    client.udp.send(flowKey(source, serverAddress[version], 4000, 54), 3, new Uint8Array(10));
    lab.run(second);
    expect(datagrams).toEqual([0, 100, 1472, 9000, 60_000]);
    expect(errors).toEqual(['refused']);
  });

  it('fail at once when a neighbour does not answer', () => {
    const { lab, client } = createLab();
    const causes: (string | undefined)[] = [];
    const events = { ...silent, onClose: (_c: unknown, cause: string | undefined) => void causes.push(cause) };
    const nobody = version === 'v4' ? '10.1.2.3' : 'fd00:1::dead';
    client.tcp.connect(flowKey(source, nobody, 0, 80), { settings: defaultTcpSettings, events, path: 3 });
    lab.run(10 * second, () => causes.length > 0);
    expect(causes).toEqual(['EHOSTUNREACH']);
    expect(client.neighbours?.counters).toMatchObject({ requests: 3, failed: 1 });
  });
});

it('hosts answer echoes and timestamps', () => {
  const lab = new FrameLab();
  const types: number[] = [];
  const client = lab.group(0, {
    hosts: consecutiveHosts('10.0.0.1', 'fd00:0::1', 10),
    icmp: (_packet, message) => void types.push(message.type),
  });
  lab.group(1, { hosts: consecutiveHosts('10.1.0.1', 'fd00:1::1', 10) });
  client.neighbours?.resolve(flowKey('10.1.0.1', '10.1.0.1'), 0, 0, 0);
  lab.run(second / 10);
  const key = flowKey('10.0.0.1', '10.1.0.1');
  for (const type of [icmp4Type.echo, icmp4Type.timestamp])
    client.icmp.send(key, 0, { type, code: 0, word: 1, body: new Uint8Array(12) });
  lab.run(second / 10);
  expect(types).toEqual([icmp4Type.echoReply, icmp4Type.timestampReply]);
});

it('an MPLS label stack carries packets', () => {
  const shim = createMpls({ labels: [{ label: 100 }, { label: 200 }], localLabel: 200 });
  const { lab, client, server } = createLab({ shim });
  expectWhole(exchange(lab, client, server, flowKey('10.0.0.4', '10.1.0.1', 0, 80), 20_000), 20_000);
  expect(Math.max(...lab.frames.map(({ length }) => length))).toBeLessThanOrEqual(1514);
});

describe.each(Object.entries(tunnelKinds))('a tunnel: %s', (name, create) => {
  it.each(['v4', 'v6'] as const)('carries TCP between hosts over %s', (outer) => {
    const { lab, client, server } = createLab();
    const ends = [
      {
        lower: client,
        local: outer === 'v4' ? '10.0.0.9' : 'fd00:0::9',
        remote: outer === 'v4' ? '10.1.0.9' : 'fd00:1::9',
      },
      {
        lower: server,
        local: outer === 'v4' ? '10.1.0.9' : 'fd00:1::9',
        remote: outer === 'v4' ? '10.0.0.9' : 'fd00:0::9',
      },
    ].map(({ lower, local, remote }, index) => {
      const codec = create(index === 0);
      const tunnel = new TunnelSet(lower, codec).add(codec, flowKey(local, remote), 8);
      const hosts = consecutiveHosts(
        index === 0 ? '20.0.0.1' : '20.1.0.1',
        index === 0 ? 'fd20:0::1' : 'fd20:1::1',
        10,
      );
      const side = index === 0 ? 0 : 1;
      const inner = lab.group(side, { sink: tunnel, hosts, hasEthernet: codec.payload === 'ethernet' });
      tunnel.receiver = inner;
      return { inner, tunnel };
    });
    const [left, right] = ends as [(typeof ends)[0], (typeof ends)[0]];
    const isV6 = name === 'IPv6 in IP';
    const key = isV6 ? flowKey('fd20:0::4', 'fd20:1::1', 0, 80) : flowKey('20.0.0.4', '20.1.0.1', 0, 80);
    expectWhole(exchange(lab, left.inner, right.inner, key, 60_000), 60_000);
    expect(left.tunnel.counters).toMatchObject({ invalid: 0 });
    expect(left.tunnel.counters.sentPackets).toBeGreaterThan(20);
    expect(Math.max(...lab.frames.map(({ length }) => length))).toBeLessThanOrEqual(1514);
    expect(client.output.counters.fragments).toBe(0);
  });
});
