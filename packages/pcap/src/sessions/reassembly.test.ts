import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ACK } from '../dissect/frame.ts';
import { captureOf, text } from '../testing/build-capture.ts';
import { TcpScript } from '../testing/tcp-script.ts';
import { tcpPacket } from '../write/frame-builder.ts';
import { type AnalyzeOptions, analyzeCapture } from './analyze.ts';
import type { PcapSession } from './pcap-info.ts';

async function sessionOf(
  packets: readonly Uint8Array[],
  options: AnalyzeOptions = {},
  snapLen = 65_535,
): Promise<PcapSession> {
  const analysis = await analyzeCapture(captureOf(packets, { snapLen }), {
    keepPayload: true,
    hashes: true,
    ...options,
  });
  const described = analysis.info(1, { steps: true, data: { encoding: 'text' } }).sessions[0];
  if (described === undefined) throw new Error('no session');
  // Counting alone must come to the same numbers as keeping.
  const counted = (await analyzeCapture(captureOf(packets, { snapLen }), { ...options })).session(0);
  expect({ ...described, steps: [] }).toEqual(counted);
  return described;
}

function stepsIn(session: PcapSession): string[] {
  return session.steps.map((step) => `${step.side[0]}:${step.data}`);
}

describe('TCP payload', () => {
  it('drops duplicates and counts them', async () => {
    const session = await sessionOf(new TcpScript().open().client('abc').repeat().repeat().server('x').packets);
    expect(stepsIn(session)).toEqual(['c:abc', 's:x']);
    expect(session).toMatchObject({ retransmissions: 2, gaps: 0, replayable: true });
  });

  it('is put into order', async () => {
    const session = await sessionOf(
      new TcpScript().open().client('abc').client('def').swap().client('ghi').swap().packets,
    );
    expect(stepsIn(session)).toEqual(['c:abcdefghi']);
    expect(session.retransmissions).toBe(0);
  });

  it('keeps the first of two overlapping versions', async () => {
    const ends = { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 40_000, dstPort: 8080, ack: 9001, flags: ACK };
    const at = (seq: number, data: string) => tcpPacket(text(data), { ...ends, seq: 1001 + seq });
    const opened = new TcpScript().open().packets;
    expect(stepsIn(await sessionOf([...opened, at(0, 'abcd'), at(2, 'XXef')]))).toEqual(['c:abcdef']);
    expect(stepsIn(await sessionOf([...opened, at(2, 'cdef'), at(0, 'abXX'), at(4, 'YYgh')]))).toEqual(['c:abcdefgh']);
  });

  it('goes on when sequence numbers wrap', async () => {
    const script = new TcpScript({ clientSeq: 0xffff_fffd, serverSeq: 0x7fff_fffe }).open();
    const session = await sessionOf(script.client('abcdef').server('123456').client('ghi').close().packets);
    expect(stepsIn(session)).toEqual(['c:abcdef', 's:123456', 'c:ghi']);
    expect(session).toMatchObject({ missingBytes: 0, close: 'fin' });
  });

  it('is the same for any cutting, order and repetition of segments', async () => {
    const message = Array.from({ length: 300 }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
    const ends = { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 40_000, dstPort: 8080, ack: 9001, flags: ACK };
    const cut = fc.tuple(fc.integer({ min: 0, max: 299 }), fc.integer({ min: 1, max: 80 }));
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { maxLength: 30 }), fc.integer({ min: 10, max: 100 }), async (extra, size) => {
        const regular = Array.from({ length: Math.ceil(300 / size) }, (_, index): [number, number] => [
          index * size,
          size,
        ]);
        const segments = [...extra, ...regular].map(([start, length]) =>
          tcpPacket(text(message.slice(start, start + length)), { ...ends, seq: 1001 + start }),
        );
        const session = await sessionOf([...new TcpScript().open().packets, ...segments]);
        expect(stepsIn(session)).toEqual([`c:${message}`]);
        expect(session).toMatchObject({ missingBytes: 0, gaps: 0, bytesC2S: 300 });
      }),
      { numRuns: 100 },
    );
  });
});

describe('data at an unrelated sequence number', () => {
  const ends = { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 40_000, dstPort: 8080, ack: 9001, flags: ACK };
  const opened = new TcpScript().open().client('abc').packets;

  it.each([
    ['far ahead', 0x7000_0000],
    ['far behind', 0xa000_0000],
    ['before the SYN', 400],
  ])('%s is kept and reported', async (_name, seq) => {
    const far = [tcpPacket(text('def'), { ...ends, seq }), tcpPacket(text('ghi'), { ...ends, seq: seq + 3 })];
    const session = await sessionOf([...opened, ...far]);
    expect(stepsIn(session)).toEqual(['c:abcdefghi']);
    expect(session).toMatchObject({ bytesC2S: 9, missingBytes: 0, retransmissions: 0 });
    const { warnings } = (await analyzeCapture(captureOf([...opened, ...far]))).info(1);
    expect(warnings).toMatchObject([{ code: 'sequence-jump', count: 1 }]);
  });

  it('does not include segments that were reordered at the start of the capture', async () => {
    const [first, second, third] = [1, 4, 7].map((seq) => tcpPacket(text('xyz'), { ...ends, seq }));
    const packets = [second, first, third] as Uint8Array[];
    expect((await analyzeCapture(captureOf(packets))).info(1).warnings.map(({ code }) => code)).not.toContain(
      'sequence-jump',
    );
  });
});

describe('missing payload', () => {
  const lossy = () =>
    new TcpScript().open().client('one').client('LOST').lose().client('two').server('answer').client('more');

  it('makes the session unfit for replay', async () => {
    const session = await sessionOf(lossy().packets);
    expect(stepsIn(session)).toEqual(['c:onetwo', 's:answer', 'c:more']);
    expect(session).toMatchObject({
      gaps: 1,
      missingBytes: 4,
      bytesC2S: 10,
      replayable: false,
      reasons: ['missing-bytes'],
    });
  });

  it('becomes zeros when gaps are filled', async () => {
    const session = await sessionOf(lossy().packets, { fillGaps: true });
    expect(stepsIn(session)).toEqual(['c:one\0\0\0\0two', 's:answer', 'c:more']);
    expect(session).toMatchObject({ gaps: 1, missingBytes: 4, bytesC2S: 14, replayable: true, reasons: [] });
    expect(session.steps[2]?.streamOffset).toBe(10);
  });

  it('is noticed when a whole request is lost', async () => {
    const script = new TcpScript().open().client('LOST').lose().server('answer').client('next').server('end');
    const session = await sessionOf(script.packets);
    expect(stepsIn(session)).toEqual(['s:answer', 'c:next', 's:end']);
    expect(session).toMatchObject({ gaps: 1, missingBytes: 4 });
    const filled = await sessionOf(script.packets, { fillGaps: true });
    expect(stepsIn(filled)).toEqual(['c:\0\0\0\0', 's:answer', 'c:next', 's:end']);
  });

  it('is noticed at the very end by acknowledgement or FIN', async () => {
    const acknowledged = new TcpScript().open().client('a').server('LOST').lose().acknowledge('client');
    expect(await sessionOf(acknowledged.packets)).toMatchObject({ missingBytes: 4, gaps: 1 });
    const finished = new TcpScript().open().client('a').client('LOST').lose().close();
    expect(await sessionOf(finished.packets)).toMatchObject({ missingBytes: 4, gaps: 1 });
  });

  it('may still come late, after the answer to it', async () => {
    const late = new TcpScript().open().client('one').client('two').client('three').packets;
    const answer = new TcpScript().open().client('onetwothree').server('answer').packets.slice(-1);
    const [one, two, three] = late.splice(3, 3) as [Uint8Array, Uint8Array, Uint8Array];
    const session = await sessionOf([...late, one, three, ...answer, two]);
    expect(stepsIn(session)).toEqual(['c:onetwothree', 's:answer']);
    expect(session).toMatchObject({ missingBytes: 0, gaps: 0, retransmissions: 0, replayable: true });
    const filled = await sessionOf([...late, one, three, ...answer, two], { fillGaps: true });
    expect(stepsIn(filled)).toEqual(['c:onetwothree', 's:answer']);
    const swapped = await sessionOf([...late, one, two, ...answer, three]);
    expect(stepsIn(swapped)).toEqual(['c:onetwo', 's:answer', 'c:three']);
    expect(swapped.missingBytes).toBe(0);
  });

  it('is what the snap length cut off', async () => {
    const packets = new TcpScript().open().client('0123456789').server('0123456789').packets;
    expect(await sessionOf(packets, {}, 60)).toMatchObject({
      bytesC2S: 6,
      bytesS2C: 6,
      missingBytes: 8,
      replayable: false,
    });
    const filled = await sessionOf(packets, { fillGaps: true }, 60);
    expect(stepsIn(filled)).toEqual(['c:012345\0\0\0\0', 's:012345\0\0\0\0']);
  });
});

describe('a captured conversation', () => {
  it('recognises keep-alive probes', async () => {
    const ends = { src: '10.1.0.1', dst: '10.2.0.1', srcPort: 40_000, dstPort: 8080, ack: 9001, flags: ACK };
    const probe = tcpPacket(text('a'), { ...ends, seq: 1003 });
    const session = await sessionOf([...new TcpScript().open().client('abc').packets, probe, probe]);
    expect(session).toMatchObject({ bytesC2S: 3, retransmissions: 0 });
  });

  it('that starts in the middle has no gap at its start', async () => {
    const session = await sessionOf(new TcpScript().acknowledge('server').client('abc').server('def').close().packets);
    expect(session).toMatchObject({ handshake: 'none', missingBytes: 0, bytesC2S: 3, replayable: true });
  });

  it('without payload cannot be replayed', async () => {
    const session = await sessionOf(new TcpScript().open().close().packets);
    expect(session).toMatchObject({ reasons: ['no-payload'], exchangeCount: 0, handshake: 'full' });
  });
});
