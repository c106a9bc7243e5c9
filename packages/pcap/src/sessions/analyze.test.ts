import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PcapError } from '../pcap-error.ts';
import { captureOf, chunksOf, text } from '../testing/build-capture.ts';
import { TcpScript } from '../testing/tcp-script.ts';
import { udpPacket } from '../write/frame-builder.ts';
import { type AnalyzeOptions, analyzeCapture } from './analyze.ts';
import type { PcapInfo } from './pcap-info.ts';

async function infoOf(packets: readonly Uint8Array[], options: AnalyzeOptions = {}): Promise<PcapInfo> {
  const analysis = await analyzeCapture(captureOf(packets), { steps: true, keepPayload: true, ...options });
  return analysis.info(7, { steps: true, data: { encoding: 'text' } });
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof PcapError) return error.code;
  throw error ?? new Error('nothing was thrown');
}

function udp(from: 'client' | 'server', payload: string, dst = '10.2.0.1'): Uint8Array {
  const [client, server] = [
    { ip: '10.1.0.1', port: 50_000 },
    { ip: dst, port: 9000 },
  ];
  const [src, to] = from === 'client' ? [client, server] : [server, client];
  return udpPacket(text(payload), { src: src.ip, srcPort: src.port, dst: to.ip, dstPort: to.port });
}

describe('the order of sessions', () => {
  it('is that of their first packets', async () => {
    const first = new TcpScript({ clientPort: 40_001 }).open().client('a').close().packets;
    const second = new TcpScript({ clientPort: 40_002 }).open().client('b').close().packets;
    const info = await infoOf([...first.slice(0, 1), udp('client', 'x'), ...second, ...first.slice(1)]);
    expect(info.sessions.map((session) => [session.sessionIndex, session.protocol, session.srcPort])).toEqual([
      [0, 'tcp', 40_001],
      [1, 'udp', 50_000],
      [2, 'tcp', 40_002],
    ]);
  });

  it('has a new session for every SYN with another number on the same ports', async () => {
    const closed = new TcpScript().open().client('one').close().packets;
    const reset = new TcpScript({ clientSeq: 70_000 }).open().client('two').reset().packets;
    const last = new TcpScript({ clientSeq: 90_000 }).open().client('three').packets;
    const again = new TcpScript({ clientSeq: 95_000, serverSeq: 5 }).open().client('four').packets;
    const info = await infoOf([...closed, ...reset, ...last, ...again]);
    expect(info.sessions.map((session) => session.steps.map((step) => step.data))).toEqual([
      ['one'],
      ['two'],
      ['three'],
      ['four'],
    ]);
    expect(info.sessions.map((session) => session.close)).toEqual(['fin', 'rst', 'none', 'none']);
    expect(info.sessions.map((session) => session.missingBytes)).toEqual([0, 0, 0, 0]);
  });

  it('has one session for a SYN that is retried after a RST', async () => {
    const refused = new TcpScript().open().packets.slice(0, 1);
    const reset = new TcpScript().reset().packets;
    const info = await infoOf([...refused, ...reset, ...refused, ...reset, ...refused, ...reset]);
    expect(info.sessions).toMatchObject([{ packets: 6, close: 'rst', retransmissions: 2 }]);
  });
});

describe('the client', () => {
  const conversation = () => new TcpScript({ clientPort: 80, serverPort: 50_000 }).open().client('q').server('a');
  const clientOf = async (packets: readonly Uint8Array[], options: AnalyzeOptions = {}) =>
    (await infoOf(packets, options)).sessions[0]?.srcIp;

  it('is the sender of the SYN, whatever the ports', async () => {
    expect(await clientOf(conversation().packets)).toBe('10.1.0.1');
    expect(await clientOf(conversation().packets, { clientIp: '10.2.0.1' })).toBe('10.1.0.1');
  });

  it('is the receiver of the SYN-ACK where the SYN is missing', async () => {
    expect(await clientOf(conversation().packets.slice(1))).toBe('10.1.0.1');
  });

  it('is the given address where no handshake was captured, then the higher port', async () => {
    expect(await clientOf(conversation().packets.slice(3), { clientIp: '10.1.0.1' })).toBe('10.1.0.1');
    expect(await clientOf(conversation().packets.slice(3), { clientIp: '10.9.9.9' })).toBe('10.2.0.1');
    expect(await clientOf(conversation().packets.slice(3))).toBe('10.2.0.1');
  });

  it('is the first sender where the ports are equal', async () => {
    const packets = new TcpScript({ clientPort: 700, serverPort: 700 }).server('a').client('b').packets;
    expect(await clientOf(packets)).toBe('10.2.0.1');
  });

  it('is the given address against all else when that overrides', async () => {
    const options = { clientIp: '10.2.0.1', clientIpOverrides: true };
    const info = await infoOf(conversation().packets, options);
    expect(info.sessions[0]).toMatchObject({ srcIp: '10.2.0.1', bytesC2S: 1, bytesS2C: 1, exchangeCount: 2 });
    expect(info.sessions[0]?.steps.map((step) => step.side)).toEqual(['server', 'client']);
  });
});

describe('steps', () => {
  it('are the maximal runs of one direction in TCP', async () => {
    const script = new TcpScript().open().client('GET ').client('one').server('re').server('ply').client('two').close();
    const [session] = (await infoOf(script.packets)).sessions;
    expect(session?.steps).toMatchObject([
      {
        sessionIdx: 0,
        stepIdx: 0,
        side: 'client',
        length: 7,
        streamOffset: 0,
        data: 'GET one',
        relTimeMs: 3,
        gapMs: 3,
      },
      { sessionIdx: 0, stepIdx: 1, side: 'server', length: 5, streamOffset: 0, data: 'reply', relTimeMs: 5, gapMs: 1 },
      { sessionIdx: 0, stepIdx: 2, side: 'client', length: 3, streamOffset: 7, data: 'two', relTimeMs: 7, gapMs: 1 },
    ]);
    expect(session?.steps[0]?.sha256).toBe(createHash('sha256').update('GET one').digest('hex'));
    expect(session).toMatchObject({ bytesC2S: 10, bytesS2C: 5, exchangeCount: 2, handshake: 'full', close: 'fin' });
  });

  it('are single datagrams in UDP', async () => {
    const [session] = (await infoOf([udp('client', 'a'), udp('client', 'b'), udp('server', 'c'), udp('client', '')]))
      .sessions;
    expect(session?.steps.map((step) => [step.side, step.data])).toEqual([
      ['client', 'a'],
      ['client', 'b'],
      ['server', 'c'],
      ['client', ''],
    ]);
    expect(session).toMatchObject({ exchangeCount: 2, handshake: 'none', close: 'none', bytesC2S: 2, bytesS2C: 1 });
  });

  it('count one exchange more when the server greets first', async () => {
    const script = new TcpScript()
      .open()
      .server('220 hi\r\n')
      .client('EHLO x\r\n')
      .server('250 ok\r\n')
      .client('QUIT\r\n');
    expect((await infoOf(script.packets)).sessions[0]?.exchangeCount).toBe(3);
  });

  it('come in part and with the hash of the whole when a window is asked for', async () => {
    const long = Array.from({ length: 50 }, (_, index) => `line ${index} of the answer\n`);
    const script = new TcpScript().open().client('q');
    for (const line of long) script.server(line);
    const whole = long.join('');
    const options = { keepPayload: true, hashes: true, window: { stepIdx: 1, offset: 100, length: 80 } };
    const analysis = await analyzeCapture(captureOf(script.packets), options);
    const [, step] = analysis.steps(0, { stepIdx: 1, offset: 100, length: 80, encoding: 'text' });
    expect(step).toMatchObject({ length: whole.length, data: whole.slice(100, 180) });
    expect(step?.sha256).toBe(createHash('sha256').update(whole).digest('hex'));
    expect(() => analysis.stepBytes(0, 1, 0, 10)).toThrow(PcapError);
  });

  it('are kept only for the sessions that were selected', async () => {
    const packets = [udp('client', 'a'), udp('client', 'b', '10.2.0.9')];
    const analysis = await analyzeCapture(captureOf(packets), { keepPayload: true, sessions: [1] });
    expect(Buffer.from(analysis.stepBytes(1, 0)).toString()).toBe('b');
    expect(() => analysis.steps(0)).toThrow('not recorded');
    expect(() => analysis.steps(2)).toThrow('no session 2');
    expect(() => analysis.stepBytes(1, 5)).toThrow('no step 5');
  });

  it('do not depend on reused chunk buffers', async () => {
    const bytes = captureOf(new TcpScript().open().client('abc').client('def').swap().packets);
    function* reused(): Generator<Buffer> {
      const chunk = Buffer.from(bytes);
      yield chunk;
      chunk.fill(0);
    }
    const analysis = await analyzeCapture(reused(), { keepPayload: true });
    expect(Buffer.from(analysis.stepBytes(0, 0)).toString()).toBe('abcdef');
  });

  it('stop with a clear error when they need more memory than allowed', async () => {
    const script = new TcpScript().open();
    for (let count = 0; count < 100; count++) script.client('x'.repeat(1000));
    const capture = captureOf(script.packets);
    expect(await codeOf(analyzeCapture(capture, { keepPayload: true, maxKeptBytes: 50_000 }))).toBe('PAYLOAD_LIMIT');
    const counted = await analyzeCapture(capture, { steps: true, maxKeptBytes: 50_000 });
    expect(counted.session(0).bytesC2S).toBe(100_000);
    expect(counted.steps(0)).toMatchObject([{ length: 100_000, sha256: '', data: '' }]);
  });
});

describe('warnings', () => {
  it('name what a capture lacks, with counts', async () => {
    const headless = new TcpScript().client('q').server('answer').repeat().packets;
    const half = new TcpScript({ clientPort: 41_000 }).client('q').packets;
    const info = await infoOf([...headless, ...half, udp('client', 'x', '239.1.1.1')]);
    expect(Object.fromEntries(info.warnings.map((warning) => [warning.code, warning.count]))).toEqual({
      'no-handshake': 2,
      retransmissions: 1,
      'one-way': 2,
      multicast: 1,
    });
    expect(info.sessions.map((session) => session.reasons)).toEqual([[], ['one-way'], []]);
  });

  it('report a truncated file and keep the readable part', async () => {
    const capture = captureOf(new TcpScript().open().client('hello').packets);
    const info = (await analyzeCapture(capture.subarray(0, capture.length - 2))).info(1);
    expect(info).toMatchObject({ cutFile: true, packets: 3, warnings: [{ code: 'cut-file', count: 1 }] });
  });

  it('report more sessions than the limit', async () => {
    const packets = [1, 2, 3, 4].map((n) => udp('client', 'x', `10.2.0.${n}`));
    const analysis = await analyzeCapture(captureOf(packets), { maxSessions: 3 });
    expect(analysis.info(1)).toMatchObject({ packets: 4, sessionCount: 3 });
    expect(analysis.info(1).warnings).toContainEqual(expect.objectContaining({ code: 'too-many-sessions', count: 1 }));
  });
});

describe('the whole info', () => {
  it('has the shape and numbers of the capture, whatever the chunks', async () => {
    const capture = captureOf(new TcpScript().open().client('abc').server('defg').close().packets, {
      format: 'pcapng',
    });
    const info = (await analyzeCapture(chunksOf(capture, 33))).info(3);
    expect({ ...info, sessions: [] }).toEqual({
      fileID: 3,
      format: 'pcapng',
      packets: 8,
      wireBytes: 8 * 54 + 7,
      capturedBytes: 8 * 54 + 7,
      firstPacketAt: '2023-11-14T22:13:20.000Z',
      durationMs: 7,
      snapLen: 262_144,
      cutFile: false,
      linkTypes: [{ id: 1, name: 'EN10MB', packets: 8 }],
      ip: { v4: 8, v6: 0, vlan: 0, fragments: 0, other: 0 },
      avgBps: Math.round(((8 * 54 + 7) * 8000) / 7),
      avgPps: 1142.857,
      sessionCount: 1,
      sessions: [],
      warnings: [],
    });
    expect(info.sessions[0]).toMatchObject({
      name: 'tcp 10.2.0.1:8080',
      startMs: 0,
      durationMs: 7,
      packets: 8,
      replayable: true,
    });
  });

  it('is that of an empty capture when there is no packet', async () => {
    expect((await analyzeCapture(captureOf([]))).info(1)).toMatchObject({ packets: 0, firstPacketAt: null, avgBps: 0 });
  });
});
