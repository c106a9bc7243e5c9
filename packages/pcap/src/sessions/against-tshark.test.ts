import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { captureOf, captureOfFrames, text } from '../testing/build-capture.ts';
import { Random } from '../testing/mutate.ts';
import { runTool } from '../testing/run-tool.ts';
import { TcpScript } from '../testing/tcp-script.ts';
import { readWithTshark, runsOf, type TsharkStep } from '../testing/tshark.ts';
import { CaptureWriter } from '../write/capture-writer.ts';
import { ethernetFrame, ipPacket, udpPacket } from '../write/frame-builder.ts';
import { trimCapture } from '../write/trim.ts';
import { analyzeCapture } from './analyze.ts';
import type { CaptureAnalysis } from './capture-analysis.ts';
import type { PcapSession } from './pcap-info.ts';

let folder = '';
let traffic = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pcap-test-'));
  traffic = join(folder, 'traffic.pcap');
  const program = join(import.meta.dirname, '../testing', 'make-traffic.ts');
  await runTool('unshare', ['-n', process.execPath, program, folder]);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function save(name: string, bytes: Uint8Array): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, bytes);
  return file;
}

async function converted(file: string, format: string): Promise<string> {
  const target = `${file}.${format}`;
  await runTool('editcap', ['-F', format, file, target]);
  return target;
}

function analysisOf(file: string): Promise<CaptureAnalysis> {
  return analyzeCapture(createReadStream(file), { keepPayload: true });
}

function sessionsOf(analysis: CaptureAnalysis, protocol: 'tcp' | 'udp'): PcapSession[] {
  return analysis.info(1).sessions.filter((session) => session.protocol === protocol);
}

function stepsOf(analysis: CaptureAnalysis, session: PcapSession): TsharkStep[] {
  return analysis.steps(session.sessionIndex, { encoding: 'hex' }).map((step) => {
    const isClient = step.side === 'client';
    const from = isClient ? `${session.srcIp}:${session.srcPort}` : `${session.dstIp}:${session.dstPort}`;
    return { from, hex: step.data };
  });
}

/** Same packets, same sessions, same frames in each, same payload in the same steps. */
async function expectAgreement(file: string): Promise<CaptureAnalysis> {
  const analysis = await analysisOf(file);
  const sessions = { tcp: sessionsOf(analysis, 'tcp'), udp: sessionsOf(analysis, 'udp') };
  const follow = { tcp: sessions.tcp.length, udp: sessions.udp.length };
  const tshark = await readWithTshark(file, { fields: ['frame.len'], follow });
  const info = analysis.info(1);
  expect(info.packets).toBe(tshark.rows.length);
  expect(info.wireBytes).toBe(tshark.rows.reduce((sum, [length]) => sum + Number(length), 0));
  for (const protocol of ['tcp', 'udp'] as const) {
    expect(sessions[protocol].map(conversationOf).sort(byEnds)).toEqual(tshark.conversations[protocol].sort(byEnds));
    for (const [index, session] of sessions[protocol].entries()) {
      const steps = tshark.streams[protocol][index] ?? [];
      expect(stepsOf(analysis, session)).toEqual(protocol === 'tcp' ? runsOf(steps) : steps);
    }
  }
  return analysis;
}

function conversationOf(session: PcapSession): { ends: string; frames: number } {
  const ends = [`${session.srcIp}:${session.srcPort}`, `${session.dstIp}:${session.dstPort}`].sort().join(' ');
  return { ends, frames: session.packets };
}

function byEnds(left: { ends: string }, right: { ends: string }): number {
  return left.ends.localeCompare(right.ends);
}

describe('traffic recorded by tcpdump', () => {
  it('is read as tshark reads it', async () => {
    const analysis = await expectAgreement(traffic);
    const apps = analysis.info(1).sessions.map((session) => session.appProtocol);
    const countOf = (app: string) => apps.filter((name) => name === app).length;
    expect([countOf('http'), countOf('tls'), countOf('dns'), countOf('unknown')]).toEqual([6, 3, 3, 2]);
    expect(analysis.info(1).ip.fragments).toBeGreaterThan(20);
    expect(analysis.info(1).sessions.every((session) => session.replayable)).toBe(true);
  });

  it.each(['nsecpcap', 'pcapng'])('says the same after editcap made it %s', async (format) => {
    const original = (await analysisOf(traffic)).info(1, { steps: true });
    const other = (await analysisOf(await converted(traffic, format))).info(1, { steps: true });
    expect(other.format).toBe(format === 'nsecpcap' ? 'pcap-ns' : 'pcapng');
    expect({ ...other, format: original.format, snapLen: original.snapLen }).toEqual(original);
  });

  it('has the fingerprints and names that tshark finds', async () => {
    const sessions = sessionsOf(await analysisOf(traffic), 'tcp');
    const names = ['tls.handshake.ja3', 'tls.handshake.extensions_server_name', 'http.host', 'communityid'];
    const options = ['--enable-protocol', 'communityid', '-Y', 'tcp'];
    const { rows } = await readWithTshark(traffic, { fields: ['tcp.stream', ...names], options });
    expect([1, 2, 3, 4].map((column) => rows.filter((row) => row[column] !== '').length)).toEqual([
      3,
      3,
      8,
      rows.length,
    ]);
    for (const [stream, ja3, sni, host, communityId] of rows) {
      const session = sessions[Number(stream)];
      expect(session?.communityId).toBe(communityId);
      if (ja3 !== '') expect(session).toMatchObject({ ja3, sni });
      if (host !== '') expect(session?.httpHost).toBe(host);
    }
  });

  it('keeps right checksums when it is anonymised', async () => {
    const parts: Uint8Array[] = [];
    const bytes = await readFile(traffic);
    const options = { anonymise: { ips: true, macs: true }, keepSessions: [0, 3, 6, 9, 12, 13] };
    await trimCapture(
      () => bytes,
      (chunk) => void parts.push(chunk),
      options,
    );
    const file = await save('anonymous.pcap', Buffer.concat(parts));
    const checks = ['ip', 'tcp', 'udp'].flatMap((name) => ['-o', `${name}.check_checksum:TRUE`]);
    const fields = ['ip.checksum.status', 'tcp.checksum.status', 'udp.checksum.status'];
    const { rows } = await readWithTshark(file, { fields, options: checks });
    const states = rows.flat().filter((state) => state !== '');
    expect(states.length).toBeGreaterThan(60);
    expect(new Set(states)).toEqual(new Set(['1']));
    await expectAgreement(file);
  });
});

describe('captures made by our writer', () => {
  function mixed(format: 'pcap' | 'pcap-ns' | 'pcapng'): Uint8Array {
    const writer = new CaptureWriter({ format, linkType: 1 });
    const packet = udpPacket(text('hello'), { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 5000, dstPort: 6000 });
    for (let index = 0; index < 5; index++) {
      const isRaw = format === 'pcapng' && index % 2 === 1;
      const bytes = isRaw ? packet : ethernetFrame(packet, { vlans: [7, 8].slice(0, index % 3) });
      writer.add({
        seconds: 1_700_000_000 + index,
        nanoseconds: 123_456_789,
        bytes,
        linkType: isRaw ? 101 : 1,
        wireLength: 100,
      });
    }
    return writer.take();
  }

  it.each([
    ['pcap', '1700000004.123456000'],
    ['pcap-ns', '1700000004.123456789'],
    ['pcapng', '1700000004.123456789'],
  ] as const)('as %s are read by tshark without a complaint', async (format, lastTime) => {
    const file = await save(`written.${format}`, mixed(format));
    const { rows, complaints } = await readWithTshark(file, {
      fields: ['frame.time_epoch', 'frame.len', 'udp.stream'],
    });
    expect(complaints).toBe('');
    expect(rows).toHaveLength(5);
    expect(rows[4]).toEqual([lastTime, '100', '0']);
    expect((await analysisOf(file)).info(1)).toMatchObject({ packets: 5, sessionCount: 1 });
  });

  it.each(['nsecpcap', 'pcapng'])('with VLAN tags agree after editcap made them %s', async (format) => {
    const script = new TcpScript().open().client('GET / HTTP/1.1\r\n\r\n').server('HTTP/1.1 204 No\r\n\r\n').close();
    const frames = script.packets.map((packet, index) =>
      ethernetFrame(packet, { vlans: [100, 200].slice(0, index % 3) }),
    );
    const analysis = await expectAgreement(await converted(await save('vlan.pcap', captureOfFrames(frames)), format));
    expect(analysis.info(1).ip).toMatchObject({ v4: 8, vlan: 5 });
  });

  it('with lost order and repetitions are reassembled alike', async () => {
    const random = new Random(5);
    const packets: Uint8Array[] = [];
    for (let session = 0; session < 12; session++) {
      const script = new TcpScript({ clientPort: 30_000 + session, clientSeq: random.below(2 ** 32) }).open();
      for (let i = 0; i < 6; i++) {
        const say = i % 2 === 0 ? 'client' : 'server';
        for (let count = 0; count < 5; count++) {
          script[say](Buffer.alloc(1 + random.below(900), random.below(256)));
          if (count > 0 && random.below(3) === 0) script.swap();
          if (random.below(4) === 0) script.repeat();
        }
      }
      packets.push(...script.close().packets);
    }
    const analysis = await expectAgreement(await save('disorder.pcap', captureOf(packets)));
    expect(analysis.info(1).warnings.map((warning) => warning.code)).toEqual(['retransmissions']);
  });

  it('with lost segments lack as many bytes as tshark says', async () => {
    const script = new TcpScript().open().client('one').client('x'.repeat(77)).lose().client('two').server('three');
    const file = await save('lossy.pcap', captureOf(script.packets));
    const [session] = sessionsOf(await analysisOf(file), 'tcp');
    const { streams } = await readWithTshark(file, { fields: ['frame.number'], follow: { tcp: 1, udp: 0 } });
    const steps = (streams.tcp[0] ?? []).map((line) => Buffer.from(line.hex, 'hex').toString());
    expect(steps.join('|')).toContain(`[${session?.missingBytes} bytes missing in capture file]`);
    expect(session).toMatchObject({ missingBytes: 77, gaps: 1, bytesC2S: 6, bytesS2C: 5 });
  });

  it('of several link types, merged by mergecap, keep all their sessions', async () => {
    const first = await save('first.pcap', captureOf(new TcpScript().open().client('one').close().packets));
    const raw = new TcpScript({ clientPort: 50_001 }).open().client('two').close().packets;
    const second = await save('second.pcap', captureOfFrames(raw, { format: 'pcap-ns' }, 101));
    const merged = join(folder, 'merged.pcapng');
    await runTool('mergecap', ['-w', merged, first, second]);
    const analysis = await expectAgreement(merged);
    expect(analysis.info(1).linkTypes.sort((left, right) => left.id - right.id)).toEqual([
      { id: 1, name: 'EN10MB', packets: 7 },
      { id: 101, name: 'RAW', packets: 7 },
    ]);
  });

  it('of tunnels hold the sessions that tshark finds inside', async () => {
    const script = new TcpScript().open().client('GET / HTTP/1.1\r\n\r\n').server('HTTP/1.1 204 No\r\n\r\n').close();
    const gre = (packet: Uint8Array) =>
      ipPacket(Buffer.concat([Buffer.from([0, 0, 8, 0]), packet]), {
        src: '192.0.2.1',
        dst: '192.0.2.2',
        protocol: 47,
      });
    const analysis = await expectAgreement(await save('gre.pcap', captureOf(script.packets.map(gre))));
    expect(analysis.info(1).sessions).toMatchObject([{ appProtocol: 'http', packets: 8, replayable: true }]);
  });

  it('of many connections on one pair of ports hold as many sessions', async () => {
    const packets = Array.from({ length: 24 }, (_, index) => {
      const script = new TcpScript({ clientSeq: 5000 + index * 70_000, serverSeq: 9000 + index * 90_000 }).open();
      return script.client(`request ${index}`).server(`reply ${index}`).packets;
    });
    const analysis = await expectAgreement(await save('reused.pcap', captureOf(packets.flat())));
    expect(analysis.sessionCount).toBe(24);
  });

  it('hold no retransmission for tshark once these are dropped', async () => {
    const script = new TcpScript()
      .open()
      .client('one')
      .repeat()
      .server('uno')
      .repeat()
      .client('two')
      .repeat()
      .close()
      .repeat();
    const capture = captureOf(script.packets);
    const repeats = async (file: string) => {
      const options = ['-Y', 'tcp.analysis.retransmission'];
      return (await readWithTshark(file, { fields: ['frame.number'], options })).rows.length;
    };
    expect(await repeats(await save('repeats.pcap', capture))).toBeGreaterThan(0);
    const parts: Uint8Array[] = [];
    const result = await trimCapture(
      () => capture,
      (chunk) => void parts.push(chunk),
      { dropRetransmissions: true },
    );
    expect(result.droppedRetransmissions).toBe(3);
    expect(await repeats(await save('once.pcap', Buffer.concat(parts)))).toBe(0);
  });
});
