import { describe, expect, it } from 'vitest';
import { packetRows } from '../dissect/packet-rows.ts';
import { analyzeCapture } from '../sessions/analyze.ts';
import type { PcapSession } from '../sessions/pcap-info.ts';
import { captureOf, captureOfFrames, chunksOf, text } from '../testing/build-capture.ts';
import { TcpScript } from '../testing/tcp-script.ts';
import { ethernetFrame, ipPacket, tcpPacket, udpDatagram, udpPacket } from './frame-builder.ts';
import { type TrimOptions, type TrimResult, trimCapture } from './trim.ts';

async function trimmed(capture: Uint8Array, options: TrimOptions): Promise<{ bytes: Uint8Array; result: TrimResult }> {
  const parts: Uint8Array[] = [];
  const write = (chunk: Uint8Array): void => void parts.push(chunk);
  const result = await trimCapture(() => chunksOf(capture, 1000), write, options);
  return { bytes: Buffer.concat(parts), result };
}

async function sessionsOf(capture: Uint8Array): Promise<PcapSession[]> {
  const analysis = await analyzeCapture(capture, { keepPayload: true });
  return analysis.info(1, { steps: true, data: { encoding: 'text' } }).sessions;
}

function stepsOf(session: PcapSession | undefined): string[] {
  return session?.steps.map((step) => step.data) ?? [];
}

const UDP = { src: '192.0.2.7', dst: '192.0.2.8', srcPort: 5000, dstPort: 6000 };

function sample(): Uint8Array[] {
  const first = new TcpScript({ clientPort: 41_001 }).open().client('one').server('uno').close().packets;
  const second = new TcpScript({ clientPort: 41_002 }).open().client('two').repeat().server('dos').close().packets;
  return [...first.slice(0, 4), udpPacket(text('datagram'), UDP), ...second, ...first.slice(4)];
}

describe('trimming', () => {
  it.each(['pcap', 'pcap-ns', 'pcapng'] as const)(
    'keeps the wanted sessions of %s and reports their new indexes',
    async (format) => {
      const { bytes, result } = await trimmed(captureOf(sample(), { format }), { keepSessions: [2, 0] });
      expect(result).toMatchObject({ format, packets: 17, droppedRetransmissions: 0 });
      expect(result.sessionsRemap).toEqual([
        { from: 0, to: 0 },
        { from: 2, to: 1 },
      ]);
      const sessions = await sessionsOf(bytes);
      expect(sessions.map(stepsOf)).toEqual([
        ['one', 'uno'],
        ['two', 'dos'],
      ]);
      expect((await analyzeCapture(bytes)).info(1).format).toBe(format);
    },
  );

  it('drops retransmissions', async () => {
    const { bytes, result } = await trimmed(captureOf(sample()), { keepSessions: [2], dropRetransmissions: true });
    expect(result).toMatchObject({ packets: 8, droppedRetransmissions: 1 });
    expect((await sessionsOf(bytes))[0]).toMatchObject({ retransmissions: 0, bytesC2S: 3, replayable: true });
  });

  it('keeps a span of time and of packet numbers', async () => {
    const capture = captureOf(sample());
    expect((await trimmed(capture, { fromMs: 2, toMs: 4 })).result.packets).toBe(3);
    const { bytes, result } = await trimmed(capture, { packets: '1-3, 5', fromMs: 1 });
    expect(result.packets).toBe(3);
    expect(result.sessionsRemap).toEqual([
      { from: 0, to: 0 },
      { from: 1, to: 1 },
    ]);
    const { rows } = await packetRows(bytes, { limit: 9 });
    expect(rows.map((row) => row.relTimeMs)).toEqual([0, 1, 3]);
  });

  it('keeps all fragments of a datagram', async () => {
    const datagram = udpDatagram(new Uint8Array(2000).fill(65), UDP);
    const part = (start: number, end: number) =>
      ipPacket(datagram.subarray(start, end), {
        ...UDP,
        protocol: 17,
        id: 9,
        fragmentOffset: start,
        moreFragments: end < datagram.length,
      });
    const other = udpPacket(text('x'), { ...UDP, srcPort: 1 });
    const capture = captureOf([part(1480, 2008), other, part(0, 1480)]);
    const { bytes, result } = await trimmed(capture, { keepSessions: [1], anonymise: { ips: true } });
    expect(result).toMatchObject({ packets: 2, sessionsRemap: [{ from: 1, to: 0 }] });
    expect((await sessionsOf(bytes))[0]).toMatchObject({ bytesS2C: 2000 });
    const renamed = udpDatagram(new Uint8Array(2000).fill(65), { ...UDP, src: '10.0.0.1', dst: '10.0.0.2' });
    expect(Buffer.from(bytes).includes(Buffer.from(renamed.subarray(0, 16)))).toBe(true);
  });

  it.each<[TrimOptions, string]>([
    [{ keepSessions: [3] }, 'NO_SUCH_SESSION'],
    [{ fromMs: 5000 }, 'NOTHING_LEFT'],
    [{ packets: '5-3' }, 'BAD_RANGE'],
    [{ packets: 'all' }, 'BAD_RANGE'],
    [{ packets: '0' }, 'BAD_RANGE'],
  ])('by %j is refused with %s', async (options, code) => {
    await expect(trimmed(captureOf(sample()), options)).rejects.toMatchObject({ code });
  });
});

describe('anonymising', () => {
  it('replaces addresses the same way every time and leaves conversations whole', async () => {
    const capture = Buffer.from(captureOf(sample()));
    const before = await sessionsOf(capture);
    const { bytes, result } = await trimmed(capture, {
      anonymise: { ips: true, macs: true },
      clientIp: '10.1.0.1',
    });
    const after = await sessionsOf(bytes);
    expect(after.map((session) => [session.srcIp, session.dstIp])).toEqual([
      ['10.0.0.1', '10.0.0.2'],
      ['10.0.0.4', '10.0.0.3'],
      ['10.0.0.1', '10.0.0.2'],
    ]);
    expect(after.map(stepsOf)).toEqual(before.map(stepsOf));
    expect(await sessionsOf(capture)).toEqual(before);
    expect(result).toMatchObject({ clientIp: '10.0.0.1', droppedOpaque: 0, packets: 18 });
  });

  it('leaves no trace of the old addresses and valid checksums', async () => {
    const ends = { src: '2001:db8:77::5', dst: '2001:db8:99::6', srcPort: 5000, dstPort: 6000 };
    const packets = [...sample(), udpPacket(text('v6'), ends), tcpPacket(text('v6'), { ...ends, seq: 1, flags: 16 })];
    const { bytes } = await trimmed(captureOf(packets), { anonymise: { ips: true } });
    const hex = Buffer.from(bytes).toString('hex');
    for (const old of ['c0000207', 'c0000208', '0a010001', '0a020001', '20010db80077', '20010db80099']) {
      expect(hex.includes(old), old).toBe(false);
    }
    const again = { src: '10.0.0.3', dst: '10.0.0.4', srcPort: 5000, dstPort: 6000 };
    expect(hex.includes(Buffer.from(udpPacket(text('datagram'), again)).toString('hex'))).toBe(true);
    const again6 = { ...ends, src: '2001:db8::1', dst: '2001:db8::2' };
    expect(hex.includes(Buffer.from(udpPacket(text('v6'), again6)).toString('hex'))).toBe(true);
    expect(hex.includes(Buffer.from(tcpPacket(text('v6'), { ...again6, seq: 1, flags: 16 })).toString('hex'))).toBe(
      true,
    );
  });

  it('leaves out packets that may hide addresses', async () => {
    const error = ipPacket(Uint8Array.from([3, 1, 0, 0, 0, 0, 0, 0, ...(sample()[0] as Uint8Array)]), {
      ...UDP,
      protocol: 1,
    });
    const echo = ipPacket(Uint8Array.from([8, 0, 0xf7, 0xff, 0, 0, 0, 0]), { ...UDP, protocol: 1 });
    const tunnel = udpPacket(Uint8Array.from([8, 0, 0, 0, 0, 0, 9, 0]), { ...UDP, dstPort: 4789 });
    const frames = [error, echo, tunnel].map((packet) => ethernetFrame(packet));
    const lldp = ethernetFrame(new Uint8Array(50), { etherType: 0x88cc });
    const { result } = await trimmed(captureOfFrames([...frames, lldp]), { anonymise: { ips: true } });
    expect(result).toMatchObject({ packets: 1, droppedOpaque: 3 });
  });

  it('rewrites ARP, and keeps group and special addresses', async () => {
    const arp = Uint8Array.from([
      0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 192, 0, 2, 7, 0, 0, 0, 0, 0, 0, 192, 0, 2, 8,
    ]);
    const frames = [
      ethernetFrame(arp, { etherType: 0x0806 }),
      ethernetFrame(udpPacket(text('x'), { ...UDP, dst: '239.1.1.1' })),
    ];
    const { bytes } = await trimmed(captureOfFrames(frames), { anonymise: { ips: true, macs: true } });
    const { rows } = await packetRows(bytes, { limit: 2 });
    expect(rows.map((row) => [row.info, row.dst])).toEqual([
      ['Who has 10.0.0.2? Tell 10.0.0.1', '10.0.0.2'],
      ['5000 → 6000 Len=1', '239.1.1.1'],
    ]);
  });
});
