import { describe, expect, it } from 'vitest';
import { analyzeCapture } from '../sessions/analyze.ts';
import type { PcapInfo } from '../sessions/pcap-info.ts';
import { captureOfFrames, text } from '../testing/build-capture.ts';
import { ethernetFrame, ipPacket, tcpPacket, udpDatagram, udpPacket } from '../write/frame-builder.ts';

const ENDS = { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 5000, dstPort: 6000 };
const ENDS6 = { src: '2001:db8::1', dst: '2001:db8::2', srcPort: 5000, dstPort: 6000 };
const V4 = udpPacket(text('hello'), ENDS);
const V6 = udpPacket(text('hello'), ENDS6);

async function infoOf(frames: readonly Uint8Array[], linkType = 1): Promise<PcapInfo> {
  return (await analyzeCapture(captureOfFrames(frames, {}, linkType))).info(1);
}

function withHeader(header: readonly number[], packet: Uint8Array): Uint8Array {
  return Uint8Array.from([...header, ...packet]);
}

const SLL = [0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0];
const SLL2 = [0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0];
const MACS = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];

describe('a packet is found', () => {
  it.each<[string, number, number[], number[]]>([
    ['in Ethernet', 1, [...MACS, 8, 0], [...MACS, 0x86, 0xdd]],
    [
      'in LLC/SNAP',
      1,
      [...MACS, 0, 50, 170, 170, 3, 0, 0, 0, 8, 0],
      [...MACS, 0, 70, 170, 170, 3, 0, 0, 0, 0x86, 0xdd],
    ],
    [
      'in PPPoE',
      1,
      [...MACS, 0x88, 0x64, 17, 0, 0, 1, 0, 40, 0, 0x21],
      [...MACS, 0x88, 0x64, 17, 0, 0, 1, 0, 60, 0, 0x57],
    ],
    ['in NULL', 0, [2, 0, 0, 0], [30, 0, 0, 0]],
    ['in NULL of the other byte order', 0, [0, 0, 0, 2], [0, 0, 0, 28]],
    ['in LOOP', 108, [0, 0, 0, 2], [0, 0, 0, 24]],
    ['in RAW', 101, [], []],
    ['in RAW of BSD', 12, [], []],
    ['in Linux cooked', 113, [...SLL, 8, 0], [...SLL, 0x86, 0xdd]],
    ['in Linux cooked v2', 276, [8, 0, ...SLL2], [0x86, 0xdd, ...SLL2]],
    ['in PPP', 9, [0xff, 3, 0, 0x21], [0xff, 3, 0, 0x57]],
    ['in PPP with compressed fields', 9, [0x21], [0x57]],
    ['in PPP over HDLC', 50, [0xff, 3, 0, 0x21], [0xff, 3, 0, 0x57]],
    ['in C-HDLC', 104, [0x0f, 0, 8, 0], [0x0f, 0, 0x86, 0xdd]],
    [
      'under an 802.1BR tag',
      1,
      [...MACS, 0x89, 0x3f, 0, 0, 0, 1, 0, 0, 8, 0],
      [...MACS, 0x89, 0x3f, 0, 0, 0, 1, 0, 0, 0x86, 0xdd],
    ],
    ['in Cisco HDLC', 50, [0x0f, 0, 8, 0], [0x0f, 0, 0x86, 0xdd]],
  ])('%s (%i)', async (_name, linkType, header4, header6) => {
    const info = await infoOf([withHeader(header4, V4), withHeader(header6, V6)], linkType);
    expect(info.ip).toEqual({ v4: 1, v6: 1, vlan: 0, fragments: 0, other: 0 });
    expect(info.sessions.map((session) => [session.srcIp, session.dstIp, session.bytesS2C])).toEqual([
      ['10.2.0.1', '10.1.0.1', 5],
      ['2001:db8::2', '2001:db8::1', 5],
    ]);
  });

  it('in IPV4 and IPV6 captures', async () => {
    expect((await infoOf([V4], 228)).sessionCount).toBe(1);
    expect((await infoOf([V6], 229)).sessionCount).toBe(1);
  });

  it('under one and two VLAN tags', async () => {
    const info = await infoOf([
      ethernetFrame(V4, { vlans: [7] }),
      ethernetFrame(V4, { vlans: [7, 9] }),
      ethernetFrame(V4),
    ]);
    expect(info).toMatchObject({ ip: { v4: 3, vlan: 2 }, sessionCount: 1 });
  });

  it('behind IPv6 extension headers', async () => {
    const datagram = udpDatagram(text('hello'), ENDS6);
    const chain = Uint8Array.from([
      43,
      0,
      1,
      4,
      0,
      0,
      0,
      0,
      60,
      1,
      ...new Array(14).fill(0),
      17,
      0,
      1,
      4,
      0,
      0,
      0,
      0,
      ...datagram,
    ]);
    const info = await infoOf([ethernetFrame(ipPacket(chain, { ...ENDS6, protocol: 0 }))]);
    expect(info.sessions[0]).toMatchObject({ protocol: 'udp', srcPort: 6000, dstPort: 5000, bytesS2C: 5 });
  });

  it('without the padding of short frames', async () => {
    const padded = new Uint8Array(60);
    padded.set(ethernetFrame(udpPacket(text('ab'), ENDS)));
    expect((await infoOf([padded])).sessions[0]?.bytesS2C).toBe(2);
  });
});

describe('what is not a session', () => {
  it('is counted under warnings', async () => {
    const arp = ethernetFrame(new Uint8Array(46), { etherType: 0x0806 });
    const gre = ethernetFrame(ipPacket(new Uint8Array(30), { ...ENDS, protocol: 47 }));
    const info = await infoOf([arp, gre]);
    expect(info).toMatchObject({ sessionCount: 0, ip: { v4: 1, other: 1 } });
    expect(info.warnings).toEqual([
      { code: 'non-tcp-udp', count: 2, message: '2 packets are neither TCP nor UDP, 1 of them GRE or IP-in-IP.' },
    ]);
    expect((await infoOf([new Uint8Array(50)], 127)).warnings).toMatchObject([
      { code: 'unsupported-linktype', count: 1 },
    ]);
  });

  it.each([
    ['cut', ethernetFrame(ipPacket(new Uint8Array(10), { ...ENDS, protocol: 6 }))],
    [
      'too short',
      ethernetFrame(
        ipPacket(Uint8Array.from([...new Array(12).fill(1), 0x10, 2, ...new Array(6).fill(0)]), {
          ...ENDS,
          protocol: 6,
        }),
      ),
    ],
  ])('is named when a TCP header is %s', async (_name, frame) => {
    const info = await infoOf([frame]);
    expect(info).toMatchObject({ sessionCount: 0, warnings: [{ code: 'bad-header', count: 1 }] });
  });
});

describe('a tunnel', () => {
  const outer = { src: '192.0.2.1', dst: '192.0.2.2', srcPort: 7000 };
  const udpTunnel = (dstPort: number, header: readonly number[], inner: Uint8Array) =>
    udpPacket(withHeader(header, inner), { ...outer, dstPort });
  const ipTunnel = (protocol: number, header: readonly number[], inner: Uint8Array) =>
    ipPacket(withHeader(header, inner), { ...outer, protocol });
  const vxlan = [8, 0, 0, 0, 0, 0, 9, 0];

  it.each<[string, Uint8Array]>([
    ['GRE', ipTunnel(47, [0, 0, 8, 0], V4)],
    ['GRE with checksum, key and sequence number', ipTunnel(47, [0xb0, 0, 8, 0, ...new Array(12).fill(0)], V4)],
    ['GRE with Ethernet', ipTunnel(47, [0, 0, 0x65, 0x58], ethernetFrame(V4, { vlans: [5] }))],
    ['ERSPAN', ipTunnel(47, [0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, ...new Array(8).fill(0)], ethernetFrame(V4))],
    ['PPTP', ipTunnel(47, [0x30, 1, 0x88, 0x0b, 0, 9, 0, 1, 0, 0, 0, 1, 0xff, 3, 0, 0x21], V4)],
    ['IP-in-IP', ipTunnel(4, [], V4)],
    ['VXLAN', udpTunnel(4789, vxlan, ethernetFrame(V4))],
    ['Geneve', udpTunnel(6081, [1, 0, 0x65, 0x58, 0, 0, 9, 0, 1, 2, 3, 4], ethernetFrame(V4))],
    ['VXLAN in GRE', ipTunnel(47, [0, 0, 8, 0], udpTunnel(4789, vxlan, ethernetFrame(V4)))],
  ])('of kind %s is opened', async (_name, packet) => {
    const info = await infoOf([ethernetFrame(packet)]);
    expect(info.sessions).toMatchObject([{ srcIp: '10.2.0.1', dstIp: '10.1.0.1', bytesS2C: 5, replayable: true }]);
    expect(info.warnings).toContainEqual(expect.objectContaining({ code: 'tunnelled', count: 1 }));
  });

  it.each<[string, Uint8Array]>([
    ['IPv6 in IPv4', ipTunnel(41, [], V6)],
    ['Teredo', udpTunnel(3544, [], V6)],
    ['Teredo with authentication and origin', udpTunnel(3544, [0, 1, ...new Array(19).fill(0)], V6)],
  ])('of kind %s is opened', async (_name, packet) => {
    const { sessions } = await infoOf([ethernetFrame(packet)]);
    expect(sessions).toMatchObject([{ srcIp: '2001:db8::2', dstIp: '2001:db8::1', bytesS2C: 5 }]);
  });

  it('without TCP or UDP inside is a session of its own that cannot be replayed', async () => {
    const arp = ethernetFrame(new Uint8Array(46), { etherType: 0x0806 });
    const [session] = (await infoOf([ethernetFrame(udpTunnel(4789, vxlan, arp))])).sessions;
    expect(session).toMatchObject({ replayable: false, reasons: ['tunnelled'] });
  });
});

describe('fragments', () => {
  const long = new Uint8Array(4000).map((_, index) => index & 255);

  function fragmentsOf(ends: typeof ENDS, id: number, size = 1480): Uint8Array[] {
    const datagram = udpDatagram(long, ends);
    const starts = Array.from({ length: Math.ceil(datagram.length / size) }, (_, index) => index * size);
    return starts.map((start) =>
      ethernetFrame(
        ipPacket(datagram.subarray(start, start + size), {
          ...ends,
          protocol: 17,
          id,
          fragmentOffset: start,
          moreFragments: start + size < datagram.length,
        }),
      ),
    );
  }

  it.each([
    ['IPv4', ENDS],
    ['IPv6', ENDS6],
  ])('of %s are put together in any order', async (_name, ends) => {
    const frames = [...fragmentsOf(ends, 1).reverse(), ...fragmentsOf(ends, 2)];
    frames.splice(2, 0, frames[0] as Uint8Array);
    const analysis = await analyzeCapture(captureOfFrames(frames), { keepPayload: true });
    expect(analysis.info(1)).toMatchObject({ ip: { fragments: 7 }, sessionCount: 1 });
    expect(analysis.session(0)).toMatchObject({ bytesS2C: 8000, packets: 2 });
    expect(analysis.stepBytes(0, 0)).toEqual(long);
    expect(analysis.stepBytes(0, 1)).toEqual(long);
  });

  it('that lie beyond the end of their datagram do no harm', async () => {
    const piece = (fragmentOffset: number, length: number, moreFragments: boolean) =>
      ethernetFrame(ipPacket(new Uint8Array(length), { ...ENDS, protocol: 17, id: 5, fragmentOffset, moreFragments }));
    // As many bytes as the last fragment promises, but not where they belong.
    const info = await infoOf([piece(200, 48, true), piece(48, 48, false), piece(65_528, 80, false)]);
    expect(info).toMatchObject({ sessionCount: 0, ip: { fragments: 3 } });
  });

  it('that never come leave no session but a warning', async () => {
    const info = await infoOf(fragmentsOf(ENDS, 1).slice(1));
    expect(info.sessionCount).toBe(0);
    expect(info.warnings).toMatchObject([{ code: 'ip-fragments', count: 2 }]);
  });
});

it('a frame cut inside the TCP options still counts for its session', async () => {
  const frame = ethernetFrame(tcpPacket(text('payload'), { ...ENDS, seq: 1, flags: 16 }));
  const [session] = (await analyzeCapture(captureOfFrames([frame], { snapLen: 14 + 20 + 14 }))).info(1).sessions;
  expect(session).toMatchObject({ packets: 1, bytesS2C: 0, missingBytes: 7 });
});
